"""Where a value comes from at last: through functions that have returned, containers, attributes and computations.

A root is the factory or the move that put a tensor where it is, in whichever function of the program that stands, or
the attribute of an object that holds it. The search reads the source and runs nothing. It takes no part that is known
to be on another device than the tensor.
"""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from samedevice.catalog import load
from samedevice.doctor.culprits.called_roots import CalledRoots, Place
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.provenance import Provenance, written_call, written_for
from samedevice.introspect import objects, origins
from samedevice.introspect.branches import did_not_run
from samedevice.introspect.deciding import deciding_parts
from samedevice.introspect.expressions import text_of
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin, find_origin
from samedevice.introspect.outside import given_outside, is_from_outside
from samedevice.introspect.paths import (
    ANY,
    Path,
    in_other_branches,
    item_at,
    items_at,
    path_to,
    put_into,
)
from samedevice.introspect.returned import Returned, returned, statement_with
from samedevice.introspect.values import value

_DEPTH = 40  # expressions from the name to a root
_LOOKS = 600  # expressions that are looked at in all
_LOADER = ("torch.utils.data", "DataLoader")
CAME_IN = ("loop", "argument")  # the kinds of roots that a loader or a caller gave


class Search(CalledRoots):
    """A search for the roots of one value.

    Args:
        device: where the value is.
        failure: the frames.
    """

    def __init__(self, device: str, failure: Failure) -> None:
        super().__init__(device)
        self._failure = failure
        self._looks = 0
        self._seen: set[tuple[object, ...]] = set()

    def of(self, source: Provenance) -> list[Provenance]:
        """Return the roots of what a name was given, each once; none where they cannot be told."""
        node, call = source.origin.value, source.call
        if node is None:
            return []
        statement = source.origin.statement if isinstance(source.origin.statement, ast.stmt) else None
        place = Place(call, statement, source.name)
        is_of_a_loop = source.origin.kind == "loop"
        path = path_to(source.name, source.origin)
        if is_of_a_loop and not isinstance(source.origin.statement, ast.stmt):
            place = replace(place, statement=call.statement)
        roots = [*self._roots(node, place, path, _DEPTH)]
        if container := re.match(r"(\w+)\[", source.name):
            roots += self._put_into(container[1], node, place, (ANY, *path), _DEPTH)
        found = sorted(roots, key=lambda root: root.origin.kind in CAME_IN)
        return _each_once(found)

    def of_an_attribute(self, owner: Any, name: str) -> list[Provenance]:
        """Return the roots of what the methods of an object assign to an attribute."""
        place = Place(self._failure.user_call, None)
        return _each_once(self._kept_as(owner, name, place, (), _DEPTH))

    def of_an_assignment(self, assignment: origins.Assignment, owner: Any) -> list[Provenance]:
        """Return the roots of what a method of an object assigns to an attribute."""
        return _each_once(self._given_by(assignment, owner, Place(self._failure.user_call, None), (), _DEPTH))

    def _roots(self, node: ast.expr, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        looked_at = (id(node), id(place.call.frame.f_code), id(place.statement), *map(_told_apart, path))
        if looked_at in self._seen:
            return  # a loop leads back to it
        self._seen.add(looked_at)
        self._looks += 1
        if depth == 0 or self._looks > _LOOKS or place.call.scope is None or self._is_elsewhere(node, place, path):
            return
        depth -= 1
        match node:
            case ast.Name():
                yield from self._of_a_name(node, place, path, depth)
            case ast.Attribute():
                yield from self._of_an_attribute(node, place, path, depth)
            case ast.Subscript():
                yield from self._of_a_subscript(node, place, path, depth)
            case ast.Call() if not self._is_of_a_layer(node, place):
                yield from self._of_a_call(node, place, path, depth)
            case ast.Call():
                pass
            case ast.Tuple(elts=items) | ast.List(elts=items):
                yield from self._of_items(items, place, path, depth)
            case ast.Dict(keys=keys, values=values):
                for key, item in zip(keys, values, strict=True):
                    if not path or path[0] is ANY or (isinstance(key, ast.Constant) and key.value == path[0]):
                        yield from self._roots(item, place, path[1:], depth)
            case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item) | ast.DictComp(value=item):
                yield from self._roots(item, place, path[1:], depth)
            case _:
                for part in deciding_parts(node):
                    yield from self._roots(part, place, path, depth)

    def _of_items(self, items: list[ast.expr], place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        """Yield the roots of the item that a path means, and those like them of the others: `h0` and `c0`."""
        chosen = items_at(items, path)
        found = [root for item in chosen for root in self._roots(item, place, path[1:], depth)]
        alike = {_text(root) for root in found if root.origin.kind == "created"}
        others = [item for item in items if item not in chosen] if alike else []
        beside = [root for item in others for root in self._roots(item, place, path[1:], depth)]
        yield from found
        yield from (root for root in beside if _text(root) in alike)

    def _is_elsewhere(self, node: ast.expr, place: Place, path: Path) -> bool:
        """Tell whether an expression is known to be no tensor, one number, or on another device."""
        if isinstance(node, ast.Constant):
            return True
        known = value(node, place.call)
        for key in path:
            known = item_at(known, key)
        if objects.is_tensor(known):
            return objects.device(known) != self._device
        return objects.is_one_of(known, str, int, float, type(None)) or objects.is_array(known)

    def _of_a_name(self, node: ast.Name, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        call, name = place.call, node.id
        line = place.statement.lineno if place.statement is not None else call.line
        skipped = functools.partial(did_not_run, call=call)
        origin = find_origin(name, call.scope, line, place.statement, skipped)  # type: ignore[arg-type]
        if origin.kind == "argument":
            yield from self._of_an_argument(node, place, path, depth)
            return
        if origin.value is None and is_from_outside(name, call):
            origin = given_outside(name, call) or origin
        if origin.value is None:
            return
        if origin.kind == "loop" and objects.is_a(value(origin.value, call), *_LOADER):
            yield Provenance(origin, call, name)
            return
        others = in_other_branches(name, origin, call.scope)  # type: ignore[arg-type]
        for given in [origin, *(other for other in others if not skipped(other.statement))]:  # type: ignore[arg-type]
            statement = given.statement if isinstance(given.statement, ast.stmt) else place.statement
            there = Place(call, statement, name)
            yield from self._roots(given.value, there, (*path_to(name, given), *path), depth)  # type: ignore[arg-type]
            yield from self._put_into(name, given.value, place, path, depth)  # type: ignore[arg-type]

    def _put_into(self, name: str, empty: ast.expr, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        """Yield the roots of what a function puts into a list or a dict that a name stands for."""
        is_a_container = isinstance(empty, ast.List | ast.Dict) or (
            isinstance(empty, ast.Call) and text_of(empty.func).endswith(("list", "dict", "deque", "Dict"))
        )
        for statement in ast.walk(place.call.scope) if is_a_container else ():  # type: ignore[arg-type]
            for item, inner in put_into(statement, name):
                there = Place(place.call, statement, name)  # type: ignore[arg-type]
                yield from self._roots(item, there, path[1:] if inner else path, depth)

    def _of_an_argument(self, node: ast.Name, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        call = place.call
        if isinstance(call, Returned):
            passed = call.passed.get(node.id)
            if passed is not None:
                yield from self._roots(passed, Place(call.caller, statement_with(call)), path, depth)
            return
        outer = written_call(call, self._failure)
        passed = written_for(node.id, call, outer[0]) if outer is not None else None
        if outer is not None and passed is not None:
            yield from self._roots(passed, Place(outer[1], outer[1].statement), path, depth)
        else:
            yield Provenance(Origin("argument", None, None), call, node.id)

    def _of_an_attribute(self, node: ast.Attribute, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        if load().devices.attributes.get(node.attr, "") == "view" or node.attr in ("values", "indices"):
            yield from self._roots(node.value, place, path, depth)
            return
        base = value(node.value, place.call)
        if base is MISSING:
            yield from self._roots(node.value, place, (f".{node.attr}", *path), depth)
            return
        getter = objects.getter(base, node.attr)
        ran = returned(getter, place.call, None, base) if getter is not None else None
        if ran is not None:
            yield from self._of_what_it_returns(ran, path, depth)
        elif objects.is_tensor(value(node, place.call)) and not path:
            yield Provenance(Origin("held", place.statement, node), place.call, text_of(node))
        elif not objects.is_tensor(base):
            yield from self._kept_as(base, node.attr, place, path, depth)

    def _kept_as(self, owner: Any, name: str, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        """Yield the roots of what the methods of an object assign to an attribute, or put into it."""
        for assignment in [origins.assigned_in(owner, name, "__init__"), *origins.reassigned(owner, name)]:
            if assignment is not None:
                yield from self._given_by(assignment, owner, place, path, depth)

    def _given_by(
        self, assignment: origins.Assignment, owner: Any, place: Place, path: Path, depth: int
    ) -> Iterator[Provenance]:
        ran = returned(assignment.method, place.call, None, owner)
        if ran is not None:
            yield from self._roots(assignment.value, Place(ran, assignment.statement), path, depth)

    def _of_a_subscript(self, node: ast.Subscript, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        is_item = isinstance(node.slice, ast.Constant) and type(node.slice.value) in (int, str)
        keys: Path = (node.slice.value,) if is_item else ()  # type: ignore[attr-defined]
        tensor = value(node.value, place.call)
        if objects.is_tensor(tensor):
            keys = ()
        name = text_of(node.value)
        for statement in ast.walk(place.call.scope) if not is_item else ():  # type: ignore[arg-type]
            match statement:
                case ast.Assign(targets=[ast.Subscript(value=base, slice=index)], value=item):
                    if text_of(base) == name and text_of(index) == text_of(node.slice):
                        yield from self._roots(item, Place(place.call, statement, name), path, depth)
        yield from self._roots(node.value, place, (*keys, *path), depth)


def _each_once(roots: Iterable[Provenance]) -> list[Provenance]:
    """Return each root of a place of the source once."""
    by_place = {(root.call.file, getattr(root.origin.value, "lineno", 0), _column(root)): root for root in roots}
    return list(by_place.values())


def _told_apart(step: Any) -> object:
    """Return what tells a step of a path from others, without hashing what a program may have made."""
    return step if type(step) in (str, int) else id(step)


def _text(root: Provenance) -> str:
    return text_of(root.origin.value) if root.origin.value is not None else ""


def _column(root: Provenance) -> int:
    return getattr(root.origin.value, "col_offset", 0)
