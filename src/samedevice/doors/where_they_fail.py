"""Errors that have to be explained where they fail, because later the frames are gone, or the tensors have moved.

They are those of DataLoader workers, of replicas, of the thread that pins memory and of processes that
torch.multiprocessing.spawn starts, which PyTorch brings to the program as text, and those under Lightning's Trainer.
They carry the diagnosis along, and `explain` finds it (doctor/carried.py). Nothing of this prints anything.
"""

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import Any

from samedevice.doors.after_import import after_import
from samedevice.doors.spawned import run_first
from samedevice.doors.uncaught import diagnosis_of

_is_on = False


def explain_where_they_fail() -> None:
    """From now on, let such errors of this process carry their diagnosis. Calling it twice does no harm.

    A process that is forked inherits it. One that is spawned, as a worker is on Windows and macOS, is told so before
    its own work.
    """
    global _is_on
    if not _is_on:
        _is_on = True
        for name in _PATCHES:
            after_import(name, functools.partial(_patch, name))
        run_first("errors", "import samedevice.doors.where_they_fail as errors; errors.explain_where_they_fail()")


def _patch(name: str) -> None:
    with contextlib.suppress(AttributeError):  # another release has another name for it: the text is explained then
        _PATCHES[name](sys.modules[name])


def _explain(error: BaseException | None, carrier: object) -> None:
    """Let the exception itself, or PyTorch's wrapper of it, carry the diagnosis, if there is one."""
    diagnosis = diagnosis_of(error)
    if diagnosis is not None:
        from samedevice.doctor.carried import carry

        carry(carrier, diagnosis)


def _patch_wrapper(utils: Any) -> None:
    wrapper = utils.ExceptionWrapper
    wrap = wrapper.__init__

    @functools.wraps(wrap)
    def wrap_and_explain(self: Any, exc_info: Any = None, *args: Any, **kwargs: Any) -> None:
        wrap(self, exc_info, *args, **kwargs)
        _explain((exc_info or sys.exc_info())[1], self)

    wrapper.__init__ = wrap_and_explain


def _patch_lightning(call: Any) -> None:
    """Be told before Lightning's own cleaning up, which moves the model back to the CPU."""
    interrupt = call._interrupt

    @functools.wraps(interrupt)
    def explain_and_interrupt(trainer: Any, exception: BaseException) -> None:
        _explain(exception, exception)
        interrupt(trainer, exception)

    call._interrupt = explain_and_interrupt


def _patch_processes(spawn: Any) -> None:
    """Leave the diagnosis behind the text, in the file that a process of torch.multiprocessing.spawn leaves."""
    wrap = spawn._wrap

    @functools.wraps(wrap)
    def wrap_and_explain(fn: Any, i: int, args: Any, error_file: str) -> None:
        try:
            wrap(fn, i, args, error_file)
        except SystemExit as ended:
            diagnosis = diagnosis_of(ended.__context__)
            if diagnosis is not None:
                from samedevice.doctor.carried import leave

                with contextlib.suppress(OSError):  # what PyTorch itself says is enough
                    leave(error_file, diagnosis)
            raise

    spawn._wrap = wrap_and_explain


_PATCHES: dict[str, Callable[[Any], None]] = {
    "torch._utils": _patch_wrapper,
    "torch.multiprocessing.spawn": _patch_processes,
    "lightning.pytorch.trainer.call": _patch_lightning,
    "pytorch_lightning.trainer.call": _patch_lightning,
}
