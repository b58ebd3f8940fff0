"""The last error that nobody caught, and tracebacks without our own frames, which say nothing of the program."""

import re
import sys
import traceback
import types

from samedevice.introspect import exceptions
from samedevice.introspect.frames import calls
from samedevice.introspect.libraries import OURS, is_ours


def last_error() -> BaseException | None:
    """Return the last error that nobody caught, which Python and IPython keep."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None


def traceback_text(error: BaseException) -> str:
    """Print the traceback of an error, without our own frames, and its message."""
    walked = [(call.frame, call.line) for call in calls(error)[-60:]]
    frames = "".join(traceback.StackSummary.extract(iter(walked)).format())
    start = "Traceback (most recent call last):\n" if frames else ""
    # The message itself quotes the frames of a worker or a replica.
    return f"{start}{frames}{exceptions.name(error)}: {_QUOTED.sub('', exceptions.message(error))}"


_QUOTED = re.compile(rf'^  File "{re.escape(OURS)}.*\n(?:    .*\n)*', re.MULTILINE)


def without_our_frames(trace: types.TracebackType | None, outer_only: bool = False) -> types.TracebackType | None:
    """Return a traceback without the frames of samedevice.

    Arguments:
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
