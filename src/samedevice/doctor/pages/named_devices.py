"""The causes that fit the devices of a message: a page lists no cause that these devices exclude.

The doctor reads two devices in a message and weighs its causes by them (samedevice.doctor.text.rank). A page stands for
all the messages of its text, so it asks of each pair of devices that the text can name which causes that pair leaves.
"""

import re
from dataclasses import dataclass

from samedevice.catalog import Cause, Message

# What messages call a device: a type of tensors, the number of a GPU, a backend.
_ALIASES = {
    "cpu": ("cpu", "cpu:0", "CPU", "torch.FloatTensor"),
    "cuda:0": ("cuda:0", "cuda", "CUDA", "torch.cuda.FloatTensor", "0"),
    "cuda:1": ("cuda:1", "cuda", "CUDA", "torch.cuda.FloatTensor", "1"),
    "xpu:0": ("xpu:0", "npu:0", "xpu", "npu", "XPU", "NPU"),
    "xpu:1": ("xpu:1", "npu:1", "xpu", "npu", "XPU", "NPU"),
    "mps": ("mps:0", "xpu:0", "npu:0", "mps", "xpu", "npu", "MPS", "XPU", "NPU"),
    "meta": ("meta",),
}
_OTHER_BACKENDS = re.compile("mps|xpu|npu|hpu", re.IGNORECASE)


_OLD = "legacy"  # the subject of messages from when PyTorch had no device but the CPU and CUDA


@dataclass(frozen=True)
class Pair:
    """Two devices of a message: an anchor for pages, what readers call the pair, what the catalog calls it."""

    anchor: str
    name: str
    between: str
    devices: tuple[str, str]


PAIRS = (
    Pair("cpu-and-cuda", "cpu and cuda:0", "cpu and accelerator", ("cpu", "cuda:0")),
    Pair("two-gpus", "cuda:0 and cuda:1", "two accelerators", ("cuda:0", "cuda:1")),
    Pair("mps-or-xpu", "mps or xpu", "cpu and accelerator", ("cpu", "mps")),
    Pair("two-xpus", "two of xpu or npu", "two accelerators", ("xpu:0", "xpu:1")),
    Pair("meta", "meta", "meta", ("meta", "cuda:0")),
)


def pairs_named(message: Message, readings: list[dict[str, str]]) -> list[Pair]:
    """Return the pairs of devices that the message can name; none, if it names no devices.

    Args:
        message: a message of the catalog.
        readings: what the doctor reads in its texts (`Diagnosis.reads`).
    """
    read = {pair for reads in readings if (pair := _pair_read(reads))}
    said = {pair for pair in PAIRS if pair.between in message.between}
    if not read and not said:
        return []
    texts = [" ".join(text["text"].split()) for text in [*message.texts, *message.examples]]
    possible = PAIRS[:2] if message.subject == _OLD else PAIRS
    fitting = [pair for pair in possible if any(_fits_into(pair, message, text) for text in texts)]
    return [pair for pair in PAIRS if pair in read or pair in said or pair in fitting]


def weight(cause: Cause, message: Message, pair: Pair) -> float | None:
    """Return how much the pair's devices speak for a cause of the message, or None if they exclude it."""
    if cause.between and pair.between not in cause.between:
        return None
    orders = [_reads(pair, *pair.devices), _reads(pair, *reversed(pair.devices))]
    points = [
        possible.points
        for possible in message.causes
        if possible.id == cause.id and any(_holds(possible.when, reads) for reads in orders)
    ]
    return sum(number for number in points if number > 0) if points else None


def _pair_read(reads: dict[str, str]) -> Pair | None:
    between = "meta" if reads.get("device_kind") == "meta" else reads.get("between")
    is_other = bool(_OTHER_BACKENDS.search(f"{reads.get('device', '')} {reads.get('others', '')}"))
    same = [pair for pair in PAIRS if pair.between == between]
    return next((pair for pair in same if ("cuda:0" not in pair.devices) == is_other), same[0] if same else None)


def _fits_into(pair: Pair, message: Message, text: str) -> bool:
    """Tell whether the message could be about these devices: its pattern reads them, if they are put into the text."""
    for pattern in message.patterns:
        found = re.search(pattern, text, re.ASCII)
        if not found or not {"device", "others"} <= found.re.groupindex.keys():
            continue
        if None in found.group("device", "others"):
            continue
        devices = dict(zip(("device", "others"), (_ALIASES[name][0] for name in pair.devices), strict=True))
        changed = text
        for name in sorted(devices, key=lambda name: -found.start(name)):  # the last first, so that the other stays
            changed = changed[: found.start(name)] + devices[name] + changed[found.end(name) :]
        again = re.search(pattern, changed, re.ASCII)
        if again and again.group("device", "others") == (devices["device"], devices["others"]):
            return True
    return False


def _reads(pair: Pair, device: str, others: str) -> dict[str, tuple[str, ...]]:
    kinds = {"cpu": "cpu", "meta": "meta"}
    return {
        "between": (pair.between,),
        "device": _ALIASES[device],
        "others": _ALIASES[others],
        "device_kind": (kinds.get(device, "accelerator"),),
        "others_kind": (kinds.get(others, "accelerator"),),
    }


def _holds(when: dict[str, str], reads: dict[str, tuple[str, ...]]) -> bool:
    """Tell whether a cause's conditions on devices hold for these; its conditions on other words do not count."""
    return all(
        any(re.fullmatch(want, value, re.ASCII) for value in reads[name])
        for name, want in when.items()
        if name in reads
    )
