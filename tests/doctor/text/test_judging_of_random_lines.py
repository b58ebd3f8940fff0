"""The judge of drawn lines finds each kind of wrong answer, and the drawn pastes are as Python prints them."""

import linecache
import sys
import traceback
import warnings
from dataclasses import replace

import pytest

from drawn_lines import judging, marks
from drawn_lines.cases import cases
from drawn_lines.pastes import Paste
from drawn_lines.program import Program
from drawn_lines.running import FILE, failure
from drawn_lines.templates import spelled
from samedevice import explain, simulate_cuda
from samedevice.doctor.diagnosis import Culprit, Diagnosis
from samedevice.doctor.edits import Edit
from samedevice.doctor.text.traceback import Frame

LINE = "    return torch.add(x, w) * len(x)"
TEXT = f"""\
import torch

def step(x, w):
{LINE}

result = step(torch.ones(3, device="cuda"), torch.ones(3))
"""
PROGRAM = Program(
    text=TEXT,
    line=4,
    end=4,
    healed=TEXT.replace("(x, w) *", "(x, w.cuda()) *"),
    culprits=frozenset({spelled("w")}),
    owners=frozenset(),
    culprit="w",
    candidates=2,
    form="name",
    operation="torch.add({vec}, {vec})",
    loops=(),
    is_between_gpus=False,
    partners=frozenset({spelled("x")}),
)


def culprit(expression, text="", action="before", device="cpu", line=4, old=None):
    edits = (Edit(FILE, line, action, text, "step", LINE.strip() if old is None else old),) if text else ()
    return Culprit(expression, device, "input_not_moved", text, edits=edits, is_read=True)


MOVED = culprit("w", "w = w.to(x.device)")
REPLACED = culprit("w", "return torch.add(x, w.to(x.device)) * len(x)", "replace")


@pytest.fixture
def kind(monkeypatch):
    """What the judge says of an answer to the program's paste."""

    def answered(*culprits, is_cut=False, code=None, tell="", **differs):
        place = None if code is None else Frame(FILE, 4, "step", code)
        diagnosis = Diagnosis(None, "", culprits=culprits, place=place, tell=tell)
        monkeypatch.setattr(judging.samedevice, "explain", lambda text: diagnosis)
        program = replace(PROGRAM, **differs)
        with simulate_cuda(devices=2):
            return judging.judged(program, failure(program.text), Paste("", "python 3.11", is_cut)).kind

    return answered


@pytest.mark.parametrize(
    "answer", [(MOVED,), (REPLACED,), (culprit("w"),), (culprit("x"), MOVED), (MOVED, culprit("x"))]
)
def test_a_right_answer_holds(answer, kind):
    assert kind(*answer) == ""


def test_no_answer_holds_for_a_cut_line_and_for_many_candidates(kind):
    assert kind(is_cut=True) == ""
    assert kind(candidates=5) == ""


def test_four_candidates_are_no_excuse_for_silence(kind):
    assert kind(candidates=4) == "none named"


def test_a_formatted_text_is_an_excuse_for_silence_only_in_the_line_itself(kind):
    elsewhere = TEXT.replace("import torch\n", 'import torch; print(f"begin")\n')
    assert kind(text=elsewhere) == "none named"
    assert kind(text=TEXT.replace("return ", 'return f"{0}" and ')) == ""


def test_a_culprit_that_is_cut_off_is_no_failure_where_what_is_left_is_python(kind):
    wrong = "one named, another is the culprit"
    assert kind(culprit("x"), is_cut=True, code="return torch.add(x)") == ""
    assert kind(culprit("x"), is_cut=True, code="return torch.add(x,") == wrong
    assert kind(culprit("x"), is_cut=True) == wrong, "no line was read"


def test_a_name_that_the_cut_runs_through_is_no_failure(kind):
    code = "return torch.add(x, w) * l"
    assert kind(MOVED, culprit("l"), is_cut=True, code=code) == ""
    assert kind(culprit("w", "w = w.to(l.device)"), is_cut=True, code=code) == ""
    assert kind(MOVED, culprit("l"), is_cut=True, code="return torch.add(x, w)") == "something named that cannot be it"
    assert kind(MOVED, culprit("k"), is_cut=True, code=code) == "something named that cannot be it"


