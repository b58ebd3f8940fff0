"""Where things are, as data: names, shapes and devices, what they tell of a call, and both as text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

_ROWS = 5  # of a thing on one device; the rest are counted
_RANK = {"cpu": 0, "cuda": 1, "meta": 3, "": 4}  # of a kind of device; any other is 2
_NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


@dataclass(frozen=True)
class Placement:
    """One tensor, or several alike, on one device.

    Attributes:
        device: such as "cuda:0"; "" for what is no tensor and so on no device.
        name: its name within its thing, such as "0.weight"; "" for the thing itself.
        shape: its shape, or None if it has none.
        note: what else to say of it, such as "plain attribute". What has one is folded away last.
        aside: whether it may be on another device than the rest, as an optimizer's step counts may.
    """

    device: str
    name: str = ""
    shape: tuple[int, ...] | None = None
    note: str = ""
    aside: bool = False

    @property
    def number(self) -> bool:
        """A single number on the CPU, which may join tensors of a GPU in arithmetic."""
        return self.shape == () and self.device == "cpu"


@dataclass(frozen=True)
class Thing:
    """What a variable holds: its name, and where its tensors are."""

    name: str
    placements: tuple[Placement, ...]


@dataclass(frozen=True)
class Verdict:
    """Whether a call finds all that it uses on one device: `mark` says which."""

    mark: Literal["yes", "no", "maybe"]
    words: str


def verdict(things: Iterable[Thing]) -> Verdict:
    """Judge what the devices tell. Whether PyTorch refuses depends on the operations, which nobody knows here.

    >>> verdict([Thing("x", (Placement("cpu", shape=(3,)),)), Thing("y", (Placement("cuda:0", shape=(3,)),))])
    Verdict(mark='no', words='two devices, cpu and cuda:0')
    """
    counted = [placement for thing in things for placement in thing.placements]
    firm = devices_of(placement for placement in counted if not placement.aside)
    strict = devices_of(placement for placement in counted if not (placement.aside or placement.number))
    devices = devices_of(counted)
    if not devices:
        return Verdict("yes", "on no device")
    if len(devices) == 1:
        return Verdict("yes", f"all on {devices[0]}")
    if len(firm) == 1:
        return Verdict("yes", f"all on {firm[0]}; step counts may stay on cpu")
    several = f"{_count(len(firm))} devices"
    if len(strict) == 1:
        return Verdict("maybe", f"{several}; in arithmetic, a single CPU number may join")
    return Verdict("no", f"{several}, {joined(firm)}")


def told(call: str, things: Sequence[Thing], judged: Verdict | None = None) -> str:
    """Write a picture as text: a line for each tensor with its name, shape and device, then the verdict."""
    rows: list[tuple[str, ...]] = []
    for thing in things:
        for device in devices_of(thing.placements, nowhere=True):
            shown, more = rows_on(thing, device)
            place = device or "no device"
            rows += [(dotted(thing.name, row.name), shape_text(row.shape), place, row.note) for row in shown]
            rows += [(f"{printable(thing.name)}, {more} more", "", place, "")] * bool(more)
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, [*widths, 0], strict=True)) for row in rows]
    if call:
        lines.append(f"{printable(call)}: {(judged or verdict(things)).words}")
    return "\n".join(line.rstrip() for line in lines)


def sentences(call: str, things: Sequence[Thing], judged: Verdict) -> str:
    """Say all that the picture shows, for those who do not see it."""
    sentences = []
    for device in devices_of((placement for thing in things for placement in thing.placements), nowhere=True):
        parts: list[str] = []
        for thing in things:
            shown, more = rows_on(thing, device)
            for row in shown:
                words = [dotted(thing.name, row.name), shape_text(row.shape), row.note and f"({row.note})"]
                parts.append(" ".join(filter(None, words)))
            parts += [f"{more} more of {thing.name}"] * bool(more)
        sentences.append(f"On {device or 'no device'}: {joined(parts)}.")
    if call:
        sentences.append(f"{printable(call)}: {judged.words}.")
    return " ".join(sentences)


def devices_of(placements: Iterable[Placement], nowhere: bool = False) -> list[str]:
    """Return each device once, the CPU first, then the GPUs by number: always at the same side of a picture."""
    devices = dict.fromkeys(placement.device for placement in placements if placement.device or nowhere)
    return sorted(devices, key=lambda device: (_RANK.get(device.partition(":")[0], 2), len(device), device))


def rows_on(thing: Thing, device: str) -> tuple[list[Placement], int]:
    """Return what is shown of a thing on a device, first what has a note, and how many more there are."""
    here = [placement for placement in thing.placements if placement.device == device]
    if len(here) <= _ROWS:
        return here, 0
    ranks = sorted(range(len(here)), key=lambda index: not here[index].note)
    return [here[index] for index in sorted(ranks[: _ROWS - 1])], len(here) - _ROWS + 1


def dotted(thing: str, name: str) -> str:
    if not name:
        return printable(thing)
    return printable(f"{thing}{name}" if name.startswith("[") else f"{thing}.{name}")


def shape_text(shape: tuple[int, ...] | None) -> str:
    return "" if shape is None else str(tuple(shape))


def printable(text: str) -> str:
    """Write a text on one line, without what a browser would obey or refuse, such as a change of direction or a NUL."""
    return "".join(
        letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in re.sub(r"\s+", " ", text.strip())
    )


def joined(words: Sequence[str]) -> str:
    """Join words as a sentence does: "a, b and c"."""
    *others, last = map(printable, words)
    return f"{', '.join(others)} and {last}" if others else last


def _count(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
