"""What a paste says: which message of PyTorch's, with which argument, devices and op, and which frames lead to it."""

import bisect
import functools
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from samedevice.catalog import Message, Other
from samedevice.doctor.text.last_error import last_error
from samedevice.doctor.text.match import Found, last_message_unbroken, last_other, messages
from samedevice.doctor.text.normalise import clean, lines, matched, squeezed
from samedevice.doctor.text.standing import is_in_passing, is_quoted, is_source, passed_over
from samedevice.doctor.text.traceback import Frame, frames_near, read_traceback
from samedevice.doctor.text.traced import traced_call
from samedevice.doctor.text.typed import typed_message, typed_other

MOST = 20_000_000  # characters of a text that are read, from its end
WINDOW = 200_000  # characters read at once, from the end; the page reads one window
_FAR = 2_000_000  # from the end: behind a message in passing, an error is looked for so far
_OVERLAP = 8_000  # no message is longer
_LINES_BEFORE, _LINES_AFTER, _LINE = 1_200, 60, 2_000  # how much around the message, in lines and characters a line
_LINES_OF_OTHERS = 200, 5  # before another message and after it, in which its place is looked for
_OTHERS, _OF_A_MESSAGE = 100, 10  # other messages that are looked at, the last ones: of all, and of one of them
_LINES_OF_TRACE = 600  # of these, in which clues are looked for
_QUOTED = 500  # characters of the message that a report to others repeats
_NAMED = re.compile(r"[\w.]{1,80}(?:Error|Exception): ?$", re.ASCII)

CPU, GPUS = "cpu and accelerator", "two accelerators"
INDEXED = "SD030"  # the message that says which part of the line it is: what is indexed, or its index
# What messages that name each argument with its device call them, and what they are elsewhere.
_ALL_NAMED = {
    "query": "query", "key": "key", "value": "value", "condition": "condition", "x": "self", "y": "other"
}  # fmt: skip

_METHOD = re.compile(r"^wrapper_(?:(?:CUDA|XPU|NPU|HPU|MPS|PrivateUse1|Sparse\w{1,20}|Composite\w{1,40})_)?", re.ASCII)
_ACCELERATOR = re.compile("cuda|gpu|mps|xpu|npu|hpu|mtia|hip|xla|privateuse|^[0-9]{1,3}$")


@dataclass(frozen=True)
class OtherError:
    """A device error that a text holds beside the one that is explained: its message, and its place if it is known."""

    message: Message
    place: Frame | None


@dataclass(frozen=True)
class Reading:
    """A message found in a paste, what it names (`reads`), and what stands around it.

    Beside what the patterns name, `reads` has `op`, `joined` (the operation that joins a list), `device_kind`,
    `others_kind` and `between` where they follow, and `traced` and `operands`, a traced call and its devices.
    `quoted` is the message with the name of its error. `trace` has the lines without their indents, each between two
    line ends, and slashes for backslashes; `own_trace` has those that belong to no library's frame, and `below` the
    files and lines of the frames inside the innermost of the user's own. `others` are the other device errors of the
    text, and `last` is the line of an error of another kind that comes last in it, or "".
    """

    message: Message
    reads: dict[str, str]
    frames: list[Frame]
    trace: str
    own_trace: str = ""
    quoted: str = ""
    others: tuple[OtherError, ...] = ()
    last: str = ""

    @property
    def told_devices(self) -> dict[str, str]:
        """The device of each argument, by PyTorch's name for it, where the message names them all."""
        return {role: self.reads[name].lower() for name, role in _ALL_NAMED.items() if name in self.reads}

    @property
    def names_no_device(self) -> bool:
        """Whether the message says of no tensor where it is."""
        return not self.reads.keys() & {"device", "others"} and not self.told_devices

    @property
    def pair(self) -> str:
        """Between what the tensors met; a message that names no devices is taken to be about the CPU and a GPU."""
        if told := set(self.told_devices.values()):
            return CPU if "cpu" in told else GPUS
        is_told = self.reads.keys() & {"device", "others"} or "meta" in self.message.title.lower()
        is_mixed = self.message.base == "mixed-devices" and not is_told
        return self.reads.get("between", "") or (CPU if is_mixed else "")

    @property
    def is_between_gpus(self) -> bool:
        """Whether the message is about two accelerators, neither of which is the CPU."""
        of_an_index = self.message.id == INDEXED and self.reads.get("others_kind") == "accelerator"
        return self.pair == GPUS or of_an_index

    @property
    def place(self) -> Frame | None:
        """The innermost frame in the user's own files that shows its code, else the innermost that does."""
        return _place(self.frames)

    @property
    def below(self) -> str:
        """The files and the lines of the frames inside the innermost of the user's own."""
        own = [number for number, frame in enumerate(self.frames) if not frame.in_library]
        inner = self.frames[own[-1] + 1 :] if own else self.frames
        return "\n".join(f"{frame.file}\n{frame.code}" for frame in inner)

    @property
    def library_frame(self) -> Frame | None:
        """The frame of an installed package in which PyTorch refused; None where the user's own line called PyTorch."""
        shown = [frame for frame in self.frames if frame.code and (frame.package or not frame.in_library)]
        return shown[-1] if shown and shown[-1].package else None