def test_any_other_failure_of_a_cut_line_is_one(kind):
    assert kind(culprit("w", "w = w.to(x"), is_cut=True, code="return x") == "a change does not compile"
    assert kind(MOVED, culprit("len(x)"), is_cut=True, code="return x") == "something named that cannot be it"


@pytest.mark.parametrize(("wrong", "is_between_gpus"), [("cpu", False), ("cuda:1", True)])
def test_the_line_that_tells_has_to_print_the_wrong_device(wrong, is_between_gpus, kind):
    about = {
        "text": TEXT.replace("torch.ones(3))", f'torch.ones(3, device="{wrong}"))'),
        "is_between_gpus": is_between_gpus,
    }
    assert kind(MOVED, culprit("x"), tell="print(x.device, w.device)", **about) == ""
    assert kind(MOVED, culprit("x"), tell="print(x.device)", **about) == "what tells them apart fails"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((), "none named"),
        ((culprit("x"),), "one named, another is the culprit"),
        ((culprit("x"), culprit("torch.add")), "the culprit is not among the named"),
        ((MOVED, culprit("len(x)")), "something named that cannot be it"),
        ((MOVED, culprit("torch.add")), "something named that cannot be it"),
        ((MOVED, culprit("x[")), "something named that cannot be it"),
        ((MOVED, culprit("missing")), "something named that cannot be it"),
        ((MOVED, MOVED), "too many named"),
        ((MOVED, *(culprit(f"x[{n}]") for n in range(4))), "too many named"),
        ((culprit("w", "w = w.to(x.device)", device="cuda:0"),), "the device is wrong"),
        ((culprit("w", "w = w.to(x.device", "before"),), "a change does not compile"),
        ((MOVED, culprit("x", "x = = x")), "a change does not compile"),
        ((culprit("w", "w = w.cpu()"),), "the change does not help"),
        ((culprit("w", "return x", "replace", old="return x + w"),), "a change of what does not stand there"),
        ((culprit("w", "w = w.to(x.device)", line=40),), "a change of no line"),
    ],
)
def test_a_wrong_answer_is_found(answer, expected, kind):
    assert kind(*answer) == expected


def test_an_exception_of_the_doctor_is_a_failure(monkeypatch):
    def broken(text):
        raise ZeroDivisionError

    monkeypatch.setattr(judging.samedevice, "explain", broken)
    with simulate_cuda(devices=2):
        assert judging.judged(PROGRAM, failure(TEXT), Paste("", "python 3.11", False)).kind == "explain raised"


def test_drawn_pastes_hold_the_lines_and_the_marks_that_python_prints(monkeypatch):
    """Those of the Python that runs this; the others were compared with Lib/traceback.py of 3.11 and 3.13."""
    shown = marks.shown_in_313 if sys.version_info >= (3, 13) else marks.shown_in_311
    with warnings.catch_warnings(), simulate_cuda(devices=2):
        warnings.simplefilter("ignore")  # of the drawn programs
        for case in cases(100, 7):
            for frame in case.failed.frames:
                lines = [f"{line}\n" for line in frame.source]
                monkeypatch.setitem(linecache.cache, frame.file, (1, None, lines, frame.file))
                assert [f"    {line}" for line in shown(frame)] == printed(frame)


def printed(frame):
    first, start, last, end = frame.span
    columns = (len(frame.source[line - 1][:column].encode()) for line, column in ((first, start), (last, end)))
    places = dict(zip(("colno", "end_colno"), columns, strict=True), end_lineno=last)
    stack = traceback.StackSummary()
    stack.append(traceback.FrameSummary(frame.file, frame.line, frame.function, lookup_line=False, **places))
    return "".join(stack.format()).rstrip("\n").split("\n")[1:]


def test_what_is_drawn_is_recognised_as_a_message():
    with warnings.catch_warnings(), simulate_cuda(devices=2):
        warnings.simplefilter("ignore")
        unknown = [str(case.failed.error) for case in cases(300, 8) if explain(case.paste.text).message is None]
    assert unknown == []
