"""Expressions and statements, read with the devices that are known, and the program's functions that they call."""

import ast
import builtins
import contextlib
from collections.abc import Iterator
from typing import Any

from samedevice.catalog import load
from samedevice.doctor.ahead.meetings import Meetings
from samedevice.doctor.ahead.seen import PLAIN, UNKNOWN, Place, Seen, joined, of_live
from samedevice.introspect import objects
from samedevice.introspect.objects import MISSING
from samedevice.introspect.values import value_in

_STEPS = 2500  # expressions and statements that are read at most


class TooLongError(Exception):
    """So much was read that the rest is left."""


class Reader:
    """Reads expressions. The statements are read by statements.py."""

    def __init__(self, found: Meetings) -> None:
        self.found = found
        self.known: dict[int, Seen] = {}  # results of calls that were read before, by the ids of their expressions
        self.statement: ast.stmt | None = None
        self._given: dict[tuple[int, str], Seen] = {}  # attributes that the reading has assigned to
        self._left = _STEPS

    def step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLongError

    @contextlib.contextmanager
    def at_most(self, steps: int) -> Iterator[None]:
        """Read no more than a number of steps, which are not taken from the others."""
        before, self._left = self._left, steps
        try:
            yield
        finally:
            self._left = before

    def read(self, node: ast.expr | None, place: Place) -> Seen:
        """Return what is known of the value of an expression."""
        if node is None:
            return PLAIN
        self.step()
        if id(node) in self.known:
            return self.known[id(node)]
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        return self.found.now(handler(node, place)) if handler is not None else self._other(node, place)

    def _other(self, node: ast.expr, place: Place) -> Seen:
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.read(part, place)
        return UNKNOWN

    def _constant(self, node: ast.Constant, place: Place) -> Seen:
        return of_live(node.value, node, place)

    def _name(self, node: ast.Name, place: Place) -> Seen:
        if node.id in place.env:
            return place.env[node.id]
        for names in (place.locals, place.globals, vars(builtins)):
            if node.id in names:
                return of_live(names[node.id], node, place)
        return UNKNOWN

    def _attribute(self, node: ast.Attribute, place: Place) -> Seen:
        base = self.read(node.value, place)
        if base.device:
            match load().devices.attributes.get(node.attr, ""):
                case "facts":
                    return Seen(is_plain=True, named=base.device if node.attr == "device" else "")
                case "view":
                    return base
        if (id(base.value), node.attr) in self._given:
            return self._given[id(base.value), node.attr]
        if base.value is MISSING or base.device:
            return UNKNOWN
        if node.attr == "device" and objects.is_module(base.value):
            return UNKNOWN
        held = objects.attribute(base.value, node.attr)
        if held is MISSING:
            held = value_in(ast.Attribute(ast.Name("self", ast.Load()), node.attr, ast.Load()), base.value)
        return of_live(held, node, place) if held is not MISSING else UNKNOWN

    def _subscript(self, node: ast.Subscript, place: Place) -> Seen:
        base, key = self.read(node.value, place), self.read(node.slice, place)
        if base.device:
            return self._indexed(node, base, key, place)
        if base.items is not None:
            number = key.value
            is_inside = type(number) is int and -len(base.items) <= number < len(base.items)
            return base.items[number] if is_inside else UNKNOWN
        if base.value is MISSING:
            return UNKNOWN
        held = objects.item(base.value, key.value)
        given = self._given.get((id(base.value), repr(key.value)) if type(key.value) in (str, int) else (0, ""))
        return given or (of_live(held, node, place) if held is not MISSING else UNKNOWN)

    def _indexed(self, node: ast.Subscript, base: Seen, key: Seen, place: Place) -> Seen:
        indices = [part for part in (key.items if key.items is not None else [key]) if part.device]
        if any(index.device == self.found.wanted for index in indices) and base.device == self.found.here:
            base = self.found.meet([(node.value, base), (node.slice, indices[0])], self.statement, place)
        sizes = objects.shape(base.value) if objects.is_tensor(base.value) else None
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_widened = any(isinstance(part, ast.Slice) or _is_none(part) for part in parts) or bool(indices)
        takes_all = sizes is None or len(parts) >= len(sizes)
        may_be_number = not is_widened and takes_all
        return Seen(device=base.device, roots=base.roots, may_be_number=may_be_number)

    def _starred(self, node: ast.Starred, place: Place) -> Seen:
        return self.read(node.value, place)

    def _tuple(self, node: ast.Tuple, place: Place) -> Seen:
        return Seen(items=tuple(self.read(item, place) for item in node.elts))

    def _list(self, node: ast.List, place: Place) -> Seen:
        return Seen(items=tuple(self.read(item, place) for item in node.elts), is_list=True)

    def _slice(self, node: ast.Slice, place: Place) -> Seen:
        self._other(node, place)
        return PLAIN

    def _binop(self, node: ast.BinOp, place: Place) -> Seen:
        left, right = self.read(node.left, place), self.read(node.right, place)
        if left.items is not None or right.items is not None:
            return Seen(items=(*(left.items or ()), *(right.items or ())), is_list=left.is_list or right.is_list)
        return self.found.meet([(node.left, left), (node.right, right)], self.statement, place)

    def _compare(self, node: ast.Compare, place: Place) -> Seen:
        sides = [(side, self.read(side, place)) for side in (node.left, *node.comparators)]
        if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            held = self.holds(node, PLAIN, place)
            return PLAIN if held is None else Seen(held, is_plain=True)
        if all(type(seen.value) in (bool, int, float, str) for _, seen in sides) and len(sides) == 2:
            return _compared(sides[0][1].value, node.ops[0], sides[1][1].value)
        return self.found.meet(sides, self.statement, place)

    def _boolop(self, node: ast.BoolOp, place: Place) -> Seen:
        decides = isinstance(node.op, ast.Or)
        held = []
        for part in node.values:
            held.append(self.holds(part, self.read(part, place), place))
            if held[-1] is decides:
                return Seen(decides, is_plain=True)  # the rest is not evaluated
        return UNKNOWN if None in held else Seen(not decides, is_plain=True)

    def _unaryop(self, node: ast.UnaryOp, place: Place) -> Seen:
        inner = self.read(node.operand, place)
        if isinstance(node.op, ast.USub) and type(inner.value) is int:
            return Seen(-inner.value, is_plain=True)
        return PLAIN if isinstance(node.op, ast.Not) else inner

    def _ifexp(self, node: ast.IfExp, place: Place) -> Seen:
        held = self.holds(node.test, self.read(node.test, place), place)
        if held is not None:
            return self.read(node.body if held else node.orelse, place)
        return joined(self.read(node.body, place), self.read(node.orelse, place))

    def holds(self, test: ast.expr, seen: Seen, place: Place) -> bool | None:
        """Tell whether a condition, which was read, holds; None where that is not known."""
        match test:
            case ast.Call(func=ast.Attribute(attr="is_available")):
                return True  # a GPU is wanted, or something was left on one
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
                first = self.read(left, place)
                if first.value is MISSING and not first.device and first.items is None:
                    return None
                return (first.value is None) == isinstance(op, ast.Is)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                held = self.holds(inner, self.read(inner, place), place)
                return None if held is None else not held
        return seen.value if type(seen.value) is bool else None

    def _namedexpr(self, node: ast.NamedExpr, place: Place) -> Seen:
        seen = self.read(node.value, place)
        self.assign(node.target, seen, place)
        return seen

    def _await(self, node: ast.Await, place: Place) -> Seen:
        return self.read(node.value, place)

    def _lambda(self, node: ast.Lambda, place: Place) -> Seen:
        return UNKNOWN

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, place: Place) -> Seen:
        before = dict(place.env)
        for generator in node.generators:
            self.assign(generator.target, self.an_item(self.read(generator.iter, place), generator.iter, place), place)
        item = self.read(node.elt, place)
        place.env = before
        return Seen(items=(item,), is_list=True)

    _generatorexp = _listcomp

    def an_item(self, seen: Seen, node: ast.expr, place: Place) -> Seen:
        """Return what is known of the first item of a value, which stands for all."""
        if seen.items is not None:
            return seen.items[0] if seen.items else UNKNOWN
        if seen.device:
            return Seen(device=seen.device, roots=seen.roots, may_be_number=True)
        held = objects.item(seen.value, 0) if not objects.is_one_of(seen.value, dict) else MISSING
        return of_live(held, node, place) if held is not MISSING else PLAIN if seen.is_plain else UNKNOWN

    def assign(self, target: ast.expr, seen: Seen, place: Place) -> None:
        """Give a value to a name, an attribute or an item."""
        match target:
            case ast.Name(id=name):
                place.env[name] = seen
            case ast.Attribute(value=base, attr=name):
                if (owner := self.read(base, place).value) is not MISSING:
                    self._given[id(owner), name] = seen
            case ast.Subscript(value=base, slice=ast.Constant(value=key)):
                owner = self.read(base, place)
                if owner.value is not MISSING and not owner.device:
                    self._given[id(owner.value), repr(key)] = seen
            case ast.Starred(value=inner):
                self.assign(inner, UNKNOWN, place)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for number, part in enumerate(parts):
                    self.assign(part, self._part(seen, number, target, place), place)

    def _part(self, seen: Seen, number: int, node: ast.expr, place: Place) -> Seen:
        if seen.items is not None:
            return seen.items[number] if number < len(seen.items) else UNKNOWN
        if seen.device or seen.is_plain:
            return Seen(device=seen.device, roots=seen.roots, is_plain=seen.is_plain)
        held = objects.item(seen.value, number)
        return of_live(held, node, place) if held is not MISSING else UNKNOWN


def _compared(left: Any, op: ast.cmpop, right: Any) -> Seen:
    """Compare two values of Python's own types."""
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        return PLAIN
    return Seen((left == right) == isinstance(op, ast.Eq), is_plain=True)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
