"""A traceback as Python prints it, with one line in the place of neighbouring frames of libraries."""

import itertools
import traceback
from typing import Any

from samedevice.introspect import exceptions
from samedevice.introspect.libraries import is_library


def folded(error: BaseException, program: str) -> str:
    """Return the traceback of an error, and of those that it was raised from.

    Args:
        error: the error.
        program: the path of the program, which is not folded wherever it stands.
    """

    class Folded(traceback.StackSummary):
        def of_the_program(self) -> list[traceback.FrameSummary]:
            """Return the frames without those by which Python itself begins a module."""
            return list(itertools.dropwhile(lambda frame: frame.filename == "<frozen runpy>", self))

        def format(self, **options: Any) -> list[str]:
            lines = []
            for of_library, frames in itertools.groupby(
                self.of_the_program(), lambda frame: frame.filename != program and is_library(frame.filename)
            ):
                those = list(frames)
                if of_library:
                    lines.append(f"  [{len(those)} frame{'s' * (len(those) > 1)} of libraries: --full shows all]\n")
                else:
                    lines += traceback.StackSummary.from_list(those).format(**options)
            return lines

    whole = traceback.TracebackException(type(error), error, exceptions.traceback(error), compact=True)
    todo = [whole]
    while todo:
        shown = todo.pop()
        shown.stack = Folded(shown.stack)
        todo += filter(None, (shown.__cause__, shown.__context__, *(getattr(shown, "exceptions", None) or ())))
    return "".join(whole.format())
