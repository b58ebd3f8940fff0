"""What an expression of the source stands for, looked up and never run: names, attributes, items.

A call's value is not to be had, but its first argument or a missing `device=` often tells where its result is.
"""

import ast
import builtins
import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import Expression, text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.objects import MISSING

_LISTS = (ast.List, ast.Tuple, ast.ListComp)


@dataclass(frozen=True, eq=False)
class Argument:
    """One part that a failing expression works on, such as `x` and `y` of `x + y`.

    Attributes:
        node: the part in the source.
        value: what it stands for, or MISSING where that is not known.
        role: the name of the argument that it is passed for, where the source has one, else "".
    """

    node: ast.expr
    value: Any
    role: str = ""

    @property
    def expression(self) -> Expression:
        return Expression.of(self.node)


def value(node: ast.AST, call: Call) -> Any:
    """Return what `node` stands for in a frame, or MISSING."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            for names in (call.locals, call.globals, vars(builtins)):
                if node.id in names:
                    return names[node.id]
            return MISSING
        case ast.Attribute():
            base = value(node.value, call)
            found = MISSING if base is MISSING else objects.attribute(base, node.attr)
            return _computed(base, node.attr, call) if found is MISSING and base is not MISSING else found
        case ast.Subscript():
            base, key = value(node.value, call), value(node.slice, call)
            return MISSING if base is MISSING or key is MISSING else objects.item(base, key)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
        case ast.JoinedStr():
            return _joined(node, call)
        case ast.Starred():
            return value(node.value, call)
        case ast.NamedExpr():
            return value(node.target, call)
        case ast.Tuple() | ast.List():
            items = [value(item, call) for item in node.elts]
            return MISSING if any(item is MISSING for item in items) else items
    return MISSING


@dataclass(frozen=True)
class _Getter:
    """A property's getter as if it were running, so that what its `return` names can be looked up."""

    locals: dict[str, Any]
    globals: dict[str, Any]
    depth: int


def _computed(base: Any, name: str, call: Any) -> Any:
    """Return `base.name` of a property that only returns what can be looked up."""
    depth = call.depth if isinstance(call, _Getter) else 0
    function = objects.getter(base, name)
    if function is None or depth > 3:
        return MISSING
    returned = returns(function)
    if len(returned) != 1:
        return MISSING
    first = function.__code__.co_varnames[:1]
    within = _Getter(dict.fromkeys(first, base), globals_of(function), depth + 1)
    return value(returned[0], within)  # type: ignore[arg-type]


def value_in(node: ast.AST, held: Any) -> Any:
    """Return what an expression stands for in the methods of an object, or MISSING."""
    return value(node, _Getter({"self": held}, {}, 0))  # type: ignore[arg-type]


def returns(function: types.FunctionType) -> list[ast.expr]:
    """Return what a function returns, as its source has it."""
    tree = scope(function.__code__, globals_of(function))
    nodes = ast.walk(tree) if tree is not None else ()
    return [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]


def function_of(node: ast.expr, call: Call) -> types.FunctionType | None:
    """Return the function that a call of `node` runs, if it is one of the program's."""
    found = value(node, call)
    if type(found) is functools._lru_cache_wrapper:
        found = objects.attributes(found).get("__wrapped__")
    if type(found) is types.FunctionType:
        return found
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Call) and text_of(node.value.func) == "super":
            return _of_a_base(node.attr, call)
        base = value(node.value, call)
        return objects.method(base, node.attr) if base is not MISSING else None
    return None


def _of_a_base(name: str, call: Call) -> types.FunctionType | None:
    """Return the function that `super().name(...)` runs."""
    owner, code = call.method_of, call.frame.f_code
    found = [classes.namespace(base).get(name) for base in classes.mro(type(owner))] if owner is not None else []
    functions = [classes.wrapped(each)[-1] for each in found if type(each) is types.FunctionType]
    own = [place for place, function in enumerate(functions) if function.__code__ is code]
    return functions[own[0] + 1] if own and own[0] + 1 < len(functions) else None


