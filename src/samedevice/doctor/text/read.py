"""What a paste says: which message of PyTorch's, with which argument, devices and op, and which frames lead to it."""

import bisect
import itertools
import re
from dataclasses import dataclass

from samedevice.catalog import Message, Other
from samedevice.doctor.text.match import Found, last_message, last_message_unbroken, last_other
from samedevice.doctor.text.normalise import clean, lines, squeezed
from samedevice.doctor.text.traceback import Frame, read_traceback
from samedevice.doctor.text.traced import operands

WINDOW = 200_000  # characters read at once, from the end; the page reads one window
_OVERLAP = 8_000  # no message is longer
_LINES_BEFORE, _LINES_AFTER, _LINE = 1_200, 60, 2_000  # how much around the message, in lines and characters a line
_LINES_OF_TRACE = 600  # of these, in which clues are looked for

CPU, GPUS = "cpu and accelerator", "two accelerators"
INDEXED = "SD030"  # the message that says which part of the line it is: what is indexed, or its index
# What messages that name each argument with its device call them, and what they are elsewhere.
_ALL_NAMED = {
    "query": "query", "key": "key", "value": "value", "condition": "condition", "x": "self", "y": "other"
}  # fmt: skip

_METHOD = re.compile(r"^wrapper_(?:(?:CUDA|XPU|NPU|HPU|MPS|PrivateUse1|Sparse\w{1,20}|Composite\w{1,40})_)?", re.ASCII)
_ACCELERATOR = re.compile("cuda|gpu|mps|xpu|npu|hpu|mtia|hip|xla|privateuse|^[0-9]{1,3}$")


@dataclass(frozen=True)
class Reading:
    """A message found in a paste, what it names (`reads`), and what stands around it.

    Beside what the patterns name, `reads` has `op`, `joined` (the operation that joins a list), `device_kind`,
    `others_kind` and `between` where they follow, and `operands`, the devices in a traced call.
    `trace` has the lines without their indents, each between two line ends, and slashes for backslashes; `own_trace`
    has those that belong to no library's frame, and `below` the files and lines of the frames inside the innermost of
    the user's own.
    """

    message: Message
    reads: dict[str, str]
    frames: list[Frame]
    trace: str
    own_trace: str = ""

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
        shown = [frame for frame in self.frames if frame.code]
        return next((frame for frame in reversed(shown) if not frame.in_library), shown[-1] if shown else None)

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
    """Return the last message about devices in a text, else the last error that we know is about something else."""
    end, other = len(text), None
    while True:
        start = max(0, end - WINDOW)
        window, pieces = _lines(text[start:end])
        joined = " ".join(pieces)
        found = last_message(joined)
        if end == len(text):
            # A terminal may have broken the message inside a word: then it reads on only where the break is cut out.
            unbroken = last_message_unbroken("".join(pieces))
            if unbroken and (found is None or (unbroken.entry is not found.entry and unbroken.holds(found))):
                return _reading(window, pieces, "", unbroken)
        if found and start > 0 and found.start < _OVERLAP:
            # Its traceback stands left of this window.
            window, pieces = _lines(text[max(0, start - WINDOW) : end])
            found = last_message(" ".join(pieces))
        if found:
            return _reading(window, pieces, " ", found)
        other = other or last_other(joined)
        if start == 0:
            return other
        end = start + _OVERLAP


def _lines(text: str) -> tuple[list[str], list[str]]:
    """Return the cleaned lines of a paste, with their indents and without."""
    window = lines(clean(text))
    return window, [squeezed(line) for line in window]


def _reading(window: list[str], pieces: list[str], joint: str, found: Found[Message]) -> Reading:
    starts = list(itertools.accumulate((len(piece) + len(joint) for piece in pieces), initial=0))
    first = bisect.bisect_right(starts, found.start) - 1
    last = bisect.bisect_left(starts, found.end) - 1
    before = window[max(0, first - _LINES_BEFORE) : first]
    after = window[last + 1 : last + 1 + _LINES_AFTER]
    beside = [pieces[first][: found.start - starts[first]], pieces[last][found.end - starts[last] :]]
    before, after = [line[:_LINE] for line in [*before, beside[0]]], [line[:_LINE] for line in [beside[1], *after]]
    traceback = read_traceback(before, after)
    return Reading(
        found.entry,
        _reads(found.match, operands(before)),
        traceback.frames,
        _squeezed([*before, *after][-_LINES_OF_TRACE:]),
        _squeezed(traceback.own_lines[-_LINES_OF_TRACE:]),
    )


def _squeezed(trace: list[str]) -> str:
    return "\n".join(["", *map(squeezed, trace), ""]).replace("\\", "/")


def _reads(match: re.Match[str], traced: str) -> dict[str, str]:
    reads = {name: value for name, value in {**match.groupdict(), "operands": traced}.items() if value}
    if "method" in reads and "op" not in reads:
        reads["op"] = _METHOD.sub("", reads["method"]).strip("_")
    if reads.get("argument") == "tensors" and "op" in reads:
        reads["joined"] = reads["op"]
    for name in ("device", "others"):
        if name in reads:
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
