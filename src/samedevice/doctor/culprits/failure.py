"""What stands in the frames of a failure: who holds which tensor, and how the program calls it."""

import ast
import functools
import types
from dataclasses import dataclass, field, replace
from typing import Any

from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder, held_by_module, held_by_optimizer, kind_of

_LOOKED_AT = 300  # names of a frame


@dataclass(eq=False)
class Scene:
    """The frames that lead to an error, outermost first; it holds the program's objects alive: keep none."""

    calls: list[Call]
    text: str = ""  # the error's message
    wanted: set[int] = field(default_factory=set)  # the ids of the tensors whose holders may be asked for
    _holders: dict[int, Holder] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)
    _looked: bool = False

    @functools.cached_property
    def user(self) -> list[Call]:
        """The frames of the user's own files, innermost first; of all files where there is none."""
        return [call for call in reversed(self.calls) if not call.in_library] or self.calls[::-1]

    @property
    def place(self) -> Call:
        return self.user[0]

    @functools.cached_property
    def third_party(self) -> list[Call]:
        """The frames of other libraries than PyTorch that the failing line of the user's leads to, innermost first."""
        return [call for call in self.below if call.in_third_party and call is not self.place]

    @functools.cached_property
    def below(self) -> list[Call]:
        """The frames that the failing line of the user's leads to, innermost first, and that line's own at the end."""
        return self.calls[self.calls.index(self.place) :][::-1]

    def holder(self, tensor: Any) -> Holder | None:
        """How a module, an optimizer or another object that the frames name holds a tensor."""
        if not self._looked:
            self._looked = True
            for _, optimizer in self.optimizers():
                self.wanted |= {id(owner) for owner, kept, _ in held_by_optimizer(optimizer) if id(kept) in self.wanted}
            # By `self` first: a layer in a loop is known by the list that holds it, not by the loop's variable.
            for call in self.user:
                if objects.is_module(call.method_of):
                    self._look_at(call.frame.f_code.co_varnames[0], call.method_of, call)
            for call in [*self.user, *self.below]:
                self._look(call)
            for name, optimizer in self.optimizers():
                for parameter, kept, key in held_by_optimizer(optimizer):
                    owner = self._holders.get(id(parameter))
                    path = f'.state[{owner.expression if owner else "..."}]["{key}"]'
                    self._holders.setdefault(id(kept), Holder(name, path, "state", key, optimizer))
        return self._holders.get(id(tensor))

    def want(self, tensor: Any) -> None:
        """Look for the holder of one more tensor."""
        if id(tensor) not in self.wanted:
            self.wanted.add(id(tensor))
            self._seen.clear()
            self._looked = False

    def held_within(self, module: Any) -> list[tuple[Any, Holder]]:
        """Each tensor that a module holds."""
        return list(held_by_module("", module))

    def modules(self) -> list[tuple[str, Any]]:
        """The modules that the user's frames name, innermost frame first."""
        return [found for call in self.user for found in self.named_modules(call)]

    def optimizers(self) -> list[tuple[str, Any]]:
        found = []
        for call in self.user:
            for name, held in self.names(call):
                if objects.is_optimizer(held):
                    found.append((name, held))
                found += [(f"{name}.{key}", one) for key, one in own(held) if objects.is_optimizer(one)]
        return found

    def expression(self, tensor: Any, calls: list[Call] | None = None) -> tuple[str, Call, ast.expr | None] | None:
        """What the user's code calls a tensor, the frame that does, and the node where the failing line has it.

        Arguments:
            tensor: it.
            calls: the frames to look in; the user's by default.
        """
        for call in calls if calls is not None else self.user if not self.place.in_library else ():
            for node in sorted(_expressions(call.node), key=lambda node: -len(ast.unparse(node))):
                if value(node, call) is tensor:
                    return text_of(node), call, node
            for name, held in self.names(call):
                if held is tensor:
                    return name, call, None
            for node in _expressions(call.node):
                for path, inner in objects.inside(value(node, call)):
                    if inner is tensor:
                        return text_of(node) + path, call, None
            for name, held in self.names(call):
                for path, inner in objects.inside(held):
                    if inner is tensor:
                        return name + path, call, None
        return None

    def _look(self, call: Call) -> None:
        for root, module in self.named_modules(call):
            self._look_at(classes.name(type(module)) if call.in_library else root, module, call)
        for name, held in self.names(call):
            if call.in_library or objects.is_module(held) or objects.is_tensor(held) or objects.is_optimizer(held):
                continue
            for key, one in own(held):
                for path, tensor in objects.inside(one):
                    self._holders.setdefault(id(tensor), Holder(name, f".{key}{path}", kind_of(one), key, held))

    def _look_at(self, root: str, module: Any, call: Call) -> None:
        for tensor, holder in held_by_module(root, module, self.wanted, self._seen):
            self._holders.setdefault(id(tensor), replace(holder, is_named=not call.in_library))

    def named_modules(self, call: Call) -> list[tuple[str, Any]]:
        found = []
        for name, held in self.names(call):
            if objects.is_module(held):
                found.append((name, held))
            elif not call.in_library and not objects.is_tensor(held):
                found += [(f"{name}.{key}", one) for key, one in own(held) if objects.is_module(one)]
        return found

    def names(self, call: Call) -> list[tuple[str, Any]]:
        """The frame's names: `self` first, then its own, then the globals that its code uses."""
        local = dict(list(call.locals.items())[:_LOOKED_AT])
        used = {name: call.frame.f_globals[name] for name in call.frame.f_code.co_names if name in call.frame.f_globals}
        first = {"self": local["self"]} if "self" in local else {}
        return [*(first | local | used).items()]


def own(held: Any) -> list[tuple[str, Any]]:
    """The attributes of an object of the program's, which may hold modules and tensors; of nothing else's."""
    if objects.is_one_of(held, type, dict, list, tuple, str, bytes, int, float, types.FunctionType, types.MethodType):
        return []
    if classes.module(type(held)).partition(".")[0] in ("torch", "numpy", "builtins", "types", "importlib"):
        return []
    return list(objects.attributes(held).items())[:_LOOKED_AT]


def _expressions(node: ast.AST | None) -> list[ast.expr]:
    if node is None:
        return []
    return [one for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript))]
