"""The last error that nobody caught, and tracebacks without our own frames, which say nothing of the program."""

import re
import sys
import traceback
import types

from samedevice.introspect import exceptions, source
from samedevice.introspect.frames import Call, calls
from samedevice.introspect.libraries import OURS, is_ours, is_simulation


def last_error() -> BaseException | None:
    """Return the last error that nobody caught, which Python and IPython keep."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None


def traceback_text(error: BaseException) -> str:
    """Print the traceback of an error, without our own frames, and its message."""
    walked = calls(error)[-60:]
    with source.kept({call.file: source.lines(call.file, call.globals) for call in walked}):
        entries = traceback.StackSummary.extract((_as_plain(call), call.line) for call in walked)
        frames = "".join(entries.format())
    start = "Traceback (most recent call last):\n" if frames else ""
    # The message itself quotes the frames of a worker or a replica.
    return f"{start}{frames}{exceptions.name(error)}: {_QUOTED.sub('', exceptions.message(error))}"


def _as_plain(call: Call) -> types.FrameType:
    """Return what `traceback` reads of a frame, without the columns."""
    code = types.SimpleNamespace(co_filename=call.file, co_name=call.function)
    return types.SimpleNamespace(f_code=code, f_globals={})  # type: ignore[return-value]


_QUOTED = re.compile(rf'^  File "{re.escape(OURS)}.*\n(?:    .*\n)*', re.MULTILINE)


def without_our_frames(trace: types.TracebackType | None, outer_only: bool = False) -> types.TracebackType | None:
    """Return a traceback without the frames of samedevice.

    Args:
        trace: the traceback; it is not changed.
        outer_only: whether to keep those that stand below a frame of the program's.
    """
    entries: list[types.TracebackType] = []
    while trace is not None:
        if not is_ours(trace.tb_frame.f_code.co_filename) or (outer_only and entries):
            entries.append(trace)
        else:  # Python leaves the import's own frames out, unless another is among them
            while entries and entries[-1].tb_frame.f_code.co_filename.startswith("<frozen importlib"):
                entries.pop()
        trace = trace.tb_next
    kept = None
    for entry in reversed(entries):
        kept = types.TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def cut_the_simulation(error: BaseException) -> None:
    """Take the simulation's frames out of the tracebacks of an error: they end at the program's line, as on CUDA."""
    for raised in exceptions.chain(error):
        entry = exceptions.traceback(raised)
        while entry is not None:
            following = entry.tb_next
            while following is not None and is_simulation(following.tb_frame.f_code.co_filename):
                following = following.tb_next
            entry.tb_next = following
            entry = following
