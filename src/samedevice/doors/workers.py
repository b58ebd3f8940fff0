"""Errors of DataLoader workers, of replicas and of the thread that pins memory are explained where they are raised.

`explain` finds there what is known of them, once they have been raised again in the program (doctor/carried.py).
"""

import functools
import sys
from pathlib import Path
from typing import Any

from samedevice.doors.after_import import after_import

_BEGIN = (
    "import sys; sys.path.append({root!r}); from samedevice.doors import workers; workers.explain_where_they_fail()"
)
_is_on = False


def explain_where_they_fail() -> None:
    """From now on, let each error that PyTorch carries from elsewhere bring its diagnosis along, in this process.

    To call it twice does no harm. A process that is forked inherits it; one that is spawned, as workers are on Windows
    and macOS, is told so before its own work (multiprocessing.spawn.get_preparation_data).
    """
    global _is_on
    if not _is_on:
        _is_on = True
        after_import("torch._utils", _patch_wrapper)
        after_import("multiprocessing.spawn", _patch_spawn)


def _patch_wrapper() -> None:
    wrapper: Any = sys.modules["torch._utils"].ExceptionWrapper
    wrap = wrapper.__init__

    @functools.wraps(wrap)
    def wrap_and_explain(self: Any, exc_info: Any = None, *args: Any, **kwargs: Any) -> None:
        wrap(self, exc_info, *args, **kwargs)
        error = (exc_info or sys.exc_info())[1]
        from samedevice.doctor.carried import carry
        from samedevice.doors.uncaught import diagnosis_of

        diagnosis = diagnosis_of(error)
        if diagnosis is not None:
            carry(self, diagnosis)

    wrapper.__init__ = wrap_and_explain


def _patch_spawn() -> None:
    spawn: Any = sys.modules["multiprocessing.spawn"]
    prepare = spawn.get_preparation_data

    @functools.wraps(prepare)
    def prepare_and_explain(name: str) -> dict[str, Any]:
        return {"samedevice_errors": _Beginning(), **prepare(name)}

    spawn.get_preparation_data = prepare_and_explain


class _Beginning:
    """Does the same where it is unpickled. As text, since it is read before the new process's sys.path is set."""

    def __reduce__(self) -> Any:
        return exec, (_BEGIN.format(root=str(Path(__file__).parents[2])),)
