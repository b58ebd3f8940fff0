"""The text of an exception as Python would print it, without running the program's own `__str__`."""

import re
import sys
import traceback
from collections.abc import Iterator

from samedevice.doctor.live.stack import OURS, calls


def last_error() -> BaseException | None:
    """The last error that nobody caught: Python and IPython keep it."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error, then what it was raised from, then what that was raised from."""
    seen: set[int] = set()
    todo = [error]
    while todo and len(seen) < 50:
        error = todo.pop(0)
        if id(error) in seen:
            continue
        seen.add(id(error))
        yield error
        if issubclass(type(error), BaseExceptionGroup):
            todo += BaseExceptionGroup.exceptions.__get__(error)
        if error.__cause__ is not None:
            todo.append(error.__cause__)
        elif error.__context__ is not None and not error.__suppress_context__:
            todo.append(error.__context__)


def text_of(error: BaseException) -> str:
    """Its traceback, without the simulation's frames, and its message."""
    walked = [(call.frame, call.line) for call in calls(error)[-60:]]
    frames = "".join(traceback.StackSummary.extract(iter(walked)).format())
    start = "Traceback (most recent call last):\n" if frames else ""
    # A worker's and a replica's frames are told again in the message.
    return f"{start}{frames}{type(error).__name__}: {_RETOLD.sub('', message_of(error))}"


def message_of(error: BaseException) -> str:
    """What `str` would give, where that runs nothing of the program's."""
    said = error.args[0] if error.args else ""
    if len(error.args) == 1 and type(said) is str:
        return said
    if type(error).__str__ in _BUILT_IN and all(type(one) in (str, int, float, type(None)) for one in error.args):
        return str(error)
    return ""


_RETOLD = re.compile(rf'^  File "{re.escape(OURS)}.*\n(?:    .*\n)*', re.MULTILINE)
_BUILT_IN = {BaseException.__str__, OSError.__str__, KeyError.__str__, UnicodeDecodeError.__str__}
