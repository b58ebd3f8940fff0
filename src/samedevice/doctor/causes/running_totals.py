"""Whether a tensor is a running total: what is written to in place, line after line, never moves."""

import ast
import re

from samedevice.doctor.culprits.evidence import Suspect
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import scope
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder


def is_written_to(about: Suspect) -> bool:
    """Whether the failing line writes to the tensor in place."""
    for call in (about.party.call, about.scene.place):
        match call.node:
            case ast.AugAssign(target=written_to):
                pass
            case ast.Call(func=ast.Attribute(attr=method, value=written_to)) if _in_place(method):
                pass
            case _:
                continue
        if value(written_to, call) is about.party.tensor:
            return True
    return False


def is_updated(about: Suspect, held: Holder) -> bool:
    """Whether what holds it is a running total: the failing line, or a method of its class, writes to it in place."""
    if is_written_to(about):
        return True
    for name in {name for owner in classes.mro(type(held.module)) for name in classes.namespace(owner)} - {"__init__"}:
        method = objects.method(held.module, name)
        if method is None or held.name not in method.__code__.co_names:
            continue
        tree = scope(method.__code__, method.__globals__)
        for inner in ast.walk(tree) if tree is not None else ():
            match inner:
                case ast.Assign(targets=[written_to], value=new) if ast.unparse(written_to) in ast.unparse(new):
                    pass
                case ast.AugAssign(target=written_to) | ast.Assign(targets=[ast.Subscript(value=written_to)]):
                    pass
                case ast.Call(func=ast.Attribute(attr=called, value=written_to)) if _in_place(called):
                    pass
                case _:
                    continue
            if re.fullmatch(rf"self\.{re.escape(held.name)}(\[.*\])?", ast.unparse(written_to)):
                return True
    return False


def _in_place(method: str) -> bool:
    return method.endswith("_") and not method.startswith("_") and method not in ("requires_grad_", "share_memory_")


def grows(tree: ast.AST, name: re.Match[str] | None) -> bool:
    """Whether something is appended to a list."""
    return name is not None and any(
        isinstance(node, ast.Attribute) and node.attr in ("append", "extend") and ast.unparse(node.value) == name[0]
        for node in ast.walk(tree)
    )


def given_in(loop: ast.AST, name: str) -> bool:
    for node in ast.walk(loop):
        match node:
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                if name in ast.unparse(target):
                    return True
            case ast.Call(func=ast.Attribute(attr=method, value=base)) if method.endswith("_"):
                if text_of(base) == name:
                    return True
    return False
