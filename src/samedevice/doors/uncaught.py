"""What is done with an error that nobody caught: it is explained first, and then reported as Python would.

Nothing of this can take the place of the program's own error: a fault of the doctor's leaves the error unexplained.
"""

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from samedevice.doors.for_machines import ForMachines
from samedevice.doors.ranks import explained_by, this_rank
from samedevice.doors.stderr import say, write
from samedevice.introspect import exceptions
from samedevice.introspect.tracebacks import without_our_frames

if TYPE_CHECKING:
    from samedevice.doctor import Diagnosis

_TOLD = "_samedevice_told"  # an attribute of an exception
is_run = False  # whether `samedevice run` reports what nobody catches in this process


def diagnosis_of(error: BaseException | None) -> "Diagnosis | None":
    """Explain an error; return None if it is no device error."""
    if not isinstance(error, Exception | BaseExceptionGroup):
        return None
    try:
        from samedevice.doctor import explain

        diagnosis = explain(error)
        str(diagnosis)
        return diagnosis if diagnosis.message else None
    except Exception:  # a fault of ours must not hide the program's
        return None


def is_told(error: BaseException) -> bool:
    """Tell whether the diagnosis of an error, or of one that it was raised from, was shown already."""
    return any(exceptions.attribute(raised, _TOLD) for raised in exceptions.chain(error))


def repeats_what_is_told(error: BaseException) -> bool:
    """Tell whether the diagnosis of an error was shown already, or that of one whose message it quotes."""
    said = exceptions.message(error)
    return any(
        exceptions.attribute(raised, _TOLD) and exceptions.message(raised) in said for raised in exceptions.chain(error)
    )


def mark_as_told(error: BaseException) -> None:
    """Remember that the diagnosis of an error is shown, so that no other door shows it again."""
    exceptions.set_attribute(error, _TOLD, True)


def explain_first(error: BaseException, machines: ForMachines) -> bool:
    """Print the diagnosis of an error and tell the machines, if it is a device error. Return whether it is one."""
    try:
        diagnosis = diagnosis_of(error)
    except KeyboardInterrupt:  # who waits for the end gets the program's own error, without its diagnosis
        return False
    if diagnosis is None:
        return False
    machines.note(diagnosis)
    if is_told(error):
        return True
    mark_as_told(error)
    from samedevice.doctor.report import as_text, terminal_width

    text = f"\n{as_text(diagnosis, width=terminal_width())}\n"
    if other := explained_by(diagnosis):
        say(f"{this_rank()} has the same error as {other}, which explains it.")
        return True
    write(text)
    machines.annotate(diagnosis)
    return True


def explain_ended(ended: SystemExit, machines: ForMachines) -> None:
    """Explain the error for which a program has ended itself: `except Exception: ...; sys.exit(1)`, as Hydra has it."""
    error = ended.__context__
    code: Any = ended.code
    succeeded = code is None or (issubclass(type(code), int) and int.__eq__(code, 0))  # anything else is printed
    if not succeeded and error is not None:
        explain_first(error, machines)


def report(
    error: BaseException, program: str, standard_hook: Callable[..., Any], machines: ForMachines, *, full: bool
) -> None:
    """Explain a device error, then print what Python prints of an uncaught error, without our frames.

    Args:
        error: what the program raised.
        program: the path of its file.
        standard_hook: sys.excepthook, as it was before the program began. One of the program's own is called.
        machines: who else is told.
        full: whether to show all frames.
    """
    explained = explain_first(error, machines)
    forget_ours(error, full)
    hook: Any = getattr(sys, "excepthook", standard_hook)
    if explained and hook is standard_hook and not full:
        from samedevice.doors.folded import folded

        write(folded(error, program))
        return
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, exceptions.traceback(error)  # for pdb.pm()
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    try:
        hook(type(error), error, exceptions.traceback(error))
    except SystemExit:
        raise
    except BaseException as second:  # in the program's own hook: what Python says of it
        write("Error in sys.excepthook:\n")
        trace = without_our_frames(exceptions.traceback(second))
        sys.__excepthook__(type(second), BaseException.with_traceback(second, trace), None)
        write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, exceptions.traceback(error))


def in_thread(hook: Callable[[Any], Any], machines: ForMachines, *, full: bool) -> Callable[[Any], None]:
    """Return a threading.excepthook that explains an error in a thread, and then calls another; the process goes on."""

    def explain_in_thread(args: Any) -> None:
        error = args.exc_value
        if error is not None:
            explain_first(error, machines)
            forget_ours(error, full)
            args = threading.ExceptHookArgs((args.exc_type, error, exceptions.traceback(error), args.thread))
        hook(args)

    return explain_in_thread


def forget_ours(error: BaseException, full: bool = False) -> None:
    """Take our own frames out of the tracebacks of an error.

    Args:
        error: the error; those that it was raised from are changed too.
        full: whether to keep the frames of the simulation that stand below the program's.
    """
    for raised in exceptions.chain(error):
        trace = without_our_frames(exceptions.traceback(raised), outer_only=full)
        BaseException.with_traceback(raised, trace)  # a frozen class may not be set
