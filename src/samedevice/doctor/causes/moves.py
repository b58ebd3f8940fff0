"""What the program's lines did to the model that holds a tensor: moved it, and then took it back or added to it."""

import ast

from samedevice.doctor.causes.models import root_of
from samedevice.doctor.culprits.evidence import Suspect
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import origin
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder, held_by_module


def is_where_wanted(about: Suspect, held: Holder) -> bool:
    """Whether the outermost module that holds it has others where it is wanted, or a line that moves it."""
    root, call = root_of(about, held)
    return _is_moved(root, call) or _has_others(about, root, call)


def not_moved_because(about: Suspect, held: Holder) -> str:
    """Why a parameter or a buffer is on the CPU: the model never left it, or came back, or it was added later."""
    root, call = root_of(about, held)
    if not _is_moved(root, call):
        return "model_not_moved"
    if _has_others(about, root, call):
        return "registered_after_move"
    return "model_moved_by_saving" if _is_taken_back(root, call) else "model_not_moved"


def _is_moved(root: str, call: Call) -> bool:
    if call.scope is None:
        return False
    if origin(root, call.scope, call.line).kind == "moved":
        return True
    return any(not _is_cpu(node) for node in _moves(root, call) if node.lineno <= call.line)


def _is_taken_back(root: str, call: Call) -> bool:
    return any(_is_cpu(node) for node in _moves(root, call))


def _moves(root: str, call: Call) -> list[ast.Call]:
    """The calls that move the model itself."""
    calls = [node for node in ast.walk(call.scope) if isinstance(node, ast.Call)] if call.scope is not None else []
    moves = [node for node in calls if isinstance(node.func, ast.Attribute) and origins.called(node) in origins.MOVES]
    return [node for node in moves if text_of(node.func.value) == root]  # type: ignore[attr-defined]


def _is_cpu(node: ast.Call) -> bool:
    to_cpu = node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == "cpu"
    return origins.called(node) == "cpu" or bool(to_cpu)


def _has_others(about: Suspect, root: str, call: Call) -> bool:
    module = value(parsed(root), call)
    tensors = held_by_module("", module) if objects.is_module(module) else ()
    return any(one.moves and objects.device(tensor) in about.others for tensor, one in tensors)
