"""The one walker: it finds every tensor in a value, each with the code that reaches it.

`where`, `picture` and the doctor's holders all ask it, so they cannot disagree. It looks into containers, plain
objects, functions, modules and optimizers (samedevice.introspect.contents says how), runs nothing of the program, and
says what it did not look into. It keeps its own queue instead of calling itself, so that nesting may be of any depth.

What is nearest to the value comes first, so a thing that is held in two places gets its shortest name. But what a
module registers belongs to that module, whatever else refers to it: `.to()` moves it.
"""

import itertools
import operator
import sys
from collections import deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from samedevice.introspect import classes, contents, objects
from samedevice.introspect.contents import Parts
from samedevice.placement.places import REGISTRIES, ClassFacts, Place, hooks_of

_HOOKS = "what a hook holds does not belong to the module"
LIMIT = 300_000  # objects that one walk looks at, which takes a few seconds; numbers and texts do not count


@dataclass
class Walk:
    """What a walk found.

    Attributes:
        root: the place of the value that was asked about.
        tensors: the places of all tensors, and of NumPy arrays, in the order in which the value holds them.
        parts: the places in each place that are or hold a tensor, in their order.
        unread: the places of what was left alone, with the reason.
        stopped_at: how many objects it looked at before it stopped; None if it came to the end.
    """

    root: Place
    tensors: list[Place] = field(default_factory=list)
    parts: dict[Place, list[Place]] = field(default_factory=dict)
    unread: list[tuple[Place, str]] = field(default_factory=list)
    stopped_at: int | None = None

    def tensors_in(self, place: Place) -> Iterator[Place]:
        """Yield the places of the tensors in a place that holds some, in the order in which it holds them."""
        waiting = [place]
        while waiting:
            place = waiting.pop()
            parts = self.parts.get(place)
            if parts:
                waiting += reversed(parts)
            else:
                yield place

    @property
    def is_complete(self) -> bool:
        """Whether everything in the value was looked into."""
        return not self.unread and self.stopped_at is None


def walk(value: Any, seen: set[int] | None = None, limit: int = LIMIT, wanted: Container[int] | None = None) -> Walk:
    """Find every tensor in a value.

    Args:
        value: any object.
        seen: the ids of modules that are to be passed over; those that this walk finds are added.
        limit: how many objects to look at before the walk stops and says so.
        wanted: the ids of the parameters and buffers to find; all of them by default.

    Example:
        >>> import torch
        >>> found = walk({"pairs": [(torch.ones(2), 1)], "steps": iter([])})
        >>> [place.path for place in found.tensors]
        ['["pairs"][0][0]']
        >>> [(place.path, why) for place, why in found.unread]
        [('["steps"]', 'reading an iterator uses it up')]
    """
    return _Walker(set() if seen is None else seen, limit, wanted).walk(value)


