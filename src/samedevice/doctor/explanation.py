"""`explain`: from an error, or the text of one, to its diagnosis."""

import contextlib
import re
from dataclasses import replace
from pathlib import Path

from samedevice.catalog import Other, load
from samedevice.doctor.carried import carried
from samedevice.doctor.causes.registry import registered
from samedevice.doctor.cells import in_cells
from samedevice.doctor.diagnosis import Culprit, Diagnosis
from samedevice.doctor.edits import Edit
from samedevice.doctor.examine import find_culprits
from samedevice.doctor.simulated_class import known_difference
from samedevice.doctor.simulation_limit import limit
from samedevice.doctor.source_at_hand import read_sources
from samedevice.doctor.text.answer import Named, answer
from samedevice.doctor.text.changes import LineFix
from samedevice.doctor.text.rank import LikelyCause
from samedevice.doctor.text.read import Reading, read
from samedevice.doctor.text.says import says
from samedevice.doctor.text.tell import tell
from samedevice.doctor.text.ways import ways
from samedevice.doctor.text.whose import Owner, owner
from samedevice.introspect import exceptions
from samedevice.introspect.namespaces import plain
from samedevice.introspect.tracebacks import last_error, traceback_text


def explain(error: str | bytes | BaseException | None = None) -> Diagnosis:
    """Tell what PyTorch is saying in an error, the likely causes in order, the tensor at fault and the lines to change.

    Args:
        error: an exception, or the text of one: a line, a traceback, a log of any length; bytes are read as UTF-8, or
            as UTF-16 if they say so. The last error about devices in a text counts, in its last 20 million characters.
            Without it, the last error that nobody caught: that of the cell or the line before, in a notebook or at
            Python's prompt.

    Of an exception the frames are still alive, so the tensor at fault is looked up in them: nothing of the program's is
    run, moved, printed or kept.

    Raises:
        TypeError: `error` is not one of these types. Any text and any exception is accepted.

    Example:
        >>> diagnosis = explain(
        ...     "Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors "
        ...     "on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"
        ... )
        >>> diagnosis.message.id, diagnosis.causes[0].id
        ('SD001', 'input_not_moved')

    The messages, their causes and where each comes from are in samedevice/catalog.
    """
    if error is None:
        error = last_error()
        if error is None:
            return Diagnosis(None, _NO_ERROR)
    if isinstance(error, BaseException):
        return in_cells(_of_exception(error))
    if isinstance(error, bytes):
        error = _decoded(error)
    if not isinstance(error, str):
        raise TypeError(
            f"explain() takes an exception or the text of one, as str or bytes, not {type(error).__name__}."
        )
    return in_cells(_of_text(plain(error)))


def explain_log(log: bytes, folder: Path | None) -> Diagnosis:
    """Explain a log, and look up in its source what the traceback only names.

    Args:
        log: the log, as it was written.
        folder: the files below it that the traceback names are read; None reads none.

    Example:
        >>> explain_log(b"RuntimeError: indices should be either on cpu or on the same device", None).message.id
        'SD030'
    """
    text = _decoded(log)
    found = read(text)
    diagnosis = _of_reading(found, text)
    if folder is None or not isinstance(found, Reading):
        return diagnosis
    culprit, note = read_sources(found, folder)
    if culprit is None:
        return replace(diagnosis, note=note)
    first = LikelyCause(load().causes[culprit.cause], (culprit.sentence,))
    rest = (cause for cause in diagnosis.causes if cause.id != culprit.cause)
    return replace(diagnosis, culprits=(culprit,), tell="", causes=(first, *rest))


def _decoded(error: bytes) -> str:
    # PowerShell writes UTF-16, with a byte order mark.
    wide = error.startswith((b"\xff\xfe", b"\xfe\xff"))
    return error.decode("utf-16" if wide else "utf-8", errors="replace")


def _of_text(error: str) -> Diagnosis:
    return _of_reading(read(error), error)


def _of_reading(found: Reading | Other | None, error: str) -> Diagnosis:
    if found is None:
        return Diagnosis(None, _UNKNOWN if error.strip() else _EMPTY, ask=_WHOLE, text=error)
    if isinstance(found, Other):
        return Diagnosis(None, f"This is not a device error. {found.says}", other=found, text=error)
    message = found.message
    causes, named = answer(found)
    culprits = tuple(_read_culprit(each, found) for each in named)
    first = causes[0].cause if causes else None
    others = owner(found, first, [each.change.frame for each in named])
    return Diagnosis(
        message,
        says(found),
        causes,
        culprits,
        tell=_tell(culprits, named),
        ways=ways(found, first) if first is not None and others is None else (),
        owner=others,
        reads=found.reads,
        place=found.place,
        others=found.others,
        last=found.last,
        ask=message.ask or ("" if found.frames else _asked(error)),
        text=error,
    )


def _asked(error: str) -> str:
    """Say what to paste for a surer answer than that to a message without frames."""
    if _OF_TESTS.search(error):
        return _ONE_TEST
    return "" if _LOOKS_LIKE_A_TRACEBACK.search(error) else _TRACEBACK


