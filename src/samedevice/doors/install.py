"""`samedevice.install()`: this process explains the device errors that nobody catches, on real and simulated GPUs.

It is for programs that are not started by `samedevice run`: one line at the top of a script, of a service, of a
conftest.py or of a notebook.
"""

import sys
import threading
import types
from typing import Any

from samedevice.doors import notes as notes_of_exceptions
from samedevice.doors import uncaught
from samedevice.doors.after_import import after_import
from samedevice.doors.for_machines import ForMachines
from samedevice.doors.where_they_fail import explain_where_they_fail
from samedevice.introspect import exceptions
from samedevice.introspect.tracebacks import without_our_frames

_with_notes = False
_waits_for_hydra = False


def install(*, notes: bool = False) -> None:
    """Explain each device error of this process that nobody catches, from now on: what it means and the line to change.

    It is printed on stderr, before the traceback. Nothing else changes, and nothing is done until an error happens:
    torch is not imported, and hooks that are there already (sys.excepthook, threading.excepthook) are called as before.
    A hook that is set later takes its place, so call it after `rich.traceback.install()` and the like.
    In IPython, Jupyter and Colab the diagnosis follows the traceback, as with `%load_ext samedevice`. Calling it twice
    does no harm.

    Args:
        notes: add the diagnosis to the exception as a note (PEP 678) instead of printing it, so that whatever shows the
            exception shows it: pytest, a logger, a service. From Python 3.13 on, an exception gets its note when it is
            raised, also where the program catches it. Before, it gets one only where nobody catches it, in the hooks
            above.

    Example:
        >>> import samedevice
        >>> samedevice.install()  # doctest: +SKIP
    """
    global _with_notes, _waits_for_hydra
    _with_notes = _with_notes or notes
    explain_where_they_fail()
    if _with_notes:
        notes_of_exceptions.add_when_raised()
    if uncaught.is_run:
        return  # `samedevice run` does the rest
    if not getattr(threading.excepthook, _OURS, False):
        threading.excepthook = _first_in_thread(threading.excepthook)
    if not _waits_for_hydra:
        _waits_for_hydra = True
        after_import("hydra._internal.utils", _patch_hydra)
    shell = _shell()
    if shell is not None:
        from samedevice.doors import ipython

        ipython.load(shell)
    elif not getattr(sys.excepthook, _OURS, False):
        sys.excepthook = _first(sys.excepthook)


_OURS = "_samedevice_calls_another"  # an attribute of our hooks


def _tell(error: BaseException) -> None:
    """Print the diagnosis of an error, or note it in the exception."""
    if _with_notes:
        notes_of_exceptions.add(error)
    else:
        uncaught.explain_first(error, ForMachines())
    uncaught.forget_ours(error)


def _first(hook: Any) -> Any:
    def tell_first(kind: Any, error: Any, trace: Any) -> None:
        # A program may call it with anything.
        if isinstance(error, BaseException):
            _tell(error)
        if isinstance(trace, types.TracebackType):
            trace = without_our_frames(trace)
        hook(kind, error, trace)

    vars(tell_first)[_OURS] = True
    return tell_first


def _first_in_thread(hook: Any) -> Any:
    def tell_first(args: Any) -> None:
        error = args.exc_value
        if error is not None:
            _tell(error)
            args = threading.ExceptHookArgs((args.exc_type, error, exceptions.traceback(error), args.thread))
        hook(args)

    vars(tell_first)[_OURS] = True
    return tell_first


def _patch_hydra() -> None:
    """Be told before Hydra catches an error, prints its traceback and ends the process: no hook is called then."""
    utils: Any = sys.modules["hydra._internal.utils"]
    run_and_report = getattr(utils, "run_and_report", None)
    if run_and_report is None:
        return  # another release

    def tell_first(func: Any) -> Any:
        def run() -> Any:
            try:
                return func()
            except Exception as error:
                _tell(error)
                raise

        return run_and_report(run)

    utils.run_and_report = tell_first


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
