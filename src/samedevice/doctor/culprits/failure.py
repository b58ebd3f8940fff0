"""The frames of a failure, and what the program's names stand for in them: modules, optimizers, tensors."""

import ast
import functools
import types
from dataclasses import dataclass, field, replace
from typing import Any

from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import Expression
from samedevice.introspect.frames import Call
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder, held_by_module, held_by_optimizer, kind_of

_NAMES = 300  # of a frame, or attributes of an object: more are not looked at


@dataclass(eq=False)
class Failure:
    """The frames that lead to an error. It keeps the program's objects alive, so nothing may keep it.

    Attributes:
        calls: the frames, outermost first.
        text: the error's message.
        quoted: the text of the frames of another process that ran into it, as that process sent it; or the message.
        wanted: the ids of the tensors whose holders may be asked for.
        roots: the outermost modules that hold tensors, by the tensors' ids: their names, and the frames that have them.
    """

    calls: list[Call]
    text: str = ""
    quoted: str = ""
    wanted: set[int] = field(default_factory=set)
    roots: dict[int, tuple[str, Call]] = field(default_factory=dict)
    _holders: dict[int, Holder] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)
    _is_searched: bool = False
    _registered: dict[int, frozenset[int]] = field(default_factory=dict)
    _devices: dict[int, frozenset[str]] = field(default_factory=dict)

    @functools.cached_property
    def user_calls(self) -> list[Call]:
        """The frames of the user's own files, innermost first; those of all files if the user has none."""
        return [call for call in reversed(self.calls) if not call.in_library] or self.calls[::-1]

    @property
    def user_call(self) -> Call:
        """The innermost frame of the user's own files: its line is the one that failed."""
        return self.user_calls[0]

    @functools.cached_property
    def calls_below(self) -> list[Call]:
        """The frames that the failing line of the user's leads to, innermost first; that line's own is the last."""
        return self.calls[self.calls.index(self.user_call) :][::-1]

    @functools.cached_property
    def third_party_calls(self) -> list[Call]:
        """The frames below the failing line that belong to libraries other than PyTorch, innermost first."""
        return [call for call in self.calls_below if call.in_third_party and call is not self.user_call]

    def runs_in(self, *paths: str) -> bool:
        """Tell whether one of the frames is in a file whose path has one of these parts, such as "torch/optim/"."""
        return any(path in call.file.replace("\\", "/") for call in self.calls for path in paths)

    def runs_below_in(self, *paths: str) -> bool:
        """Tell the same of the frames that the failing line of the user's leads to."""
        return any(path in call.file.replace("\\", "/") for call in self.calls_below for path in paths)

    def holder(self, tensor: Any) -> Holder | None:
        """Find the module, the optimizer or another object that holds a tensor, as the frames name it."""
        if not self._is_searched:
            self._is_searched = True
            self._search()
        return self._holders.get(id(tensor))

    def unregistered_holder(self, tensor: Any) -> Holder | None:
        """Find an outer module that keeps the module which holds a tensor in plain Python, such as a list."""
        for call in self.user_calls[1:]:
            if objects.is_module(call.method_of):
                name = call.frame.f_code.co_varnames[0]
                for held, holder in held_by_module(name, call.method_of, {id(tensor)}):
                    if held is tensor and not holder.moves:
                        return holder
        return None

    def want(self, tensor: Any) -> None:
        """Look for the holder of one more tensor."""
        if id(tensor) not in self.wanted:
            self.wanted.add(id(tensor))
            self._seen.clear()
            self._is_searched = False

    def registered(self, module: Any) -> frozenset[int]:
        """Return the ids of the parameters and the buffers of a module and of its submodules; looked up once."""
        if id(module) not in self._registered:
            self._registered[id(module)] = frozenset(map(id, objects.registered(module)))
        return self._registered[id(module)]

    def devices(self, module: Any) -> frozenset[str]:
        """Return the devices of the parameters of a module and of its submodules; looked up once."""
        if id(module) not in self._devices:
            self._devices[id(module)] = frozenset(map(objects.device, objects.parameters(module)))
        return self._devices[id(module)]

    def modules(self) -> list[tuple[str, Any]]:
        """Return the modules that the user's frames name, innermost frame first."""
        return [found for call in self.user_calls for found in self.named_modules(call)]

    def optimizers(self) -> list[tuple[str, Any]]:
        """Return the optimizers that the user's frames name, innermost frame first."""
        found = []
        for call in self.user_calls:
            for name, value_ in self.names(call):
                if objects.is_optimizer(value_):
                    found.append((name, value_))
                found += [(f"{name}.{key}", inner) for key, inner in attributes(value_) if objects.is_optimizer(inner)]
        return found

    def expression(self, tensor: Any, calls: list[Call] | None = None) -> tuple[Expression, Call] | None:
        """Find what a frame calls a tensor, and that frame.

        Args:
            tensor: the tensor.
            calls: the frames to look in; the user's by default.
        """
        for call in calls if calls is not None else self.user_calls if not self.user_call.in_library else ():
            nodes = _nodes(call.node)
            for node in sorted(nodes, key=lambda node: -len(ast.unparse(node))):
                if value(node, call) is tensor:
                    return Expression.of(node), call
            for name, value_ in self.names(call):
                if value_ is tensor:
                    return Expression.parse(name), call
            containers = [(Expression.of(node).text, value(node, call)) for node in nodes] + self.names(call)
            for name, container in containers:
                for path, inner in objects.inside(container):
                    if inner is tensor:
                        return Expression.parse(name + path), call
        return None

    def named_modules(self, call: Call) -> list[tuple[str, Any]]:
        """Return the modules that a frame names, and those that are attributes of an object that it names."""
        found = []
        for name, value_ in self.names(call):
            if objects.is_module(value_):
                found.append((name, value_))
            elif not call.in_library and not objects.is_tensor(value_):
                found += [(f"{name}.{key}", inner) for key, inner in attributes(value_) if objects.is_module(inner)]
        return found

    def names(self, call: Call) -> list[tuple[str, Any]]:
        """Return a frame's names: `self` first, then its own, then the globals that its code uses."""
        local = dict(list(call.locals.items())[:_NAMES])
        used = {name: call.globals[name] for name in call.frame.f_code.co_names if name in call.globals}
        first = {call.itself: local[call.itself]} if call.itself in local else {}
        return [*(first | local | used).items()]

    def _search(self) -> None:
        """Find the holders of all wanted tensors."""
        for _, optimizer in self.optimizers():
            state = held_by_optimizer(optimizer)
            self.wanted |= {id(parameter) for parameter, tensor, _ in state if id(tensor) in self.wanted}
        # `self` comes first: a layer in a loop is known by the list that holds it, not by the loop's variable.
        for call in self.user_calls:
            if objects.is_module(call.method_of):
                self._search_module(call.frame.f_code.co_varnames[0], call.method_of, call)
        for call in [*self.user_calls, *self.calls_below]:
            self._search_call(call)
        for name, optimizer in self.optimizers():
            for parameter, tensor, key in held_by_optimizer(optimizer):
                owner = self._holders.get(id(parameter))
                path = f'.state[{owner.expression if owner else "..."}]["{key}"]'
                self._holders.setdefault(id(tensor), Holder(name, path, "state", key, optimizer))

    def _search_call(self, call: Call) -> None:
        for root, module in self.named_modules(call):
            self._search_module(classes.name(type(module)) if call.in_library else root, module, call)
        for name, value_ in self.names(call):
            known = objects.is_module(value_) or objects.is_tensor(value_) or objects.is_optimizer(value_)
            for key, inner in attributes(value_) if not (known or call.in_library) else ():
                for path, tensor in objects.inside(inner):
                    holder = Holder(name, f".{key}{path}", kind_of(inner), key, value_)
                    self._holders.setdefault(id(tensor), holder)

    def _search_module(self, root: str, module: Any, call: Call) -> None:
        for tensor, holder in held_by_module(root, module, self.wanted, self._seen):
            self._holders.setdefault(id(tensor), replace(holder, is_named=not call.in_library))


def attributes(value: Any) -> list[tuple[str, Any]]:
    """Return the attributes of an object of the program's own, which may hold modules and tensors; else none."""
    if objects.is_one_of(value, type, dict, list, tuple, str, bytes, int, float, types.FunctionType, types.MethodType):
        return []
    if classes.module(type(value)).partition(".")[0] in ("torch", "numpy", "builtins", "types", "importlib"):
        return []
    return list(objects.attributes(value).items())[:_NAMES]


def _nodes(node: ast.AST | None) -> list[ast.expr]:
    if node is None:
        return []
    return [inner for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript))]