def _tell(culprits: tuple[Culprit, ...], named: tuple[Named, ...]) -> str:
    if not all(each.can_be_asked for each in named):
        return ""
    modules = [each.change.expression for each in named if each.is_module]
    return tell(culprits, modules, [each.change.expression for each in named if each.may_be_a_number])


def _read_culprit(named: Named, found: Reading) -> Culprit:
    """Make a culprit of what was read from the failing line."""
    cause, change = load().causes[named.cause], named.change
    return Culprit(
        expression=change.expression,
        device="cpu" if found.reads.get("between") == "cpu and accelerator" else "",
        cause=cause.within or cause.id,
        fix=change.text or f"{change.expression}.to(...)",
        case=cause.id if cause.within else "",
        sentence=change.because,
        edits=_edits(change),
        is_read=True,
        instead=change.instead,
    )


def _edits(change: LineFix) -> tuple[Edit, ...]:
    """Return the change as edits, one of each line; none where the line was shortened and its rest is not known."""
    frame = change.frame
    if change.action == "before":
        return (Edit(frame.file, frame.line, "before", change.text, frame.function),)
    old, new = frame.code.split("\n"), change.text.split("\n")
    if not change.text or old[-1].rstrip().endswith(("...", "\u2026")) or len(old) != len(new):
        return ()
    return tuple(
        Edit(frame.file, frame.line and frame.line + at, "replace", after.strip(), frame.function, before.strip())
        for at, (before, after) in enumerate(zip(old, new, strict=True))
        if before != after
    )


def _of_exception(error: BaseException) -> Diagnosis:
    """Diagnose the first device error among an error and those that it was raised from."""
    if (elsewhere := next(filter(None, map(carried, exceptions.chain(error))), None)) is not None:
        return elsewhere
    diagnoses = [(cause, _of_message(cause)) for cause in exceptions.chain(error)]
    error, diagnosis = next((pair for pair in diagnoses if pair[1].message), diagnoses[0])
    diagnosis = limit(error, replace(diagnosis, ask="", culprits=(), tell="", ways=(), others=(), last=""))
    if diagnosis.message is None and diagnosis.other is None:
        with contextlib.suppress(Exception):  # the doctor's own fault must not hide the program's
            return known_difference(error, diagnosis)
    if diagnosis.message is None or diagnosis.other is not None:
        return diagnosis
    likely = [cause.id for cause in diagnosis.causes]
    possible = {cause.id for cause in diagnosis.message.causes}
    try:
        of_any_mismatch = {cause.id for cause in registered().values() if cause.is_of_any_mismatch}
        culprits = find_culprits(error, likely, is_mismatch=possible >= of_any_mismatch)
        sentences = {culprit.cause: culprit.sentence for culprit in reversed(culprits)}
        found = dict.fromkeys(culprit.cause for culprit in culprits)
        first = [LikelyCause(load().causes[id_], (sentences[id_],)) for id_ in found]
    except Exception as failure:  # the doctor's own fault must not hide the program's
        return replace(diagnosis, note=f"The frames could not be examined ({type(failure).__name__}): {_REPORT}")
    rest = (cause for cause in diagnosis.causes if cause.id not in found)
    others = _owner_of(error, "library_bug") if "library_bug" in found else None if found else diagnosis.owner
    return replace(diagnosis, culprits=culprits, causes=(*first, *rest), owner=others)


def _owner_of(error: BaseException, cause: str) -> Owner | None:
    """Return who keeps the code that failed, where the frames have shown that it is a library's."""
    found = read(_text_of(error))
    return owner(found, load().causes[cause], (), is_looked_up=True) if isinstance(found, Reading) else None


def _of_message(error: BaseException) -> Diagnosis:
    """Diagnose an error by its text. A line of the traceback that only quotes a message does not count."""
    alone = _of_text(f"{exceptions.name(error)}: {exceptions.message(error)}")
    whole = _of_text(_text_of(error)) if alone.message else alone
    return whole if whole.message else alone


def _text_of(error: BaseException) -> str:
    """Return its traceback and message; its message alone, if the traceback cannot be read."""
    try:
        return traceback_text(error)
    except Exception:
        return f"{exceptions.name(error)}: {exceptions.message(error)}"


_LOOKS_LIKE_A_TRACEBACK = re.compile(r"Traceback \(most|-->|, line \d|\.py:\d")
_OF_TESTS = re.compile(r"(?:FAILED|ERROR) [^ \n]{1,300}::")
_NO_ERROR = "There is no error to explain: none was raised here that nobody caught."
_REPORT = "what follows is read from the text of the error alone."
_EMPTY = "There is no text to explain."
_UNKNOWN = "This text holds no PyTorch device error that we know."
_WHOLE = "Paste the whole error, from `Traceback (most recent call last)` to its last line."
_ONE_TEST = (
    "This summary does not show which tensor it is. Run one of these tests with `pytest --tb=long`, and paste all that "
    "it prints."
)
_TRACEBACK = (
    "For a surer answer paste the whole traceback, from `Traceback (most recent call last)` to its last line: "
    "its frames often tell which cause it is."
)
