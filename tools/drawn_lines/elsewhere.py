"""Tracebacks as IPython, pytest and rich print them: see tests/doctor/text/tracebacks for what they really print."""

import random
import textwrap
from pathlib import PurePosixPath

from drawn_lines import marks
from drawn_lines.program import Program
from drawn_lines.running import FILE, Failure, Frame

_WIDTH = 88
Answer = tuple[str, bool]


def _message(failed: Failure) -> str:
    return f"{type(failed.error).__name__}: {failed.error}"


def _end(program: Program, frame: Frame) -> int:
    """Return the last line of the statement that failed in a frame."""
    if frame.is_own and program.line <= frame.line <= program.end:
        return program.end
    return frame.span[2] if frame.span else frame.line


# --- IPython ---------------------------------------------------------------------------------------------------------


def of_ipython(program: Program, failed: Failure, rng: random.Random) -> Answer:
    """Print it as IPython does for a program that was imported."""
    return _of_ipython(program, failed, in_cell=False), False


def of_notebook(program: Program, failed: Failure, rng: random.Random) -> Answer:
    """Print it as a notebook does whose cell is the program."""
    return _of_ipython(program, failed, in_cell=True), False


def _of_ipython(program: Program, failed: Failure, in_cell: bool) -> str:
    kind = type(failed.error).__name__
    blocks = ["-" * 75 + f"\n{kind}{'Traceback (most recent call last)':>{75 - len(kind)}}"]
    for frame in failed.frames:
        where = "Cell In[3], line" if in_cell and frame.is_own else f"File {frame.file.replace('/home/ada', '~')}:"
        name = "" if frame.function == "<module>" else f", in {frame.qualified}({frame.signature})"
        head = f"{where}{' ' if in_cell and frame.is_own else ''}{frame.line}{name}"
        blocks.append(head + "\n" + _context(program, frame))
    blocks[:2] = ["\n".join(blocks[:2])]
    return "\n\n".join([*blocks, _message(failed)]) + "\n"


def _context(program: Program, frame: Frame) -> str:
    """Return two lines, the statement that failed, and two lines, as far as they are the function's."""
    numbers = list(range(max(1, frame.line - 2), min(len(frame.source), _end(program, frame) + 2) + 1))
    if frame.function != "<module>":
        indent = _indent(frame.source[frame.first - 1])
        numbers = [number for number in numbers if number >= min(frame.first, frame.line)]
        outside = [
            number
            for number in numbers
            if number > frame.line and frame.source[number - 1].strip() and _indent(frame.source[number - 1]) <= indent
        ]
        numbers = [number for number in numbers if not outside or number <= _end(program, frame) or number < outside[0]]
    numbers = [number for number in numbers if frame.source[number - 1].strip()]
    code = textwrap.dedent("\n".join(frame.source[number - 1] for number in numbers)).split("\n")
    lines = []
    for number, text in zip(numbers, code, strict=True):
        arrow = "-" * (5 - len(str(number))) + f"> {number}" if number == frame.line else f"{number:>7}"
        lines.append(f"{arrow} {text}".rstrip())
    return "\n".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# --- pytest ----------------------------------------------------------------------------------------------------------


def _in_a_test(failed: Failure) -> list[Frame]:
    return [frame for frame in failed.frames if frame.function != "<module>"]


def of_pytest(program: Program, failed: Failure, rng: random.Random) -> Answer:
    """Print it as pytest does: each function from its beginning to the statement that failed."""
    frames = _in_a_test(failed)
    head = ["=" * 35 + " FAILURES " + "=" * 35, "_" * 33 + " test_train " + "_" * 33, ""]
    head += ["    def test_train():", ">       main()", "", "tests/test_train.py:6: "]
    separator = "_ " * 40
    blocks = ["\n".join(head)]
    for frame in frames:
        last = _end(program, frame)
        source = textwrap.dedent("\n".join(frame.source[frame.first - 1 : last])).split("\n")
        at = frame.line - frame.first
        lines = [f">{' ' * 3}{text}" if number == at else f"    {text}" for number, text in enumerate(source)]
        body = " " * (4 + len(source[at]) - len(source[at].lstrip()))
        lines[at + 1 : at + 1] = [body + each for each in marks.shown_by_pytest(frame)[1:]]
        is_last = frame is frames[-1]
        if is_last:
            lines.append(f"E       {_message(failed)}")
        place = f"{_relative(frame)}:{frame.line}: {type(failed.error).__name__ if is_last else ''}"
        blocks.append("\n".join(["", f"{frame.signature.split(', ')[0] or 'n'} = ...", "", *lines, "", place]))
    end = f"FAILED tests/test_train.py::test_train - {_message(failed)[:50]}..."
    summary = "=" * 27 + " short test summary info " + "=" * 28
    return "\n".join([f"\n{separator}\n".join(blocks), summary, end]) + "\n", False


def of_pytest_short(program: Program, failed: Failure, rng: random.Random) -> Answer:
    """Print it as pytest does with --tb=short: a line of each frame, and its marks."""
    lines = ["_" * 33 + " test_train " + "_" * 33, "tests/test_train.py:6: in test_train", "    main()"]
    for frame in _in_a_test(failed):
        lines.append(f"{_relative(frame)}:{frame.line}: in {frame.function}")
        lines += [f"    {line}" for line in marks.shown_by_pytest(frame)]
    lines += [f"E   {_message(failed)}", "=" * 27 + " short test summary info " + "=" * 28]
    return "\n".join(lines) + "\n", len(program.statement) > 1


def _relative(frame: Frame) -> str:
    if frame.file == FILE:
        return PurePosixPath(FILE).name
    return "../env/" + frame.file.split("/env/")[1]


# --- rich ------------------------------------------------------------------------------------------------------------


def of_rich(program: Program, failed: Failure, rng: random.Random) -> Answer:
    """Print it as rich does in a narrow terminal: each line is cut where the box ends."""
    inner = _WIDTH - 4
    lines = ["\u256d" + " Traceback (most recent call last) ".center(_WIDTH - 2, "\u2500") + "\u256e"]
    is_cut = False
    for frame in failed.frames:
        last = min(len(frame.source), _end(program, frame) + 2)
        numbers = range(max(1, frame.line - 3), last + 1)
        digits = len(str(last))
        head = f"{frame.file}:{frame.line} in {frame.function}"
        texts = [*(head[at : at + inner] for at in range(0, len(head), inner)), ""]
        for number in numbers:
            code = _guided(frame.source[number - 1])
            arrow = "\u2771" if number == frame.line else " "
            text = f"{arrow} {number:>{digits}} {code}"
            in_statement = frame.is_own and program.line <= number <= program.end
            is_cut |= in_statement and len(text) > inner
            texts.append(text)
        lines += [f"\u2502 {text[:inner]:<{inner}} \u2502" for text in [*texts, ""]]
    lines.append("\u2570" + "\u2500" * (_WIDTH - 2) + "\u256f")
    lines += textwrap.wrap(_message(failed), _WIDTH)
    return "\n".join(lines) + "\n", is_cut


def _guided(line: str) -> str:
    """Return a line with rich's marks in the place of its indent."""
    depth = (len(line) - len(line.lstrip())) // 4
    return "\u2502   " * depth + line.lstrip()
