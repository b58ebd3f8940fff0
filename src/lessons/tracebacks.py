"""`traceback_of` and `answer_of`: puzzles that show a message and a traceback alone, and what really was where.

A puzzle is a small program that the reader does not see. It is run on the lesson's GPUs, in this process, and fails;
what is shown of it is what a terminal shows, without the frames of PyTorch. The answer comes from runs, too: the
devices in the frame that failed, and what each suggested change does.
"""

import contextlib
import importlib
import io
import linecache
import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

from lessons import gpus

_FRAME = re.compile(r' +File "(?P<file>.*)", line \d+, in .*\n(?: {4,}.*\n)*')
_MARKS = re.compile(r"^[ ~^]+\n", re.MULTILINE)  # Python's, below a line; its releases differ in where they put them


@dataclass(frozen=True)
class Alternative:
    """An answer that a reader can choose.

    Args:
        tensor: the tensor at fault, as an expression of the program.
        device: where this answer says that it is.
        change: what to write in place of which line, without its indentation. Several lines may stand for one, and
            nothing takes a line away.
    """

    tensor: str
    device: str
    change: Mapping[int, str]


@dataclass(frozen=True)
class FailingProgram:
    """A program that fails, and four answers.

    Args:
        source: its text.
        suspects: expressions whose devices are shown, as the failing frame or one that called it understands them.
        alternatives: the answers, in the order of the page.
        right: the number of the right one, from 1.
        shown: numbers of the lines that a reader sees beside those of the traceback.
        file: the name that the traceback gives.
    """

    source: str
    suspects: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    right: int
    shown: tuple[int, ...] = ()
    file: str = "train.py"

    def changed(self, alternative: Alternative) -> str:
        """Return the program's text with an answer's change."""
        lines = self.source.splitlines()
        for number, text in alternative.change.items():
            indentation = re.match(" *", lines[number - 1])[0]  # type: ignore[index]
            lines[number - 1] = "\n".join(indentation + line for line in text.splitlines())
        removed = {number for number, text in alternative.change.items() if not text}
        return "\n".join(line for number, line in enumerate(lines, 1) if number not in removed) + "\n"


@dataclass(frozen=True)
class Run:
    """What a run of a program printed, and if it failed: the error, and the program's own frames, outermost first."""

    printed: str
    error: Exception | None
    frames: tuple[FrameType, ...]
    lines: tuple[traceback.FrameSummary, ...]

    def line(self) -> int | None:
        """Return the line that failed: of the innermost frame, or where only the message has it, the message's."""
        named = re.findall(r'File "\w+\.py", line (\d+)', str(self.error))
        return int(named[-1]) if named else self.lines[-1].lineno

    def device(self, expression: str) -> str:
        """Return the device of a tensor, or of a module's tensors, in the frame that failed or one that called it."""
        tensors = _tensors(self._value(expression))
        return " and ".join(dict.fromkeys(str(tensor.device) for tensor in tensors))

    def shape(self, expression: str) -> str:
        """Return the shape of a tensor; of a module, what kind of module it is."""
        value = self._value(expression)
        return str(tuple(value.shape)) if hasattr(value, "shape") else type(value).__name__

    def _value(self, expression: str) -> Any:
        for frame in reversed(self.frames):
            with contextlib.suppress(NameError):
                return eval(expression, frame.f_globals, frame.f_locals)
        raise NameError(f"no frame of the program knows {expression!r}")


def traceback_of(puzzle: str) -> None:
    """Run the program of a puzzle, which fails, and print its traceback, without the frames of PyTorch.

    Args:
        puzzle: its name on the page, such as "p5-1".

    Example:
        >>> traceback_of("p5-1")  # doctest: +SKIP
        Traceback (most recent call last):
          File "train.py", line 20, in <module>
            encoded = model(tokens.to("cuda"))
    """
    program = _asked_for(puzzle)
    if program is None:
        return
    print(shown_traceback(program, run(program.source, program.file)))
    if program.shown:
        print(f"\nOther lines of {program.file}:")
        for number in program.shown:
            print(f"{number:4}  {program.source.splitlines()[number - 1]}")


