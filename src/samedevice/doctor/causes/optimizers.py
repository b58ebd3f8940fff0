"""An optimizer's state is on another device than the parameter that it belongs to."""

import ast
from typing import Any

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import before_line
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import find_origin
from samedevice.introspect.values import value
from samedevice.placement.holders import stepped

state = cause("optimizer_state_device")
state.find(refused_tensors)


@state.detect
def optimizer_failed(evidence: Evidence) -> bool:
    """Tell whether the optimizer itself failed: a closure that it calls is the user's, and stands below it."""
    return any(objects.is_optimizer(call.method_of) for call in evidence.failure.calls_below)


@state.fix
def loaded_again(evidence: Evidence) -> Change | None:
    """Load the optimizer's own state: that moves each part of it to its parameter."""
    holder = evidence.holder
    names = [name for name, _ in evidence.failure.optimizers()]
    name = holder.root if holder is not None and holder.kind == "state" else next(iter(names), "optimizer")
    if name == "self":  # an optimizer of the program's own: its code has to create the state where the parameter is
        return None
    line = f"{name}.load_state_dict({name}.state_dict())"
    optimizer = next((found for known, found in evidence.failure.optimizers() if known == name), None)
    return _below_the_move(optimizer, evidence.failure) or before_line(evidence.failure.user_call, line)


def _below_the_move(optimizer: Any, failure: Failure) -> Change | None:
    """Load the state once: below the statement that moved the model, in a frame that names the optimizer too."""
    stepped_ids = set(map(id, stepped(optimizer))) if optimizer is not None else set()
    for call in failure.user_calls if stepped_ids else ():
        name = next((name for name, held in failure.names(call) if held is optimizer), "")
        for node in ast.walk(call.scope) if call.scope is not None and name else ():
            match node:
                case (
                    ast.Expr(value=ast.Call(func=ast.Attribute(value=model)) as move)
                    | ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Attribute(value=model)) as move)
                ) if origins.is_move(origins.called(move)):
                    module = value(model, call)
                    moves = objects.is_module(module) and not stepped_ids.isdisjoint(failure.registered(module))
                    if moves and _comes_after(node, name, call):
                        line = f"{name}.load_state_dict({name}.state_dict())"
                        return Change(line, Source.of_call(call).below(node, line))
    return None


def _comes_after(move: ast.stmt, name: str, call: Call) -> bool:
    """Tell whether a statement moved a model before the failing line, and after its optimizer was created."""
    created = find_origin(name, call.scope, call.line).statement if call.scope is not None else None
    return (created.lineno if isinstance(created, ast.stmt) else 0) < move.lineno < call.line
