"""Where the value of an expression must be that nobody kept: what it begins with, what it asks for, or the default."""

import ast
import sys
import types
from typing import Any

from samedevice.introspect import objects
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import device_argument, kind_of, origin
from samedevice.introspect.values import function_of, returns, value


def receiver(node: ast.expr, call: Call) -> tuple[ast.expr, Any] | None:
    """Of `x.float().view(-1)` and the like, whose value nobody holds, the tensor at their beginning."""
    while value(node, call) is MISSING:
        match node:
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                node = inner
            case ast.UnaryOp(operand=inner):
                node = inner
            case ast.BinOp():
                return receiver(node.left, call) or receiver(node.right, call)
            case ast.Compare():
                found = (receiver(side, call) for side in (node.left, *node.comparators))
                return next(filter(None, found), None)
            case _:
                return None
    found = value(node, call)
    return (node, found) if objects.is_tensor(found) else None


def expected_device(node: ast.expr, call: Call) -> str:
    """Where the value of an expression that was not kept must be; "" where that cannot be told."""
    held = value(node, call)
    if held is not MISSING:
        return next((objects.device(tensor) for _, tensor in objects.inside(held)), "")
    match node:
        case ast.Call():
            kind = kind_of(node)
            asked = device_argument(node)
            if asked is not None:
                return _device_named(asked, call)
            if kind == "made":
                if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
                    return expected_device(node.func.value, call)
                return _default_device()
            if kind == "moved" and isinstance(node.func, ast.Attribute):
                if node.func.attr == "cpu":
                    return "cpu"
                if node.func.attr == "cuda":
                    return _device_named(node.args[0], call) if node.args else "cuda:0"
                return _device_named(node.args[0], call) if node.args else expected_device(node.func.value, call)
            helper = function_of(node.func, call)
            if helper is not None and _makes_by_default(helper):
                return _default_device()
            called = value(node.func, call)
            if objects.is_module(called):
                return next((objects.device(tensor) for tensor in objects.parameters(called)), "")
            if isinstance(node.func, ast.Attribute) and (where := expected_device(node.func.value, call)):
                return where
            return next(filter(None, (expected_device(argument, call) for argument in node.args)), "")
        case ast.BinOp():
            return _of_sides([node.left, node.right], call)
        case ast.Compare():
            return _of_sides([node.left, *node.comparators], call)
        case ast.UnaryOp():
            return expected_device(node.operand, call)
        case ast.Subscript() | ast.Attribute():
            return expected_device(node.value, call)
        case ast.Starred():
            return expected_device(node.value, call)
    return ""


def is_told_by_source(node: ast.expr, call: Call) -> bool:
    """Whether the source says where a value is: a factory or a move makes it, here or in a helper, or a tensor did.

    A layer's parameters, and what a function is given, say where its result is likely to be, and no more.
    """
    if kind_of(node) in ("made", "moved"):
        return True
    match node:
        case ast.Call():
            helper = function_of(node.func, call)
            return helper is not None and _makes_by_default(helper)
        case ast.BinOp():
            return all(
                value(side, call) is not MISSING or is_told_by_source(side, call) for side in (node.left, node.right)
            )
        case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
            return value(inner, call) is not MISSING or is_told_by_source(inner, call)
    return False


def _of_sides(nodes: list[ast.expr], call: Call) -> str:
    """Where the result of an operator is: a number on the CPU may join what is elsewhere."""
    sides = [expected_device(node, call) for node in nodes]
    return next((side for side in sides if side not in ("", "cpu")), next(filter(None, sides), ""))


def _device_named(node: ast.expr, call: Call) -> str:
    """The device that an expression names: text, a number, a torch.device, the `.device` of a tensor."""
    if isinstance(node, ast.Attribute) and node.attr == "device":
        return expected_device(node.value, call)
    named = value(node, call)
    if objects.is_tensor(named):
        return objects.device(named)
    if type(named) is int:
        return f"cuda:{named}"
    text = str(named) if type(named) is str or objects.is_device(named) else ""
    return "cuda:0" if text == "cuda" else text


def _makes_by_default(helper: types.FunctionType) -> bool:
    """Whether all that a function of the program's returns is made in it without a device."""
    if is_library(helper.__code__.co_filename):
        return False
    tree = scope(helper.__code__, helper.__globals__)
    made = [origin(one.id, tree, 10**9).value if isinstance(one, ast.Name) and tree else one for one in returns(helper)]
    return bool(made) and all(
        one is not None
        and kind_of(one) == "made"
        and all(device_argument(node) is None for node in ast.walk(one) if isinstance(node, ast.Call))
        for one in made
    )


def _default_device() -> str:
    where = str(sys.modules["torch"].get_default_device())
    return "cuda:0" if where == "cuda" else where
