"""Where tensors of two devices would meet, which of them the culprit's kind is, and which have a reason to stay."""

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from samedevice.doctor.ahead.seen import PLAIN, UNKNOWN, Meeting, Place, Root, Seen, parts
from samedevice.introspect.origins import called, is_move

_Key = int | tuple[int, ...]


class Meetings:
    """What the reading has found.

    Attributes:
        here: the device that the culprit is on.
        wanted: the device where it is wanted.
        found: the meetings, in the order in which they would fail.
        is_past: whether the lines that are read ran before the failing one.
        is_sure: whether the lines that are read do run with these devices: not so in `if x.is_cuda:`.
    """

    def __init__(self, here: str, wanted: str, healed: Iterable[Any]) -> None:
        self.here, self.wanted = here, wanted
        self.found: list[Meeting] = []
        self.is_past, self.is_sure = False, True
        self._healed: set[_Key] = set(map(id, healed))
        self._stay: set[_Key] = set()
        self._doubted: set[_Key] = set()

    def heal(self, things: Iterable[Any]) -> None:
        """Take tensors, or the expressions that create them, for moved to the wanted device from now on."""
        self._healed.update(map(id, things))

    def keep(self, seen: Seen) -> None:
        """Note that what put a value where it is has a reason to stay there: it goes to NumPy, or is moved below."""
        self._stay.update(map(_key, seen.roots))

    def is_kept(self, thing: Any) -> bool:
        """Tell whether a tensor, or a root, has such a reason, or only may fail where devices are compared."""
        key = _key(thing) if type(thing) is Root else id(thing)
        return key in self._stay or key in self._doubted - self._healed

    def now(self, seen: Seen) -> Seen:
        """Return a value as it is once all that was found is moved."""
        if seen.device != self.here or not seen.roots:
            return seen
        left = tuple(root for root in seen.roots if not self._healed & {_key(root), *_ids(root)})
        return replace(seen, roots=left) if left else replace(seen, device=self.wanted)

    def meet(self, operands: list[tuple[ast.expr, Seen]], statement: ast.stmt | None, place: Place) -> Seen:
        """Let an operation's operands meet, and return its result."""
        flat = [(node, self.now(part)) for node, seen in operands for part in parts(seen, node, place)]
        there = [node for node, seen in flat if seen.device == self.wanted]
        left = [(node, seen) for node, seen in flat if seen.device == self.here and not self._may_join(seen)]
        for node, seen in left if there and statement is not None else ():
            self._note(node, seen, there[0], statement, place)
        if there:
            may_be_number = all(seen.may_be_number for _, seen in flat)
            return Seen(device=self.wanted, may_be_number=may_be_number)
        if len(flat) > 1 and any(_is_put_there(root) for _, seen in flat for root in seen.roots):
            for _, seen in flat:
                self.keep(seen)
        is_known = all(seen.device or seen.is_plain or seen.items is not None for _, seen in operands)
        if not is_known or len({seen.device for _, seen in flat}) > 1:
            return UNKNOWN
        if not flat:
            return PLAIN
        roots = tuple(dict.fromkeys(root for _, seen in flat for root in seen.roots))
        may_be_number = all(seen.may_be_number for _, seen in flat)
        return Seen(device=flat[0][1].device, roots=roots, may_be_number=may_be_number)

    def _may_join(self, seen: Seen) -> bool:
        """Tell whether it may be beside tensors of a GPU: a number on the CPU may."""
        return seen.may_be_number and self.here == "cpu"

    def _note(
        self, node: ast.expr, seen: Seen, other: ast.expr | None, statement: ast.stmt | None, place: Place
    ) -> None:
        if statement is None or self.is_past:
            return
        if not self.is_sure:
            self._doubted.update(map(_key, seen.roots))
            return
        self.found.append(Meeting(seen.roots, node, other, statement, place))
        self._healed.update(map(_key, seen.roots))

    def note_alone(self, tensor: Any, node: ast.expr, statement: ast.stmt | None, place: Place) -> None:
        """Note a tensor that meets others which have no expression: a parameter and the optimizer's state of it."""
        root = Root(tensor, node, place)
        if id(tensor) not in self._healed:
            self._note(node, Seen(tensor, self.here, (root,)), None, statement, place)


def _is_put_there(root: Root) -> bool:
    """Tell whether the program has moved it to where it is: what meets it there is meant to be there."""
    return isinstance(root.node, ast.Call) and root.tensor is None and is_move(called(root.node))


def _key(root: Root) -> "_Key":
    """Tell roots apart: of a call that returns what several functions create, each is one."""
    return _ids(root) if root.inner is not None else id(root.node if root.tensor is None else root.tensor)


def _ids(root: Root) -> tuple[int, ...]:
    inner = _ids(root.inner) if root.inner is not None else ()
    return (id(root.node), *inner) if root.tensor is None else ()
