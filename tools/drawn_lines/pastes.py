"""The text that a reader pastes of a failure, as Python's releases, IPython, pytest and rich print it, or cut."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from drawn_lines import elsewhere, marks
from drawn_lines.program import Program
from drawn_lines.running import Failure, Frame

_HEAD = "Traceback (most recent call last):"


@dataclass(frozen=True)
class Paste:
    """A pasted traceback.

    Attributes:
        text: the text.
        form: what printed it.
        is_cut: whether only a part of the failing statement is shown.
    """

    text: str
    form: str
    is_cut: bool


def pasted(program: Program, failed: Failure, seed: int, number: int) -> Paste:
    """Print a failure in one of the forms; the same two numbers choose the same one."""
    rng = random.Random(f"{seed}:{number}:paste")
    form = rng.choices(list(_FORMS), [weight for weight, _ in _FORMS.values()])[0]
    if form.startswith("pytest") and not any(frame.is_own and frame.function != "<module>" for frame in failed.frames):
        form = "python 3.13"  # pytest shows tests, which a script has none of
    text, is_cut = _FORMS[form][1](program, failed, rng)
    return Paste(text, form, is_cut)


def _message(failed: Failure) -> str:
    return f"{type(failed.error).__name__}: {failed.error}"


def _of_python(shown: Callable[[Frame], list[str]], failed: Failure) -> str:
    lines = [_HEAD]
    for frame in failed.frames:
        lines.append(f'  File "{frame.file}", line {frame.line}, in {frame.function}')
        lines += [f"    {line}" for line in shown(frame)]
    return "\n".join([*lines, _message(failed)]) + "\n"


def _until_37(program: Program, failed: Failure, rng: random.Random) -> tuple[str, bool]:
    """Print the last line of an argument, where the statement has several lines."""
    lines = program.statement
    at = max(program.line, program.end - 1)
    frames = [
        replace(frame, line=at) if frame.is_own and program.line <= frame.line <= program.end else frame
        for frame in failed.frames
    ]
    return _of_python(marks.shown_until_310, replace(failed, frames=frames)), len(lines) > 1


def _until_310(program: Program, failed: Failure, rng: random.Random) -> tuple[str, bool]:
    return _of_python(marks.shown_until_310, failed), len(program.statement) > 1


def _in_311(program: Program, failed: Failure, rng: random.Random) -> tuple[str, bool]:
    return _of_python(marks.shown_in_311, failed), len(program.statement) > 1


def _in_313(program: Program, failed: Failure, rng: random.Random) -> tuple[str, bool]:
    """Print all lines of what failed; the statement may begin before it, or a note stand for some of its lines."""
    text = _of_python(marks.shown_in_313, replace(failed, frames=_inlined(failed.frames)))
    is_whole = all(line.strip() in text for line in program.statement)
    return text, not is_whole


def _inlined(frames: list[Frame]) -> list[Frame]:
    """Leave out the frames that comprehensions have until Python 3.11."""
    kept: list[Frame] = []
    for frame in frames:
        if frame.function in ("<listcomp>", "<dictcomp>", "<setcomp>") and kept:
            outer = kept.pop()
            frame = replace(frame, function=outer.function, qualified=outer.qualified, signature=outer.signature)
            frame = replace(frame, first=outer.first)
        kept.append(frame)
    return kept


def _cut(program: Program, failed: Failure, rng: random.Random) -> tuple[str, bool]:
    """Print it as a log does that keeps the beginning of each line."""
    shown, _ = rng.choice(((marks.shown_until_310, "3.10"), (marks.shown_in_311, "3.11"), (marks.shown_in_313, "3.13")))
    whole = program.statement[0].strip()
    width = rng.randint(min(16, len(whole) // 2), max(len(whole) - 1, 1))
    mark = rng.choice(("", "", "...", "\u2026"))
    text = _of_python(shown, failed)
    keeps_marks = rng.random() < 0.3
    lines = []
    for line in text.split("\n"):
        if line.strip() == whole:
            lines.append(line[: 4 + width] + mark)
        elif keeps_marks or set(line.strip()) - set("~^") or not line.strip():
            lines.append(line)
    return "\n".join(lines), True


_FORMS = {
    "python 3.7": (4, _until_37),
    "python 3.10": (8, _until_310),
    "python 3.11": (34, _in_311),
    "python 3.13": (22, _in_313),
    "cut": (8, _cut),
    "ipython": (8, elsewhere.of_ipython),
    "notebook": (5, elsewhere.of_notebook),
    "pytest": (5, elsewhere.of_pytest),
    "pytest short": (3, elsewhere.of_pytest_short),
    "rich": (5, elsewhere.of_rich),
}
