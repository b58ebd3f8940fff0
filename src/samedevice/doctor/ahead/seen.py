"""What is known of a value that the reading meets: the live object, or the device of a tensor that is not there yet."""

import ast
import functools
import types
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from samedevice.introspect import objects
from samedevice.introspect.objects import MISSING


@dataclass(eq=False)
class Place:
    """A function that is read: one of the failure's frames, or one that a later line calls.

    Attributes:
        code: its code.
        globals: the names of its module.
        locals: its names, as far as the objects that they stand for are there.
        scope: its statements.
        env: what the reading has assigned to its names since.
        returned: what it returns.
    """

    code: types.CodeType
    globals: dict[str, Any]
    locals: dict[str, Any]
    scope: ast.AST
    env: dict[str, "Seen"] = field(default_factory=dict)
    returned: list["Seen"] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Root:
    """What has put a tensor where it is: a tensor that is there, or an expression that creates, moves or returns one.

    Attributes:
        tensor: the tensor that is there; None for an expression.
        node: the expression.
        place: the function in which it stands.
        statement: the statement that gave the result of the expression to a name.
        name: that name.
        inner: for what a function returns, what has put it there in that function.
    """

    tensor: Any
    node: ast.expr
    place: Place
    statement: ast.stmt | None = None
    name: str = ""
    inner: "Root | None" = None


@dataclass(frozen=True, eq=False)
class Seen:
    """A value as far as it is known.

    Attributes:
        value: the live object; MISSING where it is not there yet.
        device: of a tensor, where it is; "" for what is no tensor, and where it is not known.
        roots: what has put it there.
        is_plain: whether it is certainly no tensor.
        may_be_number: whether it may be a tensor without dimensions, which may be on the CPU beside others.
        items: the items of a tuple, a list or a generator that is not there yet.
        is_list: whether the items are those of a list, which may have more of the same.
        named: of a `torch.device` or its name, the device.
    """

    value: Any = MISSING
    device: str = ""
    roots: tuple[Root, ...] = ()
    is_plain: bool = False
    may_be_number: bool = False
    items: tuple["Seen", ...] | None = None
    is_list: bool = False
    named: str = ""


UNKNOWN = Seen()
PLAIN = Seen(is_plain=True)


@dataclass(frozen=True, eq=False)
class Meeting:
    """A tensor that would meet another that is where the culprit is wanted.

    Attributes:
        roots: what has put it where it is.
        node: the expression that it is in the statement.
        other: the expression on the wanted device.
        statement: the statement in which they meet.
        place: the function.
    """

    roots: tuple[Root, ...]
    node: ast.expr
    other: ast.expr | None
    statement: ast.stmt
    place: Place


def of_live(value: Any, node: ast.expr, place: Place) -> Seen:
    """Tell what is known of an object that is there."""
    if objects.is_tensor(value):
        device = objects.device(value)
        return Seen(value, device, (Root(value, node, place),), may_be_number=objects.shape(value) in ((), None))
    if objects.is_device(value):
        return Seen(value, is_plain=True, named=_whole(str(value)))
    if type(value) is str:
        return Seen(value, is_plain=True, named=_whole(value))
    return Seen(value, is_plain=type(value) in (bool, int, float, complex, type(None)))


def _whole(name: str) -> str:
    """Return the name of a device with its number."""
    return f"{name}:0" if name in ("cuda", "xpu", "mps") else name


def named_by(seen: Seen) -> str:
    """Return the device that a value names as an argument of `.to()`: a tensor names its own."""
    if seen.device:
        return seen.device
    return f"cuda:{seen.value}" if type(seen.value) is int else seen.named


def joined(one: Seen, other: Seen) -> Seen:
    """Return what is known of a value that is one or the other."""
    if one is other:
        return one
    if one.is_plain and other.is_plain:
        return PLAIN
    if one.items is not None and other.items is not None:
        if one.is_list or len(one.items) != len(other.items):
            return Seen(items=tuple(dict.fromkeys((*one.items, *other.items))), is_list=True)
        return Seen(items=tuple(map(joined, one.items, other.items)))
    if one.device and one.device == other.device:
        may_be_number = one.may_be_number or other.may_be_number
        return Seen(MISSING, one.device, (*one.roots, *other.roots), may_be_number=may_be_number)
    return UNKNOWN


def one_of(returned: Sequence[Seen]) -> Seen:
    """Return what is known of a value that is one of several; of none, it is None."""
    return functools.reduce(joined, returned) if returned else PLAIN


def parts(seen: Seen, node: ast.expr, place: Place) -> list[Seen]:
    """Return the tensors that a value is or holds."""
    if seen.device:
        return [seen]
    if seen.items is not None:
        return [part for item in seen.items for part in parts(item, node, place)]
    if seen.value is MISSING or seen.is_plain:
        return []
    return [of_live(tensor, node, place) for _, tensor in objects.inside(seen.value)]


def as_of(seen: Seen, inner: Place, node: ast.expr, place: Place) -> Seen:
    """Return a function's result as its caller has it: what the function created is what the call returns."""
    if seen.items is not None:
        return replace(seen, items=tuple(as_of(item, inner, node, place) for item in seen.items))
    new = [root for root in seen.roots if root.place is inner and root.tensor is None]
    here = Root(None, node, place, inner=new[0] if len(new) == 1 else None)
    return replace(seen, roots=tuple(dict.fromkeys(here if root in new else root for root in seen.roots)))
