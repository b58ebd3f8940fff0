"""`explain` reads an exception through the slots of BaseException: what the exception's class defines never runs."""

import linecache
import textwrap

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
