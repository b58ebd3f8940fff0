"""Whether the program writes to a tensor in place: what is written to stays where it was created."""

import ast
import re

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder


def is_written_to(evidence: Evidence) -> bool:
    """Tell whether the failing line writes to the tensor in place."""
    for call in (evidence.operand.call, evidence.failure.user_call):
        match call.node:
            case ast.AugAssign(target=target):
                pass
            case ast.Call(func=ast.Attribute(attr=method, value=target)) if _is_in_place(method):
                pass
            case _:
                continue
        if value(target, call) is evidence.operand.tensor:
            return True
    return False


def writes_to(statement: ast.stmt, name: str) -> bool:
    """Tell whether a statement writes in place to a name: by `+=`, by a method such as `add_`, or as `out=`."""
    for node in ast.walk(statement):
        match node:
            case ast.AugAssign(target=target) if text_of(target) == name:
                return True
            case ast.Call(func=ast.Attribute(attr=method, value=target)) if _is_in_place(method):
                if text_of(target) == name:
                    return True
            case ast.keyword(arg="out", value=target) if text_of(target) == name:
                return True
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
        case ast.Assign(targets=[target], value=new) if ast.unparse(target) in ast.unparse(new):
            return ast.unparse(target)
        case ast.AugAssign(target=target) | ast.Assign(targets=[ast.Subscript(value=target)]):
            return ast.unparse(target)
        case ast.Call(func=ast.Attribute(attr=method, value=target)) if _is_in_place(method):
            return ast.unparse(target)
    return ""


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.startswith("_") and method not in ("requires_grad_", "share_memory_")
