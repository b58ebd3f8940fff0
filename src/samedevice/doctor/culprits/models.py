"""What the program does with the model that holds or meets a tensor: names it, moves it, takes it back, runs it."""

import ast
import types
from typing import Any

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.introspect import classes, objects, origins
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.origins import find_origin
from samedevice.introspect.returned import Returned
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder


def root_of(evidence: Evidence, holder: Holder) -> tuple[str, Call]:
    """Find the outermost module that holds the tensor: its name in the outermost user frame that has one, and it."""
    roots = evidence.failure.roots
    if id(evidence.operand.tensor) not in roots:
        roots[id(evidence.operand.tensor)] = _find_root(evidence, holder)
    return roots[id(evidence.operand.tensor)]


def _find_root(evidence: Evidence, holder: Holder) -> tuple[str, Call]:
    found = holder.root, evidence.failure.user_call
    for call in evidence.failure.user_calls:
        for name, module in evidence.failure.named_modules(call):
            if name != call.itself and id(evidence.operand.tensor) in evidence.failure.registered(module):
                found = name, call
    return found


def is_moved(root: str, call: Call) -> bool:
    """Tell whether the program moved a model to another device than the CPU before a line."""
    if call.scope is None:
        return False
    if find_origin(root, call.scope, call.line).kind == "moved":
        return True
    return any(not _is_to_cpu(move) for move in _moves(root, call) if move.lineno <= call.line)


def is_moved_in_parts(root: str, call: Call) -> bool:
    """Tell whether the program moves parts of a model, such as `model.head`."""
    return any(text_of(move.func.value).startswith((f"{root}.", f"{root}[")) for move in _all_moves(call))  # type: ignore[attr-defined]


def is_taken_back(root: str, call: Call) -> bool:
    """Tell whether the program moves a model to the CPU, in a frame or in another method of the object that runs."""
    if any(_is_to_cpu(move) for move in _moves(root, call)):
        return True
    is_of_it = bool(call.itself) and root.startswith(f"{call.itself}.")
    methods = [objects.method(call.method_of, name) for name in _names_of_methods(call)] if is_of_it else []
    trees = [scope(method.__code__, globals_of(method)) for method in methods if method is not None]
    calls = [node for tree in trees if tree is not None for node in ast.walk(tree) if isinstance(node, ast.Call)]
    moves = [node for node in calls if isinstance(node.func, ast.Attribute) and origins.is_move(node.func.attr)]
    return any(_is_to_cpu(move) and text_of(move.func.value) == root for move in moves)  # type: ignore[attr-defined]


def _names_of_methods(call: Call) -> list[str]:
    namespaces = [classes.namespace(kind) for kind in classes.mro(type(call.method_of))]
    return [name for names in namespaces for name, inner in names.items() if isinstance(inner, types.FunctionType)]


def has_others_there(evidence: Evidence, root: str, call: Call) -> bool:
    """Tell whether other parameters or buffers of a model are where the tensor is wanted."""
    module = value(parsed(root), call)
    devices = evidence.failure.devices(module) if objects.is_module(module) else frozenset()
    return not devices.isdisjoint(evidence.other_devices)


def is_dispatched(module: Any) -> bool:
    """Tell whether accelerate has put hooks on a module or on what is in it: it refuses to be moved as a whole."""
    waiting, seen = [module], set[int]()
    while waiting:
        layer = waiting.pop()
        own = objects.attributes(layer)
        if "_hf_hook" in own:
            return True
        if id(layer) not in seen:
            seen.add(id(layer))
            waiting += [inner for inner in own.get("_modules", {}).values() if objects.is_module(inner)]
    return False


def is_where_wanted(evidence: Evidence, holder: Holder) -> bool:
    """Tell whether the outermost module that holds the tensor was moved, or has others where it is wanted."""
    root, call = root_of(evidence, holder)
    return is_moved(root, call) or has_others_there(evidence, root, call)


def is_fed_to_a_model(evidence: Evidence) -> bool:
    """Tell whether the tensor met the parameters of a model, in the model's own code or a library's."""
    tensors = [operand.tensor for operand in evidence.other_operands if operand.tensor is not None]
    holders = map(evidence.failure.holder, tensors)
    return evidence.operand.call.in_library and any(holder is not None and holder.moves for holder in holders)


def is_in_forward(evidence: Evidence, within: Call | None = None) -> bool:
    """Tell whether a module's own code is running; with `within`, whether it calls that frame, or is it."""
    calls = evidence.failure.user_calls
    if within is not None:
        within = within.live if isinstance(within, Returned) else within
        calls = calls[calls.index(within) :] if within in calls else []
    return any(objects.is_module(call.method_of) for call in calls)


def _moves(root: str, call: Call) -> list[ast.Call]:
    """Return the calls that move the model itself."""
    return [move for move in _all_moves(call) if text_of(move.func.value) == root]  # type: ignore[attr-defined]


def _all_moves(call: Call) -> list[ast.Call]:
    """Return the calls of a frame that move something."""
    nodes = [node for node in ast.walk(call.scope) if isinstance(node, ast.Call)] if call.scope is not None else []
    return [node for node in nodes if isinstance(node.func, ast.Attribute) and origins.is_move(node.func.attr)]


def _is_to_cpu(move: ast.Call) -> bool:
    names_cpu = move.args and isinstance(move.args[0], ast.Constant) and move.args[0].value == "cpu"
    return origins.called(move) == "cpu" or bool(names_cpu)
