"""Answers on standard output."""

import os
import sys

from samedevice.doors.program import Misuse


def write_out(answer: str | bytes) -> None:
    """Write an answer on standard output. A reader such as `| head`, which has read enough, may close it.

    Args:
        answer: a text, or bytes that are written as they are.

    Raises:
        Misuse: there is no standard output, or it cannot be written.
    """
    if sys.stdout is None:
        raise Misuse("there is no standard output to write the answer to.")
    try:
        if isinstance(answer, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(answer)
        else:
            if hasattr(sys.stdout, "reconfigure"):  # a console may lack a character that a paste, or the catalog, has
                sys.stdout.reconfigure(errors="backslashreplace")
            sys.stdout.write(answer)
        sys.stdout.flush()
    except OSError as error:
        # What is left unwritten would fail again: https://docs.python.org/3/library/signal.html#note-on-sigpipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise Misuse(f"the answer cannot be written: {error.strerror}.") from None
