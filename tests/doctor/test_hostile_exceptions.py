"""`explain` reads an exception through the slots of BaseException: what the exception's class defines never runs."""

import linecache
import textwrap
import traceback

import pytest
import torch

from samedevice import explain, simulate_cuda

MET = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
ran = []


def noted(name):
    """A property whose getter notes that it ran, and then raises."""

    def getter(self):
        ran.append(name)
        raise SystemExit(name)

    return property(getter, lambda self, value: None)


def class_of_errors(base=RuntimeError, metaclass=type, **attributes):
    return metaclass("StepError", (base,), attributes)


class Watched(type):
    """A metaclass that notes each look at one of its classes."""

    def __getattribute__(cls, name):
        ran.append(f"metaclass {name}")
        raise SystemExit(name)


class OwnNames(type):
    __name__ = noted("metaclass __name__")
    __mro__ = noted("metaclass __mro__")
    __dict__ = noted("metaclass __dict__")
    __module__ = noted("metaclass __module__")


class Unhashable:
    """Stands for `__str__`: it notes whoever compares, hashes or calls it."""

    def __eq__(self, other):
        ran.append("__eq__")
        return False

    def __hash__(self):
        ran.append("__hash__")
        return 0

    def __call__(self):
        ran.append("__call__")
        return "nothing"


CLASSES = {
    "args": class_of_errors(args=noted("args")),
    "__cause__": class_of_errors(__cause__=noted("__cause__")),
    "__context__": class_of_errors(__context__=noted("__context__")),
    "__suppress_context__": class_of_errors(__suppress_context__=noted("__suppress_context__")),
    "__traceback__": class_of_errors(__traceback__=noted("__traceback__")),
    "__class__": class_of_errors(__class__=noted("__class__")),
    "__getattribute__": class_of_errors(__getattribute__=lambda self, name: ran.append(name)),
    "__str__": class_of_errors(__str__=Unhashable()),
    "metaclass": class_of_errors(metaclass=Watched),
    "metaclass's names": class_of_errors(metaclass=OwnNames),
}


def failure(run):
    try:
        run()
    except BaseException as error:
        return error
    pytest.fail("the program ran to its end")


@pytest.mark.parametrize("name", CLASSES)
def test_no_code_of_an_exceptions_class_runs(name):
    x = torch.ones(2)

    def program():
        try:
            x + torch.ones(3, device="cuda")
        except RuntimeError:
            raise CLASSES[name](MET) from None

    with simulate_cuda(1):
        error = failure(program)
        ran.clear()
        diagnosis = explain(error)
        str(diagnosis)
    assert ran == []
    assert diagnosis.message.id == "SD002"


def test_no_code_of_a_cause_runs():
    def program():
        try:
            raise CLASSES["args"](MET)
        except RuntimeError as error:
            raise ValueError("step 3 failed") from error

    error = failure(program)
    ran.clear()
    assert explain(error).message.id == "SD002"
    assert ran == []


def test_the_name_of_a_file_is_not_asked_for_its_text():
    class File:
        def __repr__(self):
            ran.append("__repr__")
            return "file"

    ran.clear()
    assert explain(OSError(2, "No such file", File())).message is None
    assert ran == []


def test_no_code_of_a_metaclass_in_the_program_runs():
    class Holder(metaclass=OwnNames):
        def __init__(self):
            self.scale = torch.ones(8)

    holder = Holder()
    with simulate_cuda(1):
        error = failure(lambda: torch.ones(8, device="cuda") * holder.scale)
        ran.clear()
        diagnosis = explain(error)
        assert diagnosis.culprits[0].expression == "holder.scale", str(diagnosis)
    assert ran == []


PROGRAM = """
    import torch


    def step(x, scale):
        # The program multiplies, and
        # nothing else.
        return x * scale


    def train():
        scale = torch.ones(3)
        return step(torch.ones(3, device="cuda"), scale)
"""


