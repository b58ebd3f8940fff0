"""`explain`, and the diagnosis that it returns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from samedevice.catalog import Message, Other
from samedevice.doctor.frames import Frame
from samedevice.doctor.ranking import LikelyCause, filled, rank
from samedevice.doctor.reading import read

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text


@dataclass(frozen=True)
class Diagnosis:
    """What is known about an error: `print` it, or show it in a notebook or with `rich`.

    Attributes:
        message: the catalog's message that the text holds (`.id`, such as "SD001"), or None.
        says: one sentence: what PyTorch is saying, or why there is nothing to say.
        causes: the likely causes, likeliest first, each with `.id`, `.title`, `.why`, `.fix`, `.lesson` and `.because`.
        culprits: the tensors at fault; empty, because text does not hold them.
        reads: what the message names: `argument`, `device`, `others`, `op`, as far as it does.
        place: the line of the traceback that failed, as far as can be told.
        other: an error that is not about devices, where the text holds one and no message.
        ask: what to paste for a surer answer, or "".
        text: what was explained.
    """

    message: Message | None
    says: str
    causes: tuple[LikelyCause, ...] = ()
    culprits: tuple[()] = ()
    reads: Mapping[str, str] = field(default_factory=dict)
    place: Frame | None = None
    other: Other | None = None
    ask: str = ""
    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        from samedevice.doctor.rendering import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from samedevice.doctor.rendering import as_html

        return as_html(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Text]":
        from samedevice.doctor.rendering import as_rich

        yield as_rich(self, options.max_width)


def explain(error: str | bytes) -> Diagnosis:
    """What PyTorch is saying in an error that someone pasted, the likely causes in order, and the lines to change.

    Args:
        error: the text of an error: one line, a traceback, a log of any length; bytes are read as UTF-8, or as UTF-16
            if they say so. The last error about devices in it counts.

    Raises:
        TypeError: `error` is neither str nor bytes. No text raises.

    Example:
        >>> diagnosis = explain(
        ...     "Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors "
        ...     "on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"
        ... )
        >>> diagnosis.message.id, diagnosis.causes[0].id
        ('SD001', 'input_not_moved')

    The messages, their causes and where each comes from are in samedevice/catalog.
    """
    if isinstance(error, bytes):
        # PowerShell writes UTF-16, with a byte order mark.
        wide = error.startswith((b"\xff\xfe", b"\xfe\xff"))
        error = error.decode("utf-16" if wide else "utf-8", errors="replace")
    if not isinstance(error, str):
        raise TypeError(f"explain() takes the text of an error, as str or bytes, not {type(error).__name__}.")
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


_EMPTY = "There is no text to explain."
_UNKNOWN = "This text holds no PyTorch device error that we know."
_WHOLE = "Paste the whole error, from `Traceback (most recent call last)` to its last line."
_TRACEBACK = (
    "For a surer answer paste the whole traceback, from `Traceback (most recent call last)` to its last line: "
    "its frames often tell which cause it is."
)