def read(text: str) -> Reading | Other | None:
    """Return the message about devices that a text explains, else the last error that we know is about something else.

    Of several messages the last one that stands as an error counts: see `samedevice.doctor.text.standing`. Of a text of
    more than 20 million characters the last ones are read.
    """
    text = text[-MOST:]
    end, other, in_passing = len(text), None, None
    while True:
        start = max(0, end - WINDOW)
        part = _part(text[start:end])
        if end == len(text) and (found := _broken(part) or _typed(part)):
            return found
        if start > 0 and part.chosen is not None and part.chosen.start < _OVERLAP:
            # Its traceback stands left of this window.
            part = _part(text[max(0, start - WINDOW) : end])
        if part.chosen is not None:
            reading = _Choice(part, part.chosen, "" if end == len(text) else text[-WINDOW:])
            if not part.is_in_passing(part.chosen):
                return reading.read()
            in_passing = in_passing or reading
        other = other or last_other(part.joined)
        if start == 0 or (in_passing and len(text) - start >= _FAR):
            return in_passing.read() if in_passing else other or typed_other(part.joined)
        end = start + _OVERLAP


@dataclass(frozen=True)
class _Part:
    """What is read at once: its lines, as they are and as patterns match them, and the messages, the last one first."""

    lines: list[str]
    pieces: list[str]
    joint: str
    found: list[Found[Message]]

    @property
    def joined(self) -> str:
        return self.joint.join(self.pieces)

    @functools.cached_property
    def starts(self) -> list[int]:
        """Where each line begins, and the last one ends."""
        return list(itertools.accumulate((len(piece) + len(self.joint) for piece in self.pieces), initial=0))

    @functools.cached_property
    def passed_over(self) -> set[int]:
        return passed_over(self.lines)

    @functools.cached_property
    def counted(self) -> list[Found[Message]]:
        """The messages that are not only quoted."""
        return [found for found in self.found if not is_quoted(self.head(found))]

    @functools.cached_property
    def chosen(self) -> Found[Message] | None:
        """The last message that is an error; else the last one in passing."""
        errors = (found for found in self.counted if not self.is_in_passing(found))
        return next(errors, self.counted[0] if self.counted else None)

    def is_in_passing(self, found: Found[Message]) -> bool:
        return self.first(found) in self.passed_over or is_in_passing(self.head(found))

    def head(self, found: Found[Message]) -> str:
        """Return what stands before a message in its line."""
        first = self.first(found)
        return self.pieces[first][: found.start - self.starts[first]]

    def tail(self, found: Found[Message]) -> str:
        """Return what stands after a message in its last line."""
        last = self.last(found)
        return self.pieces[last][found.end - self.starts[last] :]

    def first(self, found: Found[Message]) -> int:
        return bisect.bisect_right(self.starts, found.start) - 1

    def last(self, found: Found[Message]) -> int:
        return bisect.bisect_left(self.starts, found.end) - 1

    def frames_near(self, found: Found[Message], begins: int) -> list[Frame]:
        """Return the frames of a message's own traceback, which stands below the line of the number `begins`."""
        first, last = self.first(found), self.last(found)
        before = self.lines[max(begins, first - _LINES_OF_OTHERS[0]) : first]
        after = self.lines[last + 1 : last + 1 + _LINES_OF_OTHERS[1]]
        near = [*before, self.head(found)], [self.tail(found), *after]
        return frames_near(*([line[:_LINE] for line in part] for part in near))


def _part(text: str) -> _Part:
    window = lines(clean(text))
    pieces = matched(window)
    return _Part(window, pieces, " ", messages(" ".join(pieces)))


def _broken(part: _Part) -> Reading | None:
    """Return the message of a text that a terminal broke inside a word: it reads on where the break is cut out."""
    unbroken, found = last_message_unbroken("".join(part.pieces)), part.chosen
    if unbroken is None or (found is None and part.found):
        return None
    if found is not None and (unbroken.entry is found.entry or not unbroken.holds(found)):
        return None
    return _reading(_Part(part.lines, part.pieces, "", [unbroken]), unbroken)


def _typed(part: _Part) -> Reading | None:
    """Return the message of a short text that is one in other capitals, or a fragment of one."""
    typed = typed_message(part.joined) if not part.found else None
    return _reading(part, typed) if typed is not None else None