@pytest.mark.parametrize(
    "source",
    ["", "import torch\n", "# a line\n" * 8, textwrap.dedent(PROGRAM)[1:].replace("def step", "# moved\n\n\ndef step")],
    ids=["empty", "shorter", "other", "moved"],
)
def test_a_source_file_changed_while_the_program_runs_leaves_the_culprits(tmp_path, source):
    path = tmp_path / "training.py"
    path.write_text(textwrap.dedent(PROGRAM)[1:])
    names = {"__name__": "training", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with simulate_cuda(1):
        error = failure(names["train"])
        linecache.clearcache()
        path.write_text(source)
        diagnosis = explain(error)
    assert diagnosis.note == ""
    assert [culprit.expression for culprit in diagnosis.culprits][:1] == ["scale"], str(diagnosis)


def refuse(name, result=None):
    """A method that notes that it ran, and then raises, or returns what `result` makes of its arguments."""

    def method(self, *arguments):
        ran.append(name)
        if result is None:
            raise LookupError(name)
        return result(self, *arguments)

    return method


class Text(str):
    """A text whose methods note that they ran. Python itself hashes and compares the keys of a dict."""

    __getitem__, __len__, __iter__, __contains__, __str__, __repr__, __format__ = map(
        refuse, ("__getitem__", "__len__", "__iter__", "__contains__", "__str__", "__repr__", "__format__")
    )
    __hash__, __eq__ = refuse("__hash__", str.__hash__), refuse("__eq__", str.__eq__)


READING = {name: refuse(name, getattr(dict, name)) for name in ("__getitem__", "__iter__", "keys", "get", "items")}
READING |= {name: refuse(name, getattr(dict, name)) for name in ("__contains__", "__len__", "copy", "values")}
Names = type("Names", (dict,), READING)


class Scope:
    """Names of the program's own that are no dict at all."""

    def __init__(self):
        self.held = {}

    def __getitem__(self, name):
        ran.append("__getitem__")
        return self.held[name]

    def __setitem__(self, name, value):
        self.held[name] = value

    def keys(self):
        ran.append("keys")
        return self.held.keys()


class Prepared(type):
    @classmethod
    def __prepare__(cls, *arguments):
        return Names()


class Loader:
    """A loader of the program's, which may read its source from anywhere."""

    def get_source(self, name):
        ran.append("get_source")
        raise LookupError(name)

    def __getattr__(self, name):
        ran.append(name)
        raise AttributeError(name)


class Spec:
    name = "mine"
    loader = property(refuse("spec.loader"))


MET_HERE = "x = torch.ones(2)\non_gpu + x\n"
IN_A_FUNCTION = "x = torch.ones(2)\ndef step():\n    return on_gpu + x\nstep()\n"


def known(**more):
    return {"torch": torch, "on_gpu": torch.ones(2, device="cuda"), **more}


def renamed(source, name):
    return compile(source, "mine.py", "exec").replace(co_filename=name, co_name=name)


def with_an_attribute():
    holder = type("Holder", (), {})()
    vars(holder)[Text("scale")] = torch.ones(2)
    return torch.ones(2, device="cuda") + holder.scale


def formatted_before():
    """A traceback that was formatted without its lines leaves the loader's function in linecache."""
    try:
        exec(compile(MET_HERE, "lazy.py", "exec"), known(__name__="lazy", __loader__=Loader()))
    except RuntimeError as error:
        ran.clear()
        traceback.TracebackException.from_exception(error, lookup_lines=False)
        raise


# What runs, and the culprit that is found nevertheless.
HOSTILE_PROGRAMS = {
    "locals in a dict of its own": (lambda: exec(MET_HERE, known(), Names()), "x"),
    "locals in no dict": (lambda: exec(MET_HERE, known(), Scope()), "x"),
    "a class body's names": (
        lambda: exec("class A(metaclass=P):\n    x = torch.ones(2)\n    y = on_gpu + x\n", known(P=Prepared)),
        "x",
    ),
    "globals in a dict of its own": (lambda: exec(IN_A_FUNCTION, Names(known())), "x"),
    "names that are no plain text": (lambda: exec(MET_HERE, known(), {Text("x"): 1, Text("y"): torch.ones(2)}), "x"),
    "globals that are no plain text": (lambda: exec(IN_A_FUNCTION, {Text("y"): torch.ones(2), **known()}), "x"),
    "a file's name": (lambda: exec(renamed(MET_HERE, Text("mine.py")), known()), "x"),
    "an attribute's name": (with_an_attribute, "holder.scale"),
    "a loader": (
        lambda: exec(compile(MET_HERE, "mine.py", "exec"), known(__name__="mine", __loader__=Loader())),
        "x",
    ),
    "a spec": (lambda: exec(compile(MET_HERE, "mine.py", "exec"), known(__name__="mine", __spec__=Spec())), "x"),
    "a loader that linecache knows": (formatted_before, "x"),
}


@pytest.mark.parametrize("case", HOSTILE_PROGRAMS)
def test_no_code_of_a_program_runs_for_its_names_and_its_source(case):
    program, culprit = HOSTILE_PROGRAMS[case]
    with simulate_cuda(1):
        error = failure(program)
        ran.clear()
        diagnosis = explain(error)
        str(diagnosis), diagnosis.more, diagnosis._repr_html_()
        assert ran == []
    assert diagnosis.message.id == "SD002"
    assert diagnosis.note == ""
    assert [each.expression for each in diagnosis.culprits][:1] == [culprit], str(diagnosis)


def test_a_text_of_the_programs_own_class_is_read_as_text():
    ran.clear()
    assert explain(Text(MET)).message.id == "SD002"
    assert ran == []
