"""The causes by their ids in the catalog. Each file of this folder registers its own with `cause(id)`.

A registered cause gets functions by decorators:

    @NAME.detect   tells whether two tensors met because of this cause
    @NAME.find     finds the tensor, or the name of a device, where the message alone tells the cause
    @NAME.claim    finds it where the frames leave no other cause, whichever tensors met
    @NAME.fix      writes the line to change; None for the usual one
    @NAME.say      writes the sentence about the culprit; "" for the usual one

Detections and claims are asked in the order of order.py, which names each of them.
"""

import contextlib
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from samedevice.doctor.ahead.rest import read_ahead
from samedevice.doctor.causes.at_the_root import at_the_root
from samedevice.doctor.causes.moved import moved_in_line, moved_there
from samedevice.doctor.causes.next_failures import created_behind, left_behind, moved_with
from samedevice.doctor.causes.order import CLAIMS, DETECTIONS
from samedevice.doctor.causes.siblings import siblings
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.culprits.owner import BATCH
from samedevice.doctor.edits import Change, Source

Detect = Callable[[Evidence], bool]
Find = Callable[[Failure], Iterable[Operand]]
Claim = Callable[[Failure, Sequence[str], bool], "list[Operand] | None"]
Fix = Callable[[Evidence], "Change | None"]
Say = Callable[[str, str, "tuple[int, ...] | None"], str]

FixFunction = TypeVar("FixFunction", bound=Fix)

_causes: dict[str, "Cause"] = {}
_detections: dict[str, tuple["Cause", Detect]] = {}  # by their names in order.py
_claims: dict[str, tuple["Cause", Claim]] = {}


@dataclass(eq=False)
class Cause:
    """What the doctor knows of a cause, besides the words that the catalog has for it.

    Args:
        id: its id in the catalog.
        is_alone: whether it is about one tensor or one name, wherever other tensors are: they are not compared.
        is_of_any_mismatch: whether each message has it that only says that tensors on two devices met.
    """

    id: str
    is_alone: bool = False
    is_of_any_mismatch: bool = False
    _find: Find | None = None
    _fix: Fix | None = None
    _say: Say | None = None

    def detect(self, function: Detect) -> Detect:
        """Register a function that tells whether it is this cause."""
        _detections[self._place(function, DETECTIONS, "DETECTIONS")] = self, function
        return function

    def find(self, function: Find) -> Find:
        """Register the function that finds what the message is about, most suspect first."""
        self._find = function
        return function

    def claim(self, function: Claim) -> Claim:
        """Register a function of the failure, the likely causes and whether tensors on two devices met.

        It returns None where it may be another cause.
        """
        _claims[self._place(function, CLAIMS, "CLAIMS")] = self, function
        return function

    def _place(self, function: Callable[..., object], names: Sequence[str], called: str) -> str:
        """Return the name of a function in order.py, which must have it."""
        name = f"{self.id}: {function.__name__}"
        if name not in names:
            raise ValueError(f'{called} in causes/order.py lacks "{name}": write it above all that it is asked before')
        return name

    def fix(self, function: FixFunction) -> FixFunction:
        """Register the function that writes the line to change."""
        self._fix = function
        return function

    def say(self, function: Say) -> Say:
        """Register the function that writes the sentence about the culprit, of its expression, device and shape."""
        self._say = function
        return function

    def found_in(self, failure: Failure) -> list[Operand]:
        """Return what the message is about, most suspect first."""
        return list(self._find(failure)) if self._find is not None else []

    def change(self, evidence: Evidence) -> Change:
        """Write the line to change, in the program's names, and where it goes, with those of what would fail next."""
        change = self._with_the_next(evidence)
        return replace(change, text=Source.of_call(evidence.call).named(change.text))

    def _with_the_next(self, evidence: Evidence) -> Change:
        change = evidence.operand.change or self._change_of(evidence)
        with contextlib.suppress(Exception):  # what fails next is an extra: a fault in it must not hide the culprit
            for more in self._next(evidence, change):
                change += more
        return change

    def _next(self, evidence: Evidence, change: Change) -> Iterator[Change]:
        """Yield the changes of what would fail next."""
        alike = list(siblings(evidence)) if evidence.operand.change is None and not self.is_alone else []
        ahead = read_ahead(evidence, moved_with(evidence, change)) if change.parts else None
        alike = [found for found in alike if ahead is None or not ahead.is_kept(found.operand.tensor)]
        changes = [(found, self._change_of(found)) for found in alike]
        yield from (change for _, change in changes)
        if ahead is not None:
            known = [found for found, change in changes if change.parts]
            for found, there in left_behind(evidence, known, ahead):
                own = (detected(found) or self)._change_of(found)
                yield own if own.parts or there is None else there
            yield from created_behind(evidence, ahead)

    def _change_of(self, evidence: Evidence) -> Change:
        """Write the line to change for one tensor alone."""
        own = self._fix(evidence) if self._fix is not None else None
        if own is not None and not own.stands_already:
            return own
        usual = at_the_root(evidence) or moved_there(evidence)
        if usual.stands_already:
            usual = moved_in_line(evidence)
        return Change(usual.text) if usual.stands_already else usual

    def sentence(self, expression: str, device: str, shape: tuple[int, ...] | None, owner: str) -> str:
        """Say what the culprit is, where it is and who holds it."""
        own = self._say(expression, device, shape) if self._say is not None else ""
        size = f" (shape {shape})" if shape is not None else ""
        if owner == BATCH:
            return f"A batch of `{expression}`{size} is on {device}."
        return own or f"`{expression}`{size} is on {device}. {_held_by(owner)}"


def _held_by(owner: str) -> str:
    """Say as a sentence who holds it: "It is a plain attribute of Net.", "It was created in this call."."""
    begins = owner.partition(" ")[0]
    if begins in ("created", "written"):
        return f"It was {owner}."
    article = {"in": "", "optimizer": "", "result": "the ", "gradient": "the "}.get(begins)
    if article is None:
        article = "an " if begins[:1] in "aeiou" else "a "
    return f"It is {article}{owner}."


def cause(id: str, *, is_alone: bool = False, is_of_any_mismatch: bool = False) -> Cause:
    """Register a cause; the arguments are those of `Cause`."""
    if id in _causes:
        raise ValueError(f"the cause {id!r} is registered twice")
    _causes[id] = Cause(id, is_alone, is_of_any_mismatch)
    return _causes[id]


def known(id: str) -> Cause:
    """Return a cause by its id; one that no file of this folder has is only known by its message."""
    return registered().get(id) or Cause(id)


@functools.cache
def registered() -> dict[str, Cause]:
    """Return all registered causes by their ids: each file of this folder is imported, once."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(module.name)
    for name in {*DETECTIONS} - _detections.keys() | {*CLAIMS} - _claims.keys():
        raise ValueError(f'no file registers "{name}" of causes/order.py: write that function, or remove the line')
    return _causes


def detected(evidence: Evidence) -> Cause | None:
    """Return the cause of a tensor in the wrong place, by the first detection that holds."""
    registered()
    return next((cause for cause, detect in map(_detections.__getitem__, DETECTIONS) if detect(evidence)), None)


def claimed(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> tuple[Cause, list[Operand]] | None:
    """Return the cause that the frames tell for sure, and what it is about; None where it may be any."""
    registered()
    for cause, claim in map(_claims.__getitem__, CLAIMS):
        operands = claim(failure, likely, is_mismatch)
        if operands is not None:
            return cause, operands
    return None
