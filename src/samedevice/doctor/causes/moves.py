"""Expressions that create or move a tensor, written anew for another device: all else that they say stays."""

import ast
import copy
from typing import Any

from samedevice.doctor.edits import Part, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import kind_of
from samedevice.introspect.values import value


def created_on(created: ast.expr, device: str, call: Call | None = None) -> str:
    """Write an expression with `device=` in the calls that create its tensors, and without a move elsewhere.

    Args:
        created: the expression.
        device: the device, as it is to be written.
        call: the frame that the expression is of, if it is one's.

    Example:
        >>> created_on(ast.parse("torch.zeros(3, dtype=x.dtype).cuda()", mode="eval").body, "x.device")
        'torch.zeros(3, dtype=x.dtype, device=x.device)'
    """
    there = ast.parse(device, mode="eval").body
    is_changed = False

    class OnDevice(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> Any:
            nonlocal is_changed
            if origins.creates(node) and origins.decided_by(origins.called(node)) != "cpu":
                node.keywords = [keyword for keyword in node.keywords if keyword.arg != "device"]
                node.keywords.append(ast.keyword("device", there))
                result = node
            elif origins.is_move(origins.called(node)) and isinstance(node.func, ast.Attribute):
                is_created = kind_of(node.func.value) == "created"
                if is_created and (kept := _without_its_device(node, call)) is not None:
                    kept.func = ast.Attribute(self.visit(node.func.value), "to", ast.Load())
                    result = kept
                else:
                    result = self.visit(node.func.value) if is_created else _to(node, there, call)
            else:
                return self.generic_visit(node)
            is_changed = True
            return result

    tree = OnDevice().visit(copy.deepcopy(created))
    return text_of(tree if is_changed else _to(tree, there, call))


def parts_created_on(source: Source, created: ast.expr, device: str, call: Call | None = None) -> tuple[Part, ...]:
    """Write that device into the calls of a file's expression that create its tensors; else write it anew as a whole.

    Args:
        source: the file.
        created: the expression, at its place in the file.
        device: the device, as it is to be written.
        call: the frame that the expression is of, if it is one's.
    """
    calls = [node for node in ast.walk(created) if isinstance(node, ast.Call)]
    factories = [node for node in calls if origins.creates(node)]
    is_moved = any(origins.called(node) in ("cuda", "to", "cpu") for node in calls)
    is_on_the_cpu = any(origins.decided_by(origins.called(node)) == "cpu" for node in factories)
    if factories and not (is_moved or is_on_the_cpu):
        within = {id(inner) for outer in factories for inner in ast.walk(outer) if inner is not outer}
        parts = [source.with_keyword(node, "device", device) for node in factories if id(node) not in within]
        if all(parts):
            return tuple(part for each in parts for part in each)
    return source.replaced(created, created_on(created, device, call))


def moved_to(tensor: ast.expr, device: str, call: Call | None = None) -> ast.Call:
    """Return `tensor.to(device)`; of a tensor that is moved already, that move with this device.

    Example:
        >>> text_of(moved_to(ast.parse("x.to(dtype=y.dtype)", mode="eval").body, "y.device"))
        'x.to(dtype=y.dtype, device=y.device)'
        >>> text_of(moved_to(ast.parse("x.cuda(non_blocking=True)", mode="eval").body, "y.device"))
        'x.to(y.device, non_blocking=True)'
    """
    return _to(tensor, ast.parse(device, mode="eval").body, call)


def _to(tensor: ast.expr, device: ast.expr, call: Call | None) -> ast.Call:
    match tensor:
        case ast.Call(func=ast.Attribute(attr="cuda" | "cpu", value=inner), keywords=keywords):
            kept = [keyword for keyword in keywords if keyword.arg not in ("device", "memory_format")]
            return ast.Call(ast.Attribute(inner, "to", ast.Load()), [device], kept)
        case ast.Call(func=ast.Attribute(attr="to", value=inner)):
            kept_call = _without_its_device(tensor, call) or ast.Call(tensor.func, [], [])
            rest = [keyword for keyword in kept_call.keywords if keyword.arg != "device"]
            if kept_call.args or any(keyword.arg == "dtype" for keyword in rest):
                rest.append(ast.keyword("device", device))
                return ast.Call(ast.Attribute(inner, "to", ast.Load()), kept_call.args, rest)
            return ast.Call(ast.Attribute(inner, "to", ast.Load()), [device], rest)
    return ast.Call(ast.Attribute(tensor, "to", ast.Load()), [device], [])


def _without_its_device(move: ast.Call, call: Call | None) -> ast.Call | None:
    """Return `x.to(...)` with what it says of the dtype and of memory alone; None where it says nothing of them.

    What it takes from another tensor, as in `x.to(other)`, is the dtype too.
    """
    if origins.called(move) != "to" or not isinstance(move.func, ast.Attribute):
        return None
    keywords = [keyword for keyword in move.keywords if keyword.arg != "device"]
    args: list[ast.expr] = []
    for number, argument in enumerate(move.args):
        if _is_dtype(argument):
            args.append(argument)
        elif number == 0 and len(move.args) == 1 and not keywords and call and objects.is_tensor(value(argument, call)):
            keywords = [ast.keyword("dtype", ast.Attribute(argument, "dtype", ast.Load()))]
    return ast.Call(move.func, args, keywords) if args or keywords else None


def _is_dtype(node: ast.expr) -> bool:
    """Tell whether an expression is a dtype by its name: `torch.float16`, `x.dtype`, `dtype`, `weight_dtype`."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    kinds = (
        "float",
        "bfloat",
        "double",
        "half",
        "int",
        "uint",
        "long",
        "short",
        "bool",
        "complex",
        "cfloat",
        "cdouble",
    )
    is_of_torch = isinstance(node, ast.Attribute) and name.rstrip("0123456789") in kinds
    return name.lower().endswith("dtype") or is_of_torch
