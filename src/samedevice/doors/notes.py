"""The diagnosis of a device error as a note of the exception itself: https://peps.python.org/pep-0678/

From Python 3.13 on it is added when the exception is raised, before anybody can catch it: sys.monitoring tells of each
exception. Not in Python 3.12, which has sys.monitoring too: to look at the locals of a function that goes on running
keeps the values that they have at that moment, tensors among them, until the function ends
(https://peps.python.org/pep-0667/).
"""

import re
import sys
import threading
import types
from typing import Any

from samedevice.doors import uncaught
from samedevice.introspect import exceptions

# What PyTorch and its libraries raise about devices, and a word that each such message has: tests hold both to the
# catalog. Whatever a program raises comes here, so what is no device error has to be told at once.
_TYPES = (RuntimeError, ValueError, TypeError, AssertionError)
_WORDS = re.compile(r"devic|cuda|nccl|(?<![a-z])([gcxnh]pu|mps|meta(?!data)|hip)", re.IGNORECASE)
_FREE_TOOLS = (3, 4)  # https://docs.python.org/3/library/sys.monitoring.html#registering-and-using-tools
_SEEN = "_samedevice_seen"  # an attribute of an exception; each frame that it passes is told of
_MOST = 100  # places are explained; a program that goes on failing elsewhere gets no more notes

_notes: dict[tuple[Any, ...], str | None] = {}  # by the message and the place of each frame
_here = threading.local()
_is_on = False


def add(error: BaseException) -> None:
    """Add the diagnosis to an exception as a note, if it is a device error and has none."""
    if not uncaught.is_told(error):
        note = _note_of(error)
        if note is not None:
            _add(error, note)


def add_when_raised() -> None:
    """Add it to each exception when it is raised, from now on, where Python can tell. Calling it twice does no harm."""
    global _is_on
    if _is_on or sys.version_info < (3, 13):
        return
    monitoring = sys.monitoring
    tool = next((tool for tool in _FREE_TOOLS if monitoring.get_tool(tool) is None), None)
    if tool is None:
        return  # the hooks still add it
    _is_on = True
    monitoring.use_tool_id(tool, "samedevice")
    monitoring.register_callback(tool, monitoring.events.RAISE, _raised)
    monitoring.set_events(tool, monitoring.events.RAISE)


def may_be_device_error(error: BaseException) -> bool:
    """Tell whether an exception can be a device error, at no cost for most that are none.

    Example:
        >>> may_be_device_error(RuntimeError("CUDA out of memory")), may_be_device_error(KeyError("device"))
        (True, False)
    """
    return issubclass(type(error), _TYPES) and _WORDS.search(exceptions.message(error)) is not None


def _raised(code: types.CodeType, offset: int, error: BaseException) -> None:
    if not may_be_device_error(error) or getattr(_here, "is_busy", False):
        return
    _here.is_busy = True  # what the doctor itself raises and catches
    try:
        if exceptions.attribute(error, _SEEN):
            return
        exceptions.set_attribute(error, _SEEN, True)
        if not uncaught.repeats_what_is_told(error):
            _add_at(sys._getframe(1), error)
    except Exception:  # a fault of ours must not reach the program
        pass
    finally:
        _here.is_busy = False


def _add_at(frame: types.FrameType, error: BaseException) -> None:
    """Add the note of an error that a frame is raising; that of each place is made once."""
    trace = _whole_traceback(frame)
    place = (exceptions.message(error), *_instructions(trace))
    came_back = place in _notes
    if not came_back:
        if len(_notes) >= _MOST:
            return
        begun = exceptions.traceback(error)
        BaseException.with_traceback(error, trace)
        try:
            _notes[place] = _note_of(error)
        finally:
            BaseException.with_traceback(error, begun)
    note = _notes[place]
    if note is not None and not _is_shown(note, error):
        # Another tensor may be the culprit now.
        first = "\nThis is what was found when it failed before, here and with this message:" if came_back else ""
        _add(error, first + note)


def _whole_traceback(frame: types.FrameType | None) -> types.TracebackType | None:
    """Return the traceback that an error would have if nobody caught it."""
    trace = None
    while frame is not None:
        trace = types.TracebackType(trace, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return trace


def _instructions(trace: types.TracebackType | None) -> list[tuple[types.CodeType, int]]:
    found = []
    while trace is not None:
        found.append((trace.tb_frame.f_code, trace.tb_lasti))
        trace = trace.tb_next
    return found


def _note_of(error: BaseException) -> str | None:
    diagnosis = uncaught.diagnosis_of(error)
    return f"\n{diagnosis}" if diagnosis is not None else None


def _is_shown(note: str, error: BaseException) -> bool:
    """Tell whether an error that this one was raised from has the same note."""
    notes = [exceptions.attribute(raised, "__notes__") for raised in exceptions.chain(error)]
    return any(type(text) is str and note in text for those in notes if type(those) is list for text in those)


def _add(error: BaseException, note: str) -> None:
    """Add a note as `add_note` does, also where the class of the exception refuses to be set."""
    notes = exceptions.attribute(error, "__notes__")
    exceptions.set_attribute(error, "__notes__", [*notes, note] if type(notes) is list else [note])
    uncaught.mark_as_told(error)
