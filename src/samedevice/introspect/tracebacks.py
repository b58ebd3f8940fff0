"""The last error that nobody caught, and the text that Python would print of an error."""

import re
import sys
import traceback

from samedevice.introspect import exceptions
from samedevice.introspect.frames import calls
from samedevice.introspect.libraries import OURS


def last_error() -> BaseException | None:
    """Return the last error that nobody caught, which Python and IPython keep."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None


def traceback_text(error: BaseException) -> str:
    """Print the traceback of an error, without our own frames, and its message."""
    walked = [(call.frame, call.line) for call in calls(error)[-60:]]
    frames = "".join(traceback.StackSummary.extract(iter(walked)).format())
    start = "Traceback (most recent call last):\n" if frames else ""
    # A worker's and a replica's frames are told again in the message.
    return f"{start}{frames}{exceptions.name(error)}: {_RETOLD.sub('', exceptions.message(error))}"


_RETOLD = re.compile(rf'^  File "{re.escape(OURS)}.*\n(?:    .*\n)*', re.MULTILINE)
