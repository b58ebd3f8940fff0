"""`explain`, and the diagnosis that it returns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from samedevice.catalog import Message, Other, load
from samedevice.doctor import examine
from samedevice.doctor.examine import Culprit
from samedevice.doctor.text.rank import LikelyCause, filled, rank
from samedevice.doctor.text.read import read
from samedevice.doctor.text.traceback import Frame
from samedevice.introspect import exceptions
from samedevice.introspect.tracebacks import last_error, traceback_text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What is known about an error: `print` it, or show it in a notebook or with `rich`.

    Attributes:
        message: the catalog's message that the text holds (`.id`, such as "SD001"), or None.
        says: one sentence: what PyTorch is saying, or why there is nothing to say.
        causes: the likely causes, likeliest first, each with `.id`, `.title`, `.why`, `.fix`, `.lesson` and `.because`.
        culprits: the tensors at fault, most suspect first, each with `.expression`, `.device`, `.shape`, `.owner`,
            `.cause` and `.fix`; empty for text, which does not hold them.
        reads: what the message names: `argument`, `device`, `others`, `op`, as far as it does.
        place: the line of the traceback that failed, as far as can be told.
        other: an error that is not about devices, where the text holds one and no message.
        ask: what to paste for a surer answer, or "".
        note: what went wrong while the culprits were looked for, or "".
        text: what was explained.
    """

    message: Message | None
    says: str
    causes: tuple[LikelyCause, ...] = ()
    culprits: tuple[Culprit, ...] = ()
    reads: Mapping[str, str] = field(default_factory=dict)
    place: Frame | None = None
    other: Other | None = None
    ask: str = ""
    note: str = ""
    text: str = ""

    def __str__(self) -> str:
        from samedevice.doctor.report import as_text

        return as_text(self)

    __repr__ = __str__  # what a prompt shows of explain()

    def _repr_html_(self) -> str:
        from samedevice.doctor.report import as_html

        return as_html(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Text]":
        from samedevice.doctor.report import as_rich

        yield as_rich(self, options.max_width)


def explain(error: str | bytes | BaseException | None = None) -> Diagnosis:
    """What PyTorch is saying in an error, the likely causes in order, the tensor at fault and the lines to change.

    Args:
        error: an exception, or the text of one: a line, a traceback, a log of any length; bytes are read as UTF-8, or
            as UTF-16 if they say so. The last error about devices in a text counts. Without it, the last error that
            nobody caught: that of the cell or the line before, in a notebook or at Python's prompt.

    Of an exception the frames are still alive, so the tensor at fault is looked up in them: nothing of the program's is
    run, moved, printed or kept.

    Raises:
        TypeError: `error` is none of these. No text and no exception raises.

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
        return _of_exception(error)
    if isinstance(error, bytes):
        # PowerShell writes UTF-16, with a byte order mark.
        wide = error.startswith((b"\xff\xfe", b"\xfe\xff"))
        error = error.decode("utf-16" if wide else "utf-8", errors="replace")
    if not isinstance(error, str):
        raise TypeError(
            f"explain() takes an exception or the text of one, as str or bytes, not {type(error).__name__}."
        )
    return _of_text(error)


def _of_text(error: str) -> Diagnosis:
    found = read(error)
    if found is None:
        return Diagnosis(None, _UNKNOWN if error.strip() else _EMPTY, ask=_WHOLE, text=error)
    if isinstance(found, Other):
        return Diagnosis(None, f"This is not a device error. {found.says}", other=found, text=error)
    message = found.message
    return Diagnosis(
        message,
        next(filter(None, (filled(sentence, found.reads) for sentence in message.says))),
        rank(found),
        reads=found.reads,
        place=found.place,
        ask=message.ask or ("" if found.frames else _TRACEBACK),
        text=error,
    )


def _of_exception(error: BaseException) -> Diagnosis:
    """Of an error and those that it was raised from, the first that is about devices."""
    read = [(one, _of_message(one)) for one in exceptions.chain(error)]
    error, diagnosis = next((pair for pair in read if pair[1].message), read[0])
    diagnosis = replace(diagnosis, ask="")
    if diagnosis.message is None:
        return diagnosis
    likely = [cause.id for cause in diagnosis.causes]
    many = {possible.id for possible in diagnosis.message.causes}
    try:
        culprits = examine.culprits(error, likely, is_mismatch=many >= _OF_A_MISMATCH)
        found = {culprit.cause: culprit for culprit in reversed(culprits)}
        named = dict.fromkeys(culprit.cause for culprit in culprits)
        first = [LikelyCause(load().causes[id_], (found[id_].sentence,)) for id_ in named]
    except Exception as failure:  # the doctor's own fault must not hide the program's
        return replace(diagnosis, note=f"The frames could not be examined ({type(failure).__name__}): {_REPORT}")
    rest = (cause for cause in diagnosis.causes if cause.id not in found)
    return replace(diagnosis, culprits=culprits, causes=(*first, *rest))


def _of_message(error: BaseException) -> Diagnosis:
    """What its message says; the traceback speaks for causes, but a line of code that quotes a message is none."""
    alone = _of_text(f"{exceptions.name(error)}: {exceptions.message(error)}")
    whole = _of_text(_text_of(error)) if alone.message else alone
    return whole if whole.message else alone


def _text_of(error: BaseException) -> str:
    """Its traceback and message; its message alone, should the traceback not be readable."""
    try:
        return traceback_text(error)
    except Exception:
        return f"{exceptions.name(error)}: {exceptions.message(error)}"


# What any message has among its causes that says no more than that two tensors met.
_OF_A_MISMATCH = {"input_not_moved", "tensor_created_in_forward_without_device", "unregistered_tensor_attribute"}
_NO_ERROR = "There is no error to explain: none was raised here that nobody caught."
_REPORT = "what follows is read from the text of the error alone."
_EMPTY = "There is no text to explain."
_UNKNOWN = "This text holds no PyTorch device error that we know."
_WHOLE = "Paste the whole error, from `Traceback (most recent call last)` to its last line."
_TRACEBACK = (
    "For a surer answer paste the whole traceback, from `Traceback (most recent call last)` to its last line: "
    "its frames often tell which cause it is."
)
