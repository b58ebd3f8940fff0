"""Run a drawn program on simulated GPUs, and keep the frames of its error that PyTorch's CUDA build has too."""

import contextlib
import io
import linecache
import re
import traceback
import types
from dataclasses import dataclass
from pathlib import Path

import torch

import samedevice

FILE = "/home/ada/project/train.py"
LIBRARY = "/home/ada/env/lib/python3.11/site-packages/torch"  # where a reader's torch is
_SIMULATION = str(Path(samedevice.__file__).parent)
_TORCH = str(Path(torch.__file__).parent)
_IS_OF_DEVICES = re.compile(r"cuda|device", re.IGNORECASE)


@dataclass(frozen=True)
class Frame:
    """A frame of a traceback.

    Attributes:
        file: the file, as a traceback prints it.
        function: the name of the function, and with its class, as IPython prints it.
        line: the line that failed.
        span: where the instruction that failed stands: first line, first column, last line, last column; else None.
        source: all lines of the file.
        first: the first line of the function.
    """

    file: str
    function: str
    qualified: str
    line: int
    span: tuple[int, int, int, int] | None
    source: list[str]
    first: int
    signature: str

    @property
    def is_own(self) -> bool:
        """Whether the frame is the program's."""
        return self.file == FILE


@dataclass(frozen=True)
class Failure:
    """The error of a program.

    Attributes:
        error: the exception.
        frames: its frames, the outermost first, without those of the simulation.
        names: the values of all names that the program's frames know, the innermost frame's first of all.
    """

    error: Exception
    frames: list[Frame]
    names: dict[str, object]


def failure(text: str) -> Failure | None:
    """Run a program, and return its error; None if it runs."""
    torch.manual_seed(0)
    program: dict[str, object] = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, FILE, "exec"), program)
    except Exception as error:
        return _failure(error, text.split("\n"))
    return None


def is_of_devices(error: Exception) -> bool:
    """Tell whether an error is about devices, by its words."""
    return isinstance(error, RuntimeError | TypeError) and bool(_IS_OF_DEVICES.search(str(error)))


def _failure(error: Exception, source: list[str]) -> Failure:
    frames: list[Frame] = []
    names: dict[str, object] = {}
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if file == FILE:
            names |= {**frame.f_globals, **frame.f_locals}
            frames.append(_frame(FILE, frame, line, error, source))
        elif file.startswith(_TORCH) and frames:
            frames.append(_frame(LIBRARY + file.removeprefix(_TORCH), frame, line, error, _lines(file)))
    return Failure(error, frames, names)


def _lines(file: str) -> list[str]:
    return [line.rstrip("\n") for line in linecache.getlines(file)]


def _frame(file: str, frame: types.FrameType, line: int, error: Exception, source: list[str]) -> Frame:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount]
    stars = code.co_varnames[code.co_argcount : code.co_argcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)]
    arguments = [*names, *(f"{sign}{name}" for sign, name in zip(("*", "**"), stars, strict=False))]
    return Frame(
        file,
        code.co_name,
        code.co_qualname.replace("<locals>.", ""),
        line,
        _span(frame, error, source),
        source,
        code.co_firstlineno,
        ", ".join(arguments),
    )


def _span(frame: types.FrameType, error: Exception, source: list[str]) -> tuple[int, int, int, int] | None:
    """Return where the instruction of a frame stands that was running when the error left it."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame is not frame:
        entry = entry.tb_next
    if entry is None:
        return None
    positions = list(frame.f_code.co_positions())[entry.tb_lasti // 2]
    first, last, start, end = positions
    if first is None or last is None or start is None or end is None:
        return None
    return first, _column(source[first - 1], start), last, _column(source[last - 1], end)


def _column(line: str, offset: int) -> int:
    """Return a column in characters; Python has it in bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode())
