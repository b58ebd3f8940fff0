"""Moves without effect: the result was thrown away, or the name is older than the move.

`Module.to` gives a parameter new memory and puts another tensor in the place of a buffer (torch/nn/modules/module.py,
`_apply`), so a name that was given `encoder.weight.data` or `norm.running_mean` before still means the old tensor.
"""

import ast
import re
import types
from typing import Any

from samedevice.catalog import load
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import in_line
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.writes import is_written_to
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.origins import find_origin
from samedevice.introspect.values import function_of, returns, value, value_in

ineffective_move = cause("in_place_or_copy")


@ineffective_move.detect
def is_moved_without_effect(evidence: Evidence) -> bool:
    """Tell whether the program moved it and kept the old tensor, or has an old name for it."""
    tree, name, origin = evidence.origin_call.scope, evidence.origin_name, evidence.origin
    if _registered_name(evidence) is not None or _move_in_its_class(evidence) is not None:
        return True
    if _move_of_each_item(evidence) is not None:
        return True
    if tree is None or not name:
        return False
    if origins.discarded_move(name, tree) is not None:
        return True
    alias = origin.value if origin.kind == "other" else None
    if isinstance(alias, ast.Name) and find_origin(alias.id, tree, evidence.origin_call.line).kind == "moved":
        return True
    if (re.match(r"\w+", name) or [""])[0] in origins.moved_in_a_loop(tree):
        return True
    if isinstance(origin.value, ast.Call):
        helper = function_of(origin.value.func, evidence.origin_call)
        return helper is not None and _throws_away(helper, origin.value, evidence.origin_call)
    return False


@ineffective_move.fix
def with_effect(evidence: Evidence) -> Change | None:
    """Use the name that the module has for it; else assign the result of the move."""
    own_name = _registered_name(evidence)
    if own_name is not None:
        is_here = evidence.call is evidence.failure.user_call
        change = in_line(evidence, own_name)
        return change if is_here else Change(f"{evidence.expression.text} = {own_name}", change.parts)
    found = _discarded_move(evidence) or _move_of_each_item(evidence)
    if found is None:
        return None
    source, move = found
    call: Any = move.value
    line = f"{text_of(call.func.value)} = {text_of(call)}"
    return Change(line, source.replaced(move, line))


def _discarded_move(evidence: Evidence) -> tuple[Source, ast.Expr] | None:
    """Find the statement that moves it and throws the result away, and the file of that."""
    if evidence.holder is not None:
        found = origins.discarded_in(evidence.holder.module, evidence.holder.name)
        return (Source.of_method(found[0]), found[1]) if found is not None else None
    tree, name = evidence.origin_call.scope, evidence.origin_name
    if tree is None or name != evidence.expression.text:
        return None
    move = origins.discarded_move(name, tree)
    return (Source.of_call(evidence.origin_call), move) if move is not None else None


def _move_of_each_item(evidence: Evidence) -> tuple[Source, ast.Expr] | None:
    """Find `batch[key].to(device)` in a loop, where the culprit is `batch["labels"]`."""
    node = evidence.expression.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    for call in evidence.failure.user_calls:
        for statement in ast.walk(call.scope) if call.scope is not None else ():
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr=move, value=ast.Subscript(base, ast.Name())))):
                    if origins.is_move(move) and value(base, call) is value(node.value, evidence.call):
                        return Source.of_call(call), statement
    return None


def _move_in_its_class(evidence: Evidence) -> tuple[Source, ast.Expr] | None:
    """Find that statement in the class of the object that has it as a plain attribute."""
    is_attribute = evidence.holder is not None and evidence.holder.kind == "attribute"
    return _discarded_move(evidence) if is_attribute else None


def _registered_name(evidence: Evidence) -> str | None:
    """Return what a module calls the tensor, if the program's name for it was taken from the module before a move."""
    holder = evidence.holder
    if holder is None:
        taken = evidence.origin.value
    elif holder.kind == "attribute" and objects.is_module(holder.module):
        assignment = origins.assigned(holder.module, holder.name)
        taken = assignment.value if assignment is not None else None
    else:
        return None
    node, tensor, devices = taken, None, load().devices
    while node is not None:
        tensor = value(node, evidence.origin_call) if holder is None else value_in(node, holder.module)
        if objects.is_tensor(tensor):
            break
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if devices.methods.get(method) == "view":
                node = inner
            case ast.Attribute(value=inner, attr=attribute) if devices.attributes.get(attribute) == "view":
                node = inner
            case ast.Subscript(value=inner):
                node = inner
            case _:
                return None
    if taken is None or objects.device(tensor) not in evidence.other_devices or is_written_to(evidence):
        return None
    evidence.failure.want(tensor)
    owner = evidence.failure.holder(tensor)
    if owner is None or not owner.moves:
        return None
    # `.data` was for a name of its own: the parameter itself is where the module is, and learns.
    return text_of(taken).removesuffix(".data")


def _throws_away(helper: types.FunctionType, node: ast.Call, call: Call) -> bool:
    """Tell whether a helper moves what it was given, or what is in it, and returns that as it was."""
    tree = scope(helper.__code__, globals_of(helper))
    if tree is None or any(objects.is_module(value(argument, call)) for argument in node.args):
        return False
    returned = {name.id for result in returns(helper) for name in ast.walk(result) if isinstance(name, ast.Name)}
    return bool(returned & {*origins.discarded_moves(tree), *origins.moved_in_a_loop(tree)})
