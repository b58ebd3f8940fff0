"""Expressions and statements, read with the devices that are known, and the program's functions that they call."""

import ast
import builtins
import types
from typing import Any

from samedevice.catalog import load
from samedevice.doctor.ahead.meetings import Meetings
from samedevice.doctor.ahead.operations import At, is_of_torch, of_function, of_layer, of_step
from samedevice.doctor.ahead.seen import PLAIN, UNKNOWN, Place, Seen, as_of, joined, of_live, one_of
from samedevice.introspect import classes, objects
from samedevice.introspect.frames import scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import called
from samedevice.introspect.values import value_in

_STEPS = 2500  # expressions and statements that are read at most
_DEPTH = 5  # of calls
_GENERATES = 0x20 | 0x80 | 0x200  # a generator or a coroutine, by the flags of its code
_PASS_ON = ("list", "tuple", "reversed", "sorted", "iter", "next")
_PLAIN_CALLS = ("len", "int", "float", "str", "bool", "range", "print", "isinstance", "hasattr", "type", "round")


class Enough(Exception):
    """So much was read that the rest is left."""


class Reader:
    """Reads expressions. The statements are read by statements.py."""

    def __init__(self, found: Meetings) -> None:
        self.found = found
        self.known: dict[int, Seen] = {}  # results of calls that were read before, by the ids of their expressions
        self.statement: ast.stmt | None = None
        self._given: dict[tuple[int, str], Seen] = {}  # attributes that the reading has assigned to
        self._left = _STEPS
        self._running: list[types.CodeType] = []
        self._modules: list[Any] = []

    def step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Enough

    def read(self, node: ast.expr | None, place: Place) -> Seen:
        """Return what is known of the value of an expression."""
        if node is None:
            return PLAIN
        self.step()
        if id(node) in self.known:
            return self.known[id(node)]
        handler = getattr(self, f"_{type(node).__name__}", None)
        return self.found.now(handler(node, place)) if handler is not None else self._other(node, place)

    def _other(self, node: ast.expr, place: Place) -> Seen:
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.read(part, place)
        return UNKNOWN

    def _Constant(self, node: ast.Constant, place: Place) -> Seen:
        return of_live(node.value, node, place)

    def _Name(self, node: ast.Name, place: Place) -> Seen:
        if node.id in place.env:
            return place.env[node.id]
        for names in (place.locals, place.globals, vars(builtins)):
            if node.id in names:
                return of_live(names[node.id], node, place)
        return UNKNOWN

    def _Attribute(self, node: ast.Attribute, place: Place) -> Seen:
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

    def _Subscript(self, node: ast.Subscript, place: Place) -> Seen:
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

    def _Starred(self, node: ast.Starred, place: Place) -> Seen:
        return self.read(node.value, place)

    def _Tuple(self, node: ast.Tuple, place: Place) -> Seen:
        return Seen(items=tuple(self.read(item, place) for item in node.elts))

    def _List(self, node: ast.List, place: Place) -> Seen:
        return Seen(items=tuple(self.read(item, place) for item in node.elts), is_list=True)

    def _Slice(self, node: ast.Slice, place: Place) -> Seen:
        self._other(node, place)
        return PLAIN

    def _BinOp(self, node: ast.BinOp, place: Place) -> Seen:
        left, right = self.read(node.left, place), self.read(node.right, place)
        if left.items is not None or right.items is not None:
            return Seen(items=(*(left.items or ()), *(right.items or ())), is_list=left.is_list or right.is_list)
        return self.found.meet([(node.left, left), (node.right, right)], self.statement, place)

    def _Compare(self, node: ast.Compare, place: Place) -> Seen:
        sides = [(side, self.read(side, place)) for side in (node.left, *node.comparators)]
        if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return PLAIN
        if all(type(seen.value) in (bool, int, float, str) for _, seen in sides) and len(sides) == 2:
            return _compared(sides[0][1].value, node.ops[0], sides[1][1].value)
        return self.found.meet(sides, self.statement, place)

    def _BoolOp(self, node: ast.BoolOp, place: Place) -> Seen:
        for part in node.values:
            self.read(part, place)
        return UNKNOWN

    def _UnaryOp(self, node: ast.UnaryOp, place: Place) -> Seen:
        inner = self.read(node.operand, place)
        if isinstance(node.op, ast.USub) and type(inner.value) is int:
            return Seen(-inner.value, is_plain=True)
        return PLAIN if isinstance(node.op, ast.Not) else inner

    def _IfExp(self, node: ast.IfExp, place: Place) -> Seen:
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

    def _NamedExpr(self, node: ast.NamedExpr, place: Place) -> Seen:
        seen = self.read(node.value, place)
        self.assign(node.target, seen, place)
        return seen

    def _Await(self, node: ast.Await, place: Place) -> Seen:
        return self.read(node.value, place)

    def _Lambda(self, node: ast.Lambda, place: Place) -> Seen:
        return UNKNOWN

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp, place: Place) -> Seen:
        before = dict(place.env)
        for generator in node.generators:
            self.assign(generator.target, self.an_item(self.read(generator.iter, place), generator.iter, place), place)
        item = self.read(node.elt, place)
        place.env = before
        return Seen(items=(item,), is_list=True)

    _GeneratorExp = _ListComp

    def _Call(self, node: ast.Call, place: Place) -> Seen:
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
        self._modules.append(module)
        if is_of_pytorch and classes.name(type(module)) == "Sequential":
            seen = given[0][1] if given else UNKNOWN
            for child in objects.attributes(module).get("_modules", {}).values():
                seen = self._module(child, node, [(node.args[0], seen)] if node.args else [], [], place)
        elif is_of_pytorch:
            seen = of_layer(module, node, [*given, *named], self.found, At(self.statement, place))
        elif forward is not None and not is_library(plain(forward.__code__.co_filename)):
            seen = self._result(forward, Seen(module), node, given, named, place)
        else:
            there = any(objects.device(tensor) == self.found.wanted for tensor in objects.parameters(module)[:1])
            seen = Seen(device=self.found.wanted) if there else UNKNOWN
        self._modules.pop()
        for meeting in self.found.found[before:]:
            self._heal_whole(whole, [root.tensor for root in meeting.roots])
        return seen

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
        if tree is None:
            return UNKNOWN
        inner = Place(code, globals_of(function), {}, tree)
        _bind(inner, function, itself, node, [seen for _, seen in given], [seen for _, seen in named])
        statement = self.statement
        self._running.append(code)
        self.run_body(_body(tree), inner)
        self._running.pop()
        self.statement = statement
        return as_of(one_of(inner.returned), inner, node, place)

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