def _joined(node: ast.JoinedStr, call: Call) -> Any:
    """Return the value of an f-string of text and numbers, or MISSING."""
    parts = [
        value(part.value, call)
        if isinstance(part, ast.FormattedValue) and part.format_spec is None
        else value(part, call)
        for part in node.values
    ]
    return "".join(map(str, parts)) if all(type(part) in (str, int) for part in parts) else MISSING


def arguments(call: Call) -> list[Argument]:
    """Return what the failing expression of a frame works on, in its order."""
    return list(_parts(call.node, call)) if call.node is not None else []


def _parts(node: ast.AST, call: Call) -> Iterator[Argument]:
    parts: list[tuple[ast.expr, str]]
    match node:
        case ast.BinOp(left=left, right=right):
            parts = [(left, ""), (right, "")]
        case ast.Compare(left=left, comparators=others):
            parts = [(part, "") for part in (left, *others)]
        case ast.Assign(targets=[ast.Subscript() as target]):
            parts = [(target.value, ""), (target.slice, "index"), (node.value, "")]
        case ast.Assign(targets=[ast.Attribute(value=target)]) | ast.AugAssign(target=target):
            parts = [(target, ""), (node.value, "")]
        case ast.Subscript(value=base, slice=index):
            parts = [(base, ""), (index, "index")]
        case ast.Call():
            parts = _passed(node, call)
        case ast.UnaryOp(operand=part) | ast.Attribute(value=part) | ast.For(iter=part) | ast.AsyncFor(iter=part):
            parts = [(part, "")]
        case ast.Assign(value=inner) | ast.Expr(value=inner) | ast.Return(value=inner) | ast.Await(value=inner):
            if inner is not None:
                yield from _parts(inner, call)
            return
        case ast.expr():
            parts = [(node, "")]
        case _:
            return
    for part, role in parts:
        yield from _flat(part, role, call)


def _passed(node: ast.Call, call: Call) -> list[tuple[ast.expr, str]]:
    """Return what a call works on and the names of these arguments: what stands before the dot, too, and a module."""
    receiver = [(node.func.value, "")] if isinstance(node.func, ast.Attribute) else []
    passed = [*receiver, *((argument, "") for argument in node.args)]
    passed += [(keyword.value, keyword.arg or "") for keyword in node.keywords]
    is_a_module = objects.is_module(value(node.func, call))
    return [*passed, (node.func, "module")] if is_a_module else passed


def _flat(node: ast.expr, role: str, call: Call) -> Iterator[Argument]:
    found = value(node, call)
    if found is MISSING and isinstance(node, (ast.List, ast.Tuple)):
        for item in node.elts:
            yield from _flat(item, role, call)
    elif found is MISSING and isinstance(node, ast.BinOp) and _makes_a_list(node):
        for item in (node.left, node.right):
            yield from _flat(item, role, call)
    elif found is MISSING and isinstance(node, ast.Dict):
        for item in node.values:
            yield from _flat(item, role, call)
    elif found is MISSING and isinstance(node, ast.Call) and _hands_on(node):
        for item in node.args:
            yield from _flat(item, role, call)
    else:
        yield Argument(node, found, role)


def _makes_a_list(node: ast.BinOp) -> bool:
    """Tell whether an operator joins lists: `[first] + [part * 2 for part in parts]`."""
    return isinstance(node.op, ast.Add) and any(isinstance(side, _LISTS) for side in (node.left, node.right))


def _hands_on(node: ast.Call) -> bool:
    """Tell whether a call yields what its arguments hold, as zip(*pairs) and list(map(torch.stack, parts)) do."""
    return isinstance(node.func, ast.Name) and node.func.id in ("zip", "map", "list", "tuple", "reversed", "iter")
