"""What we say on stderr beside the program's own output. A program must not fail because nobody can read it."""

import contextlib
import sys


def say(sentence: str) -> None:
    """Write one line of ours.

    Example:
        >>> say("1 simulated GPU, on the CPU.")
    """
    write(f"samedevice: {sentence}\n")


def write(text: str) -> None:
    """Write a text as it is."""
    with contextlib.suppress(Exception):  # the program may have closed stderr, or put something of its own there
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