class _Walker:
    def __init__(self, passed: set[int], limit: int, wanted: Container[int] | None) -> None:
        self._wanted = wanted
        self._passed, self._passed_before, self._limit = passed, frozenset(passed), limit
        self._seen: set[int] = set()
        self._classes: dict[int, ClassFacts] = {}
        self._atoms = set(map(id, contents.ATOMS))
        self._places: list[Place] = []
        self._waiting: deque[Place] = deque()
        self._registered: dict[Place | None, set[int]] = {}  # the ids of tensors, by the outermost module

    def walk(self, value: Any) -> Walk:
        found = self._found = Walk(Place(value, self._class(type(value))))
        self._add(found.root)
        while self._waiting and len(self._places) < self._limit:
            self._look_into(self._waiting.popleft())
        if len(self._places) >= self._limit:
            found.stopped_at = self._limit
        found.parts = _parts_with_tensors(self._places, found.tensors)
        found.tensors = list(found.tensors_in(found.root)) if found.tensors else []
        if not found.tensors:
            found.unread += [(place, _HOOKS) for place in self._hooks()]
        return found

    def _hooks(self) -> Iterator[Place]:
        """Yield the hooks of modules: nobody looks into them, so a module that has some may hold a tensor there."""
        for module in [place for place in self._places if place.facts.is_module]:
            for name, hooks in hooks_of(module.value).items():
                yield self._place(hooks, module, "attribute", name)

    def _add(self, place: Place) -> None:
        """Note a tensor, and put what may hold one into the queue."""
        known = place.facts
        if known.is_tensor or known.is_array:
            if place.loose is None or id(place.value) not in self._registered[place.module]:
                self._places.append(place)
                self._found.tensors.append(place)
                if known.is_array:
                    self._waiting.append(place)
        elif id(place.value) not in self._seen:
            self._seen.add(id(place.value))
            self._places.append(place)
            self._waiting.append(place)

    def _look_into(self, place: Place) -> None:
        if place.facts.is_module and not place.is_registered:
            for module in self._registered_in(place):
                self._read(module)
        else:
            self._read(place)

    def _registered_in(self, root: Place) -> list[Place]:
        """Note what a module and its submodules register, and return the places of those not looked into before."""
        mine = self._registered.setdefault(root.module or root, set())
        modules, waiting, here = [], [root], {id(root.value)}
        while waiting and len(self._places) < self._limit:
            module = waiting.pop()
            if id(module.value) in self._passed_before:
                continue
            own = objects.attributes(module.value)
            for registry, kind in REGISTRIES.items():
                for name, tensor in _pairs(own.get(registry)):
                    if self._class(type(tensor)).is_tensor and id(tensor) not in mine:
                        mine.add(id(tensor))
                        if self._wanted is None or id(tensor) in self._wanted:
                            place = self._place(tensor, module, kind, name)
                            self._places.append(place)
                            self._found.tensors.append(place)
            children = [self._place(child, module, "module", name) for name, child in _pairs(own.get("_modules"))]
            children = [child for child in children if child.facts.is_module and id(child.value) not in here]
            here.update(id(child.value) for child in children)
            self._places += children
            waiting += reversed(children)
            if module is root or id(module.value) not in self._seen:
                self._seen.add(id(module.value))
                modules.append(module)
        self._passed |= here
        return modules

    def _read(self, place: Place) -> None:
        """Add the parts of an object."""
        value, known = place.value, place.facts
        shown = [read(value) for read in known.readers]
        if known.is_array:
            shown.append(contents.elements_of_array(value))
        elif known.is_class:
            shown.append(contents.class_attributes(value))
        elif place.parent is None and objects.is_one_of(value, type(sys)):  # the user asked about this very module
            shown.append(contents.attributes(value))
        for parts in shown:
            for key, part in self._parts(place, known, parts):
                if len(self._places) >= self._limit:
                    return
                self._add(self._place(part, place, parts.kind, key))
        why = known.reading.unread
        if known.reading.in_c and contents.hides(value, shown, lambda kind: self._class(kind).is_atom):
            why = f"Python cannot look into a {classes.name(type(value))}"
        if why:
            self._found.unread.append((place, why))
        known.was_read = True

    def _parts(self, place: Place, known: ClassFacts, parts: Parts) -> Iterator[tuple[Any, Any]]:
        """Return those parts that may hold a tensor."""
        pairs = self._but_atoms(parts)
        if parts.kind == "class attribute" and known.was_read and not known.is_class:
            return iter(())
        if parts.kind == "key" and place.code == ".state" and place.parent is place.optimizer:
            return iter(())  # the parameters again, by which an optimizer keeps its state
        return pairs

    def _but_atoms(self, parts: Parts) -> Iterator[tuple[Any, Any]]:
        """Leave out numbers, texts and the like; there may be ten million of them, so C does the sorting."""
        kind = type(parts.values[0]) if parts.values else None
        # Values of one type are told apart without `id`, because filelock adds an audit hook that makes `id` slow.
        if id(kind) in self._atoms and all(map(operator.is_, map(type, parts.values), itertools.repeat(kind))):
            return iter(())
        kinds = set(map(id, map(type, parts.values)))
        if kinds <= self._atoms:
            return iter(())
        for part in parts.values[:50]:  # what is usual is known before the rest is sorted
            self._class(type(part))
        are_atoms = map(self._atoms.__contains__, map(id, map(type, parts.values)))
        return itertools.compress(zip(parts.keys, parts.values, strict=False), map(operator.not_, are_atoms))

    def _place(self, value: Any, parent: Place, kind: str, key: Any) -> Place:
        return Place(value, self._class(type(value)), parent, kind, key)

    def _class(self, kind: type) -> ClassFacts:
        known = self._classes.get(id(kind))
        if known is None:
            known = self._classes[id(kind)] = ClassFacts(kind)
            if known.is_atom:
                self._atoms.add(id(kind))
        return known


def _parts_with_tensors(places: Iterable[Place], tensors: list[Place]) -> dict[Place, list[Place]]:
    """Return, for each place, those places in it that are or hold a tensor."""
    needed: set[Place] = set()
    for tensor in tensors:
        place: Place | None = tensor
        while place is not None and place not in needed:
            needed.add(place)
            place = place.parent
    parts: dict[Place, list[Place]] = {}
    for place in places:
        if place in needed and place.parent is not None:
            parts.setdefault(place.parent, []).append(place)
    return parts


def _pairs(registry: Any) -> Iterable[tuple[str, Any]]:
    """Return what a module registered; a scripted module keeps it in a class of PyTorch's own."""
    if objects.is_one_of(registry, dict):
        return [(name, held) for name, held in dict.items(registry) if type(name) is str and held is not None]
    if classes.module(type(registry)).startswith("torch.jit"):
        return [(name, held) for name, held in registry.items() if held is not None]
    return ()
