"""Calls: of PyTorch's functions and layers, of models, and of the program's functions, which are read in their turn."""

import ast
import builtins
import contextlib
import types
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.ahead.meetings import Meetings
from samedevice.doctor.ahead.operations import At, is_of_torch, of_function, of_layer, of_step
from samedevice.doctor.ahead.reading import Reader
from samedevice.doctor.ahead.seen import PLAIN, UNKNOWN, Place, Seen, as_of, of_live, one_of
from samedevice.introspect import classes, objects
from samedevice.introspect.frames import scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import called

_DEPTH = 5  # of calls
_GENERATES = 0x20 | 0x80 | 0x200  # a generator or a coroutine, by the flags of its code
_PASS_ON = ("list", "tuple", "reversed", "sorted", "iter", "next")
_PLAIN_CALLS = ("len", "int", "float", "str", "bool", "range", "print", "isinstance", "hasattr", "type", "round")


class Calls(Reader):
    """Reads calls."""

    def __init__(self, found: Meetings) -> None:
        super().__init__(found)
        self.failed: frozenset[types.CodeType] = frozenset()  # the code of the functions that lead to the failing line
        self._running: list[types.CodeType] = []
        self._modules: list[Any] = []

    def _call(self, node: ast.Call, place: Place) -> Seen:
        name, owner = called(node), UNKNOWN
        if isinstance(node.func, ast.Attribute):
            owner = self.read(node.func.value, place)
        function = self.read(node.func, place).value if not owner.device else MISSING
        given = [(argument, self.read(argument, place)) for argument in node.args]
        named = [(keyword.value, self.read(keyword.value, place)) for keyword in node.keywords]
        at = At(self.statement, place)
        if owner.device and isinstance(node.func, ast.Attribute):
            return of_function(node, name, [(node.func.value, owner), *given], named, self.found, at)
        if function is not MISSING and is_of_torch(node.func, function, owner):
            return of_function(node, name, given, named, self.found, at) if name != "device" else given[0][1]
        if name in ("append", "insert") and owner.items is not None and isinstance(node.func, ast.Attribute) and given:
            self.assign(node.func.value, Seen(items=(*owner.items, given[-1][1]), is_list=True), place)
            return PLAIN
        if objects.is_module(function):
            return self._module(function, node, given, named, place)
        if objects.is_optimizer(owner.value) and name == "step":
            of_step(owner.value, node, self.found, at)
            return UNKNOWN
        if isinstance(node.func, ast.Name) and name in vars(builtins):
            return self._builtin(name, [seen for _, seen in given], node, place)
        if isinstance(node.func, ast.Attribute) and objects.is_one_of(owner.value, dict) and given:
            held = objects.item(owner.value, given[0][1].value)
            return of_live(held, node, place) if name in ("get", "pop") and held is not MISSING else UNKNOWN
        if objects.is_module(owner.value) and name == "parameters":
            return Seen(items=tuple(of_live(tensor, node, place) for tensor in objects.parameters(owner.value)[:1]))
        if (found := self._functions(node, function, owner)) is not None:
            return self._result(found[0], found[1], node, given, named, place)
        return UNKNOWN

    def _functions(self, node: ast.Call, function: Any, owner: Seen) -> tuple[types.FunctionType, Seen | None] | None:
        """Return the function of the program that a call runs, and the object whose method it is."""
        if type(function) is types.FunctionType:
            return classes.wrapped(function)[-1], None
        if not isinstance(node.func, ast.Attribute) or owner.value is MISSING:
            return None
        if (method := objects.method(owner.value, node.func.attr)) is None:
            return None
        held = classes.defined(type(owner.value), node.func.attr)
        return method, None if type(held) in (staticmethod, classmethod) else owner

    def _module(self, module: Any, node: ast.Call, given: Any, named: Any, place: Place) -> Seen:
        """Read the call of a module: of PyTorch's, or of the program's, whose `forward` is read."""
        whole = self._modules[0] if self._modules else module
        before = len(self.found.found)
        forward = objects.method(module, "forward")
        is_of_pytorch = classes.module(type(module)).startswith("torch.")
        with self._within(self._modules, module):
            seen = self._of_a_module(module, forward, node, given, named, place, is_of_pytorch=is_of_pytorch)
        for meeting in self.found.found[before:]:
            self._heal_whole(whole, [root.tensor for root in meeting.roots])
        return seen

    def _of_a_module(
        self, module: Any, forward: Any, node: ast.Call, given: Any, named: Any, place: Place, *, is_of_pytorch: bool
    ) -> Seen:
        if is_of_pytorch and classes.name(type(module)) == "Sequential":
            seen = given[0][1] if given else UNKNOWN
            for child in objects.attributes(module).get("_modules", {}).values():
                seen = self._module(child, node, [(node.args[0], seen)] if node.args else [], [], place)
            return seen
        if is_of_pytorch:
            return of_layer(module, node, [*given, *named], self.found, At(self.statement, place))
        if forward is not None and not is_library(plain(forward.__code__.co_filename)):
            return self._result(forward, Seen(module), node, given, named, place)
        there = any(objects.device(tensor) == self.found.wanted for tensor in objects.parameters(module)[:1])
        return Seen(device=self.found.wanted) if there else UNKNOWN

    @contextlib.contextmanager
    def _within(self, outer: list[Any], inner: Any) -> Iterator[None]:
        """Note what is read inside of what, until it is read or too long."""
        outer.append(inner)
        try:
            yield
        finally:
            outer.pop()

    def _heal_whole(self, whole: Any, left: list[Any]) -> None:
        """Take all of a model for moved, if one of its parameters was left and it is moved as a whole."""
        tensors = objects.parameters(whole)
        if any(tensor is parameter for tensor in left for parameter in tensors):
            self.found.heal(tensors)

    def _result(
        self, function: types.FunctionType, itself: Seen | None, node: ast.Call, given: Any, named: Any, place: Place
    ) -> Seen:
        """Read a function of the program and return its result: what it creates counts as what this call returns."""
        code = function.__code__
        is_read = code in self._running or len(self._running) >= _DEPTH or bool(code.co_flags & _GENERATES)
        if is_read or is_library(plain(code.co_filename)):
            return UNKNOWN
        tree = scope(code, globals_of(function))
        if tree is None or self._is_of_the_other_device(code, [seen for _, seen in [*given, *named]]):
            return UNKNOWN
        inner = Place(code, globals_of(function), {}, tree)
        _bind(inner, function, itself, node, [seen for _, seen in given], [seen for _, seen in named])
        statement = self.statement
        with self._within(self._running, code):
            self.run_body(_body(tree), inner)
        self.statement = statement
        return as_of(one_of(inner.returned), inner, node, place)

    def _is_of_the_other_device(self, code: types.CodeType, given: list[Seen]) -> bool:
        """Tell whether the function that failed is called anew with what is where the culprit was: it is meant so."""
        devices = {seen.device for seen in given if seen.device}
        return code in self.failed and devices == {self.found.here}

    def run_body(self, body: list[ast.stmt], place: Place) -> bool:
        """Read statements; see statements.py."""
        raise NotImplementedError

    def _builtin(self, name: str, given: list[Seen], node: ast.Call, place: Place) -> Seen:
        if name in _PLAIN_CALLS:
            return PLAIN
        if name in _PASS_ON and given:
            return given[0] if name != "next" else self.an_item(given[0], node, place)
        if name == "zip":
            return Seen(items=(Seen(items=tuple(self.an_item(seen, node, place) for seen in given)),))
        if name == "enumerate" and given:
            return Seen(items=(Seen(items=(PLAIN, self.an_item(given[0], node, place))),))
        return UNKNOWN