def answer_of(puzzle: str) -> None:
    """Run the program of a puzzle again; print what was where, what each change does, and the right one.

    Args:
        puzzle: its name on the page, such as "p5-1".

    Example:
        >>> answer_of("p5-1")  # doctest: +SKIP
        Where things were when line 14 failed:
          x           cuda:0  (4, 6, 8)
          positions   cpu     (6, 1)
    """
    program = _asked_for(puzzle)
    if program is None:
        return
    failed = run(program.source, program.file)
    print(f"Where things were when line {failed.line()} failed:")
    rows = [(name, failed.device(name), failed.shape(name)) for name in program.suspects]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, device, shape in rows:
        print(f"  {name:{widths[0]}}  {device:{widths[1]}}  {shape}")
    print("\nWhat the changes do:")
    for number, alternative in enumerate(program.alternatives, 1):
        print(f"  {number}. {_outcome(run(program.changed(alternative), program.file), failed)}")
    print(f"\nChange {program.right}:")
    for number, text in program.alternatives[program.right - 1].change.items():
        print(f"  line {number}")
        print(f"  - {program.source.splitlines()[number - 1].strip()}")
        for line in text.splitlines():
            print(f"  + {line}")


def shown_traceback(program: FailingProgram, failed: Run) -> str:
    """Return what a terminal shows of a run that failed, with the program's own frames alone, and without marks."""
    assert failed.error is not None
    frames = "".join(traceback.format_list(list(failed.lines)))
    said = "".join(traceback.format_exception_only(failed.error))

    def own(frame: re.Match[str]) -> str:
        return _MARKS.sub("", frame[0]) if frame["file"] == program.file else ""

    return f"Traceback (most recent call last):\n{frames}{_FRAME.sub(own, said)}".rstrip()


def run(source: str, file: str) -> Run:
    """Run a program on the lesson's GPUs, and return what it did; what it sets for all of PyTorch is set back."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    printed, elsewhere = io.StringIO(), list[TracebackType]()
    with contextlib.redirect_stdout(printed), _set_back(), _errors_of_threads(elsewhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(source, file, "exec"), {"__name__": "__main__"})
            return Run(printed.getvalue(), None, (), ())
        except Exception as error:
            ours = _own_frames(error.__traceback__, source, file)
            theirs = [frame for each in elsewhere for frame in _own_frames(each, source, file)]
            frames = tuple(frame for frame, _ in [*ours, *theirs])
            return Run(printed.getvalue(), error, frames, tuple(line for _, line in ours))


def _own_frames(begin: TracebackType | None, source: str, file: str) -> list[tuple[FrameType, traceback.FrameSummary]]:
    """Return the program's frames of a traceback, each with what is shown of it."""
    lines = source.splitlines()
    return [
        (frame, traceback.FrameSummary(file, number, frame.f_code.co_name, line=lines[number - 1].strip()))
        for frame, number in traceback.walk_tb(begin)
        if frame.f_code.co_filename == file
    ]


def _outcome(ran: Run, before: Run) -> str:
    """Return one line: what a program with a change prints, or how it fails."""
    if ran.error is None:
        return f"runs and prints {ran.printed.strip()}"
    if str(ran.error).splitlines()[:1] == str(before.error).splitlines()[:1]:
        return "fails as before"
    return f"fails in line {ran.line()}: {type(ran.error).__name__}: {str(ran.error).splitlines()[0]}"


def _tensors(value: Any) -> list[Any]:
    if hasattr(value, "parameters"):
        return [*value.parameters(), *value.buffers()]
    return [value]


@contextlib.contextmanager
def _set_back() -> Iterator[None]:
    """Set the environment and the current GPU back, which a wrong change may set; keep the compiler's log quiet."""
    import torch  # here and below, so that `import lessons` stays light

    environment, current, quiet = dict(os.environ), torch.cuda.current_device(), logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(quiet)
        os.environ.clear()
        os.environ.update(environment)
        torch.cuda.set_device(current)


@contextlib.contextmanager
def _errors_of_threads(found: list[TracebackType]) -> Iterator[None]:
    """Keep the tracebacks of replicas: PyTorch hands on only their text, and with it no frame to look into."""
    from torch._utils import ExceptionWrapper

    original = ExceptionWrapper.__init__

    def keep(wrapper: Any, exc_info: Any = None, where: str = "in background") -> None:
        begin = (exc_info or sys.exc_info())[2]
        if begin is not None:
            found.append(begin)
        original(wrapper, exc_info, where)

    ExceptionWrapper.__init__ = keep
    try:
        yield
    finally:
        ExceptionWrapper.__init__ = original


def _asked_for(puzzle: str) -> FailingProgram | None:
    """Return the program of a puzzle; None, and say why, if it cannot be run."""
    if not gpus.devices():
        print("Run the first code cell of this page: it starts the GPUs that the programs run on.")
        return None
    notebook, _, number = str(puzzle).partition("-")
    try:
        programs: dict[str, FailingProgram] = importlib.import_module(
            f"lessons.exercises.practice_{notebook[1:]}"
        ).PROGRAMS
        return programs[number]
    except (ModuleNotFoundError, AttributeError, KeyError):
        print(f'There is no puzzle {puzzle!r}: use the name on the page, such as "p5-1".')
        return None
