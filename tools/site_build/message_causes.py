"""The causes of a message as its page lists them: the most likely one, and the others in groups by devices.

A cause that all devices of the message exclude is left out. A group holds what is likely with its pair of devices, the
most likely first. What is as likely with any pair has a group of its own, and so have the causes that nothing in the
message tells from the others.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from samedevice import explain
from samedevice.catalog import Cause, Message, load
from samedevice.doctor.text.rank import filled
from site_build.named_devices import PAIRS, pairs_named, weight

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
    newest = explain(message.texts[0]["text"])
    diagnoses = [newest, *(explain(text["text"]) for text in [*message.texts[1:], *message.examples])]
    of_message = [diagnosis for diagnosis in diagnoses if diagnosis.message and diagnosis.message.id == message.id]
    because: dict[str, str] = {}
    for diagnosis in of_message:
        said = _said_of_devices_alone(message, diagnosis.reads)
        for likely in diagnosis.causes:
            own = (reason for reason in likely.because if reason not in said)
            because.setdefault(likely.cause.id, " ".join(own))
    possible = [load().causes[name] for name in dict.fromkeys(possible.id for possible in message.causes)]
    pairs = pairs_named(message, [dict(diagnosis.reads) for diagnosis in of_message])
    weights: dict[str, dict[str, float]] = {}
    for cause in possible:
        found = {pair.anchor: weight(cause, message, pair) for pair in pairs}
        weights[cause.id] = {anchor: points for anchor, points in found.items() if points is not None}
    listed = [cause for cause in possible if weights[cause.id] or not pairs]
    known = [found.cause.id for found in newest.causes if found.cause in listed]
    # Without devices to go by, the order is the doctor's, then the catalog's.
    order = {name: number for number, name in enumerate(dict.fromkeys([*known, *(cause.id for cause in listed)]))}
    rows = sorted((Row(cause, because.get(cause.id, "")) for cause in listed), key=lambda row: order[row.cause.id])
    first, others = (rows[0], rows[1:]) if known else (None, rows)
    is_one_pair = len({pair.between for pair in pairs}) < 2
    groups = (
        [Group("others", "Other causes" if first else "Causes", others)]
        if is_one_pair
        else _by_devices(others, weights)
    )
    return Causes(newest.says, first, [group for group in groups if group.rows])


def _said_of_devices_alone(message: Message, reads: Mapping[str, str]) -> set[str | None]:
    """Return the reasons that only name the devices, as the group of a cause does."""
    return {filled(cause.because, dict(reads)) for cause in message.causes if cause.when.keys() <= _DEVICES}


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
    """Tell in which group a cause stands whose weight with each pair is known."""
    most = max(points.values())
    if most <= 0:
        return "traceback"
    best = [anchor for anchor, weight in points.items() if weight == most]
    return "any-devices" if {"cpu-and-cuda", "two-gpus"} <= set(best) else best[0]