def _body(tree: ast.AST) -> list[ast.stmt]:
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    function = next(functions, None)
    return function.body if function is not None else []


def _bind(
    inner: Place,
    function: types.FunctionType,
    itself: Seen | None,
    node: ast.Call,
    given: list[Seen],
    named: list[Seen],
) -> None:
    """Give a function's arguments their values."""
    code = function.__code__
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    positional = names[: code.co_argcount]
    inner.env.update(dict.fromkeys(code.co_varnames, UNKNOWN))
    defaults = function.__defaults__ or ()
    pairs = [*zip(positional[len(positional) - len(defaults) :], defaults, strict=True)]
    pairs += [*(function.__kwdefaults__ or {}).items()]
    for name, default in pairs:
        inner.env[name] = of_live(default, node, inner)
    starred = next((number for number, part in enumerate(node.args) if isinstance(part, ast.Starred)), len(given))
    passed = [*([itself] if itself is not None else []), *given[:starred]]
    inner.env.update(zip(positional, passed, strict=False))
    if starred < len(given):
        inner.env.update(dict.fromkeys(positional[len(passed) :], UNKNOWN))
    for keyword, seen in zip(node.keywords, named, strict=True):
        if keyword.arg in names:
            inner.env[keyword.arg] = seen
        elif keyword.arg is None:
            inner.env.update(dict.fromkeys(set(names) - {names[0] if itself else ""}, UNKNOWN))
