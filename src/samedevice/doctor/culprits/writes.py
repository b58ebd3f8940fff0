"""Whether the program writes to a tensor in place: what is written to stays where it was created."""

import ast
import re

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.origins import called, decided_by
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder

# Of torch.distributed: each rank's tensor takes the result.
_COLLECTIVES = ("all_reduce", "broadcast", "reduce")


def is_written_to(evidence: Evidence) -> bool:
    """Tell whether the failing line writes to the tensor in place."""
    for call in (evidence.operand.call, evidence.failure.user_call):
        match call.node:
            case ast.AugAssign(target=target):
                pass
            case ast.Call(func=ast.Attribute(attr=method, value=target)) if is_in_place(method):
                pass
            case _:
                continue
        if value(target, call) is evidence.operand.tensor:
            return True
    return False


def is_written_in(call: Call, name: str) -> bool:
    """Tell whether a frame's function writes in place to a name, at its failing line, below it, or in a loop around."""
    if call.scope is None:
        return False
    loops = [node for node in ast.walk(call.scope) if isinstance(node, (ast.For, ast.While))]
    around = [loop.lineno for loop in loops if loop.lineno <= call.line <= (loop.end_lineno or 0)]
    first = min((call.line, *around))
    simple = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
    statements = [node for node in ast.walk(call.scope) if isinstance(node, simple)]
    return any(writes_to(node, name) for node in statements if (node.end_lineno or 0) >= first)


def writes_to(statement: ast.stmt, name: str) -> bool:
    """Tell whether a statement writes in place to a name, or to the `.data` of it, or to a part.

    It does by `+=`, `x[i] = ...`, a method such as `add_`, a function such as `init.zeros_`, as `out=`, with
    `inplace=True`, or by a collective such as `all_reduce`.
    """
    return any(_is_or_is_of(target, name) for node in ast.walk(statement) for target in _written(node))


def _written(node: ast.AST) -> list[ast.expr]:
    """Return what one node of a statement writes to in place."""
    match node:
        case ast.AugAssign(target=target):
            return [target]
        case ast.Assign(targets=targets):
            return [target.value for target in targets if isinstance(target, ast.Subscript)]
        case ast.keyword(arg="out", value=target):
            return [target]
        case ast.Call():
            name = called(node)
            is_inplace = any(
                keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                for keyword in node.keywords
            )
            if is_in_place(name):
                base = [node.func.value] if isinstance(node.func, ast.Attribute) else []
                return [*base, *node.args[:1]]
            return node.args[:1] if is_inplace or name in _COLLECTIVES else []
    return []


def _is_or_is_of(node: ast.expr, name: str) -> bool:
    """Tell whether an expression is a name, its `.data`, or a part of it."""
    while True:
        if text_of(node) == name:
            return True
        match node:
            case ast.Attribute(value=inner, attr="data") | ast.Subscript(value=inner):
                node = inner
            case _:
                return False


def is_updated(evidence: Evidence, holder: Holder) -> bool:
    """Tell whether the failing line, or a method of the holder's class, writes to the tensor in place."""
    if is_written_to(evidence):
        return True
    names = {name for owner in classes.mro(type(holder.module)) for name in classes.namespace(owner)}
    for name in names - {"__init__"}:
        method = objects.method(holder.module, name)
        if method is None or holder.name not in method.__code__.co_names:
            continue
        tree = scope(method.__code__, globals_of(method))
        for node in ast.walk(tree) if tree is not None else ():
            target = _target(node)
            if target and re.fullmatch(rf"self\.{re.escape(holder.name)}(\[.*\])?", target):
                return True
    return False


def _target(node: ast.AST) -> str:
    """Return what a statement writes to, given what was there before; "" for any other statement."""
    match node:
        case ast.Assign(targets=[target], value=ast.Call(func=ast.Attribute(value=old)) as move) if decided_by(
            called(move)
        ) in ("move", "argument") and text_of(old) == text_of(target):
            return ""  # it is only moved
        case ast.Assign(targets=[target], value=new) if ast.unparse(target) in ast.unparse(new):
            return ast.unparse(target)
        case ast.AugAssign(target=target) | ast.Assign(targets=[ast.Subscript(value=target)]):
            return ast.unparse(target)
        case ast.Call(func=ast.Attribute(attr=method, value=target)) if is_in_place(method):
            return ast.unparse(target)
    return ""


def is_in_place(method: str) -> bool:
    """Tell whether a method or a function of PyTorch writes to its first argument, by its name: `add_`, `zeros_`."""
    return method.endswith("_") and not method.startswith("_") and method not in ("requires_grad_", "share_memory_")
