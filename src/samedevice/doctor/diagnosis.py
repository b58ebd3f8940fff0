"""What `explain` returns: a diagnosis, and the culprits in it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from samedevice.catalog import Message, Other
from samedevice.doctor.edits import Edit
from samedevice.doctor.text.rank import LikelyCause
from samedevice.doctor.text.read import OtherError
from samedevice.doctor.text.traceback import Frame
from samedevice.doctor.text.ways import Way
from samedevice.doctor.text.whose import Owner

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text


Part = TypeVar("Part", Frame, Edit)


@dataclass(frozen=True)
class Culprit:
    """A tensor in the wrong place, or the name of a device that is not there.

    Attributes:
        expression: as it is written in the source: "labels", "self.scale", "criterion.weight".
        device: where it is: "cpu", "cuda:1".
        cause: the id of the cause.
        fix: the line to change, in the program's own names.
        shape: its shape, or None if it is not known.
        owner: who holds it, and how: "plain attribute of Net", "loop variable of a DataLoader"; "" if it was read.
        case: the id of a narrower cause that is known, such as "registered_after_move" of "model_not_moved", else "".
        sentence: what it is, where it is and who holds it, in one sentence.
        edits: the changes that fix it, and with it what would fail next; empty where the fix is no line of the program.
        is_read: whether it was read from the text of an error, and not looked at: its device is then what the message
            says, and its shape is not known.
        instead: other lines, for `__init__`, that fix it for good; or "".
    """

    expression: str
    device: str
    cause: str
    fix: str
    shape: tuple[int, ...] | None = None
    owner: str = ""
    case: str = ""
    sentence: str = field(default="", repr=False)
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    is_read: bool = field(default=False, repr=False)
    instead: str = field(default="", repr=False)


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What is known about an error: `print` it, or show it in a notebook or with `rich`.

    Attributes:
        message: the catalog's message that the text holds (`.id`, such as "SD001"), or None.
        says: one sentence: what PyTorch is saying, or why there is nothing to say.
        causes: the most likely one first, each with `.id`, `.title`, `.why`, `.fix`, `.lesson` and `.because`.
        culprits: the tensors in the wrong place, the most suspect first, each with `.expression`, `.device`, `.shape`,
            `.owner`, `.cause`, `.fix` and `.edits`. Those of a text are read from its failing line: several are
            alternatives, the most likely first.
        tell: where they are alternatives, a line of Python that prints the devices of all of them, else "".
        ways: of a text, what to run so that the tensor is named for certain, each with `.when` and `.command`.
        owner: who keeps the code that failed, where it is not the reader's, with what its user can do (`.tries`,
            `.command`), and what to report to whom (`.report`, `.where`); None where it is the reader's, or may be.
        reads: what the message names: `argument`, `device`, `others`, `op`, as far as it does.
        place: the line of the traceback that failed, as far as can be told.
        others: of a text, the other device errors that it holds, each with `.message` and `.place` (or None).
        last: of a text, the line of an error of another kind that comes last in it, or "".
        other: an error that is not about devices, where the text holds one and no message, or a limit of a simulation.
        ask: what to paste for a surer answer, or "".
        note: what went wrong while the culprits were looked for, or "".
        text: what was explained.
    """

    message: Message | None
    says: str
    causes: tuple[LikelyCause, ...] = ()
    culprits: tuple[Culprit, ...] = ()
    tell: str = ""
    ways: tuple[Way, ...] = ()
    owner: Owner | None = None
    reads: Mapping[str, str] = field(default_factory=dict)
    place: Frame | None = None
    others: tuple[OtherError, ...] = ()
    last: str = ""
    other: Other | None = None
    ask: str = ""
    note: str = ""
    text: str = ""

    def __str__(self) -> str:
        from samedevice.doctor.report import as_text

        return as_text(self)

    __repr__ = __str__  # what a prompt shows of explain()

    @property
    def candidates(self) -> tuple[Culprit, ...]:
        """The culprits, if they are alternatives: one is in the wrong place, and the text does not say which."""
        return self.culprits if len(self.culprits) > 1 and all(each.is_read for each in self.culprits) else ()

    @property
    def is_certain(self) -> bool:
        """Whether the culprits are no alternatives: they were looked up, or the text left one. False without any."""
        return bool(self.culprits) and not self.candidates

    @property
    def more(self) -> str:
        """All that is known, as text: also why it happened, notes, and how to fix the other causes."""
        from samedevice.doctor.report import as_text

        return as_text(self, whole=True)

    def relocated(self, where: Callable[[str, int], tuple[str, int]]) -> "Diagnosis":
        """Return it with other files and lines, such as those of a docstring for its example.

        Args:
            where: what gives the file and the line to show, from the ones that Python has.
        """

        def shown(part: Part) -> Part:
            file, line = where(part.file, part.line)
            return replace(part, file=file, line=line)

        culprits = tuple(replace(each, edits=tuple(map(shown, each.edits))) for each in self.culprits)
        others = tuple(replace(each, place=each.place and shown(each.place)) for each in self.others)
        return replace(self, place=self.place and shown(self.place), culprits=culprits, others=others)

    def _repr_html_(self) -> str:
        from samedevice.doctor.report_html import as_html

        return as_html(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Text]":
        from samedevice.doctor.report import as_rich

        yield as_rich(self, options.max_width)
