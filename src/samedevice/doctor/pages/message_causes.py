"""The causes of a message as its page lists them: the most likely one, and the others in groups by devices.

A cause that all devices of the message exclude is left out. A group holds what is likely with its pair of devices, the
most likely first. What is as likely with any pair has a group of its own, and so have the causes that nothing in the
message tells from the others.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from samedevice.catalog import Cause, Message, load
from samedevice.doctor.diagnosis import Diagnosis
from samedevice.doctor.explanation import explain
from samedevice.doctor.pages.named_devices import PAIRS, Pair, pairs_named, weight
from samedevice.doctor.pages.wordings import usual_text
from samedevice.doctor.text.rank import filled

_DEVICES = {"device", "others", "between"}


@dataclass(frozen=True)
class Row:
    """A cause, and why it is likely in a text of the message."""

    cause: Cause
    because: str


@dataclass(frozen=True)
class Group:
    anchor: str
    name: str
    rows: list[Row]


@dataclass(frozen=True)
class Causes:
    """The causes of a message; `by_devices` are the groups that stand for two devices."""

    says: str
    first: Row | None
    groups: list[Group]

    @property
    def ids(self) -> list[str]:
        others = itertools.chain.from_iterable(group.rows for group in self.groups)
        return [row.cause.id for row in ([self.first] if self.first else []) + list(others)]

    @property
    def by_devices(self) -> list[Group]:
        return [group for group in self.groups if group.anchor in {pair.anchor for pair in PAIRS}]


def causes_of(message: Message) -> Causes:
    """Return the causes of a message in the order of its page."""
    usual, readings = _readings(message)
    pairs = pairs_named(message, [dict(reading.reads) for reading in readings])
    possible = _possible(message)
    weights = {cause.id: _weights(cause, message, pairs) for cause in possible}
    listed = [cause for cause in possible if weights[cause.id] or not pairs]

    # Without devices to go by, the order is the doctor's, then the catalog's.
    likely = [found.cause for found in usual.causes if found.cause in listed]
    because = _reasons(message, readings)
    rows = [Row(cause, because.get(cause.id, "")) for cause in sorted(listed, key=_places(likely))]

    first = rows.pop(0) if likely else None
    if _is_one_pair(pairs):
        groups = [Group("others", "Other causes" if first else "Causes", rows)]
    else:
        groups = _by_devices(rows, weights)
    return Causes(usual.says, first, [group for group in groups if group.rows])


def messages_of(cause: Cause, causes: Mapping[str, Causes]) -> list[Message]:
    """Return the messages whose pages list a cause, the most reported first.

    Args:
        cause: the cause.
        causes: the causes that the page of each message lists, by the id of the message.
    """
    messages = [load().messages[name] for name, listed in causes.items() if cause.id in listed.ids]
    return sorted(messages, key=lambda message: (-message.reports, message.id))


def cases_of(cause: Cause) -> list[Cause]:
    """Return the narrower causes that are cases of a cause."""
    return [case for case in load().causes.values() if case.within == cause.id]


def _readings(message: Message) -> tuple[Diagnosis, list[Diagnosis]]:
    """Return what the doctor says of the text that most have, and of all texts that it reads as this message."""
    usual, *others = map(
        explain, [usual_text(message), *(text["text"] for text in [*message.texts, *message.examples])]
    )
    return usual, [found for found in [usual, *others] if found.message and found.message.id == message.id]


def _possible(message: Message) -> list[Cause]:
    """Return each cause that the message can have once, in the catalog's order."""
    return [load().causes[name] for name in dict.fromkeys(possible.id for possible in message.causes)]


def _places(likely: list[Cause]) -> Callable[[Cause], int]:
    """Return a key for sorting: these causes come first, in this order, and all others stay as they were."""
    return lambda cause: likely.index(cause) if cause in likely else len(likely)


def _weights(cause: Cause, message: Message, pairs: list[Pair]) -> dict[str, float]:
    """Return the weight of a cause with each pair of devices that does not exclude it, by the pair's anchor."""
    found = {pair.anchor: weight(cause, message, pair) for pair in pairs}
    return {anchor: points for anchor, points in found.items() if points is not None}


def _reasons(message: Message, readings: list[Diagnosis]) -> dict[str, str]:
    """Return why each cause is likely, from the first text of the message in which the doctor names it."""
    because: dict[str, str] = {}
    for reading in readings:
        said = _said_of_devices_alone(message, reading.reads)
        for likely in reading.causes:
            own = (reason for reason in likely.because if reason not in said)
            because.setdefault(likely.cause.id, " ".join(own))
    return because


def _said_of_devices_alone(message: Message, reads: Mapping[str, str]) -> set[str | None]:
    """Return the reasons that only name the devices, as the group of a cause does."""
    return {filled(cause.because, dict(reads)) for cause in message.causes if cause.when.keys() <= _DEVICES}


def _is_one_pair(pairs: list[Pair]) -> bool:
    """Tell whether the pairs are the same to the catalog, so that they tell no cause from another."""
    return len({pair.between for pair in pairs}) < 2


def _by_devices(rows: list[Row], weights: dict[str, dict[str, float]]) -> list[Group]:
    groups = {pair.anchor: Group(pair.anchor, pair.name, []) for pair in PAIRS}
    groups["any-devices"] = Group("any-devices", "any devices", [])
    groups["traceback"] = Group("traceback", "Only the traceback shows these", [])
    for row in rows:
        groups[_place(weights[row.cause.id])].rows.append(row)
    for pair in PAIRS:
        groups[pair.anchor].rows.sort(key=lambda row: -weights[row.cause.id][pair.anchor])
    return list(groups.values())


def _place(points: dict[str, float]) -> str:
    """Return the group of a cause, from its weight with each pair."""
    most = max(points.values())
    if most <= 0:
        return "traceback"
    best = [anchor for anchor, weight in points.items() if weight == most]
    return "any-devices" if {"cpu-and-cuda", "two-gpus"} <= set(best) else best[0]