@dataclass(frozen=True)
class _Choice:
    """The message that is explained, the part that holds it, and the end of the text if that is not the part's own."""

    part: _Part
    found: Found[Message]
    end: str

    def read(self) -> Reading:
        reading = _reading(self.part, self.found)
        return replace(reading, others=self._others(reading), last=self._last())

    def _last(self) -> str:
        """Return the line of the error that comes last, unless it is one of the device errors that are named."""
        if self.end:
            below = lines(clean(self.end))
            last = last_error(below, 0, passed_over(below))
        else:
            last = last_error(self.part.lines, self.part.last(self.found) + 1, self.part.passed_over)
        said = last.partition(": ")[2]  # it may be a copy that was cut
        is_named = any(found.family in last.lower() or (said and said in found.match[0]) for found in self.part.counted)
        return "" if is_named else last

    def _others(self, reading: Reading) -> tuple[OtherError, ...]:
        """Return the other messages, each once: it has a place of its own, or none and is no shortened form."""
        part, counted, times = self.part, self.part.counted, Counter[str]()
        places = {_told(OtherError(reading.message, reading.place))}
        families = {self.found.family}
        others: list[tuple[str, OtherError]] = []
        for number, found in enumerate(counted[:_OTHERS]):
            times[found.entry.id] += 1
            if found is self.found or times[found.entry.id] > _OF_A_MESSAGE or is_source(part.head(found)):
                continue
            begins = part.last(counted[number + 1]) + 1 if number + 1 < len(counted) else 0
            other = OtherError(found.entry, _place(part.frames_near(found, begins)))
            if _told(other) not in places:
                places.add(_told(other))
                others.append((found.family, other))
                families |= {found.family} if other.place else set()
        return tuple(other for family, other in reversed(others) if other.place or family not in families)


def _told(error: OtherError) -> tuple[str, str, int]:
    file, line = (error.place.file, error.place.line) if error.place else ("", 0)
    return error.message.id, file.rpartition("/")[2], line


def _place(frames: Sequence[Frame]) -> Frame | None:
    shown = [frame for frame in frames if frame.code]
    return next((frame for frame in reversed(shown) if not frame.in_library), shown[-1] if shown else None)


def _reading(part: _Part, found: Found[Message]) -> Reading:
    first, last = part.first(found), part.last(found)
    before = [*part.lines[max(0, first - _LINES_BEFORE) : first], part.head(found)]
    after = [part.tail(found), *part.lines[last + 1 : last + 1 + _LINES_AFTER]]
    before, after = [line[:_LINE] for line in before], [line[:_LINE] for line in after]
    traceback = read_traceback(before, after)
    return Reading(
        found.entry,
        _reads(found.match, *traced_call(before)),
        traceback.frames,
        _squeezed([*before, *after][-_LINES_OF_TRACE:]),
        _squeezed(traceback.own_lines[-_LINES_OF_TRACE:]),
        _quoted(part, found),
    )


def _quoted(part: _Part, found: Found[Message]) -> str:
    """Return the message with the name of its error, and not what a shell or a log wrote before it."""
    named = _NAMED.search(part.head(found))
    lines = part.joint.join(part.pieces[part.first(found) : part.last(found) + 1])
    return f"{named[0] if named else ''}{lines[len(part.head(found)) :]}"[:_QUOTED]


def _squeezed(trace: list[str]) -> str:
    return "\n".join(["", *map(squeezed, trace), ""]).replace("\\", "/")


def _reads(match: re.Match[str], traced: str, operands: str) -> dict[str, str]:
    reads = {
        name: value for name, value in {**match.groupdict(), "traced": traced, "operands": operands}.items() if value
    }
    if "method" in reads and "op" not in reads:
        reads["op"] = _METHOD.sub("", reads["method"]).strip("_")
    if reads.get("argument") == "tensors" and "op" in reads:
        reads["joined"] = reads["op"]
    for name in ("device", "others"):
        if name in reads:
            reads[name] = "cuda" if reads[name] in ("cu", "cud") else reads[name]  # of a message that was cut
            reads[f"{name}_kind"] = _kind(reads[name])
    if "device" in reads and "others" in reads:
        kinds = {reads["device_kind"], reads["others_kind"]}
        if "meta" in kinds:
            reads["between"] = "meta"
        elif "accelerator" in kinds:
            reads["between"] = CPU if "cpu" in kinds else GPUS
    return reads


def _kind(device: str) -> str:
    """`device` as PyTorch wrote it: a device, a backend, a tensor's type, a number."""
    device = device.lower()
    return "meta" if "meta" in device else "accelerator" if _ACCELERATOR.search(device) else "cpu"
