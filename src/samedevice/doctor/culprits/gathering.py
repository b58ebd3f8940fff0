"""Gather the evidence of a tensor: the name in one frame, the holder, and the roots, of which the nearest decides."""

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.naming import named_by_the_program
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.culprits.provenance import Provenance, follow
from samedevice.doctor.culprits.roots import CAME_IN, Search
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import Expression
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin, asks_for_a_device, find_origin, kind_of
from samedevice.introspect.returned import Returned, called_by
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder

_CONTAINERS = (ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp)


def gather(operand: Operand, operands: list[Operand], failure: Failure, likely_causes: tuple[str, ...]) -> Evidence:
    """Gather what is known of an operand.

    Args:
        operand: the tensor in the wrong place.
        operands: all tensors that met in the failing operation.
        failure: the frames.
        likely_causes: the ids of the causes that the error's text suggests, the most likely first.
    """
    holder = failure.holder(operand.tensor) if operand.tensor is not None else None
    expression, call = named_by_the_program(operand, holder, failure)
    if isinstance(expression.node, ast.Attribute):
        whole = value(expression.node.value, call)
        if objects.is_tensor(whole) and expression.node.attr not in objects.attributes(whole):
            expression = Expression.of(expression.node.value)  # `x` of `x.T`, but not of what the program gave it
    named = value(expression.node, call)
    if holder is None and operand.tensor is not None and named is not operand.tensor and objects.is_tensor(named):
        # A copy that nobody holds: what the line names is what has to move.
        failure.want(named)
        operand, holder = replace(operand, tensor=named), failure.holder(named)
    if operand.origin is not None:
        expression, call = operand.argument.expression, operand.call
    source, taken_in = _source(operand, expression, call, failure), None
    if operand.origin is None and operand.tensor is not None and holder is None:
        if part := _part_of(source, operand, failure):
            # A view or a copy of what an object holds: that is what has to move.
            node, tensor, holder = part
            taken_in = source.origin.statement if isinstance(source.origin.statement, ast.stmt) else None
            expression, call = Expression.of(node), source.call
            operand = replace(operand, tensor=tensor)
            source = Provenance(Origin("other", None, None), call, expression.text)
        elif source.call is not call:
            there = Expression.parse(source.name)
            if objects.is_tensor(value(there.node, source.call)):
                expression, call = there, source.call  # where the program can change it
    roots = tuple(root for root in _roots(source, operand, holder, failure) if not _is_anothers_state(root, failure))
    given = _given_by_the_call(holder, operand.device, failure) if holder is not None else []
    if given and isinstance(given[0].call, Returned):
        source, roots = given[0], tuple(given)
    held = _held(roots[:1], failure)
    if held and held[3].moves and operand.device not in ("cpu", "meta"):
        held, roots = None, ()  # a weight on one of several GPUs is where it belongs: what was computed from it moves
    if held:
        statement = source.origin.statement if source.call is call else None
        taken_in = statement if isinstance(statement, ast.stmt) else None
        expression, call, tensor, holder = held
        operand = replace(operand, tensor=tensor)
        source, roots = Provenance(Origin("other", None, None), call, expression.text), ()
    elif holder is None and roots and (_is_elsewhere(roots[0], source) or roots[0].origin.kind in CAME_IN):
        source = roots[0]
        there = Expression.parse(source.name)
        if source.origin.kind in CAME_IN and objects.is_tensor(value(there.node, source.call)):
            taken_in, expression, call = None, there, source.call
    if holder is not None and holder.moves:
        holder = failure.unregistered_holder(operand.tensor) or holder
    return Evidence(
        expression=expression,
        call=call,
        operand=operand,
        other_operands=tuple(other for other in operands if other.device != operand.device),
        holder=holder,
        origin=source.origin,
        origin_call=source.call,
        origin_name=source.name,
        failure=failure,
        likely_causes=likely_causes,
        taken_in=taken_in,
        roots=roots,
    )


def _roots(source: Provenance, operand: Operand, holder: Holder | None, failure: Failure) -> tuple[Provenance, ...]:
    """Find the factories and moves that put an operand where it is, in functions that have returned, too.

    What a frame gives to an attribute, an object holds by now.
    """
    search = Search(operand.device, failure)
    if operand.origin is not None:
        return ()
    if holder is None:
        roots = search.of(source)
        return tuple(roots) if roots and _is_sought(source, roots) else ()
    if holder.kind == "attribute" and not objects.is_module(holder.module):
        return tuple(search.of_an_attribute(holder.module, holder.name))
    return ()


def _given_by_the_call(holder: Holder, device: str, failure: Failure) -> list[Provenance]:
    """Find the roots of what a call of a method that has not returned gave to the attribute of its object."""
    name = f"self.{holder.name}"
    for call in failure.user_calls if not holder.moves else ():
        if call.scope is not None and call.method_of is holder.module and call.function != "__init__":
            given = find_origin(name, call.scope, call.line, call.statement)
            statement = given.statement if isinstance(given.statement, ast.stmt) else None
            if statement is not None and statement.lineno < call.line:
                return Search(device, failure).of(Provenance(given, call, name))
    return []


def _is_sought(source: Provenance, roots: Sequence[Provenance]) -> bool:
    """Tell whether the first root is in another function, behind the `device=` of a factory, or made for it alone."""
    root = roots[0]
    if isinstance(root.call, Returned):
        # What a script had a function make, and passes, came in; so did what a loop goes over.
        live = root.call.live
        is_here = live is source.call or (source.origin.kind != "loop" and live.method_of is not None)
        return is_here and root.call.function != "__init__"
    if root.call is not source.call and objects.is_module(root.call.method_of):
        return root.origin.kind in ("created", "held")
    if all(root.call is source.call and _is_made_for_it(source, root) for root in roots):
        return True
    node = source.origin.value
    is_of_a_factory = source.origin.kind == "created" and isinstance(node, ast.Call) and asks_for_a_device(node)
    return is_of_a_factory or (isinstance(node, ast.Call) and called_by(node, source.call) is not None)


def _is_elsewhere(root: Provenance, source: Provenance) -> bool:
    """Tell whether a root is in another function than what gave the name, or in another statement or part of it."""
    return root.call is not source.call or (source.origin.kind != "created" and root.origin.kind == "created")


def _is_made_for_it(source: Provenance, root: Provenance) -> bool:
    """Tell whether a factory of the same function creates a value for this one alone.

    That is what a loop goes over, what is put into the list, and what only the statement reads that gives the value:
    `for row in torch.eye(3)`, `rows.append(torch.zeros(3))`, `angle` of `x = torch.stack((angle.sin(), angle.cos()))`.
    """
    if root.origin.kind != "created" or source.call.scope is None or root.origin.value is None:
        return False
    statement, given_by = root.origin.statement, source.origin.value
    if source.origin.kind == "loop":
        return statement is source.origin.statement and kind_of(given_by) == "created"  # type: ignore[arg-type]
    if statement is source.origin.statement:
        return statement is not None and not isinstance(given_by, _CONTAINERS)
    if not isinstance(statement, ast.Assign) or not root.name.isidentifier():
        return isinstance(given_by, ast.List) and not given_by.elts and isinstance(statement, ast.Expr)
    if isinstance(statement.value, _CONTAINERS):
        return False  # which holds others, too
    names = [node for node in ast.walk(source.call.scope) if isinstance(node, ast.Name) and node.id == root.name]
    given = source.origin.statement or ast.Pass()
    of_it = {id(node) for node in ast.walk(given)} if not isinstance(given, ast.For) else set()
    return all(isinstance(node.ctx, ast.Store) or id(node) in of_it for node in names)


def _held(roots: Sequence[Provenance], failure: Failure) -> tuple[Expression, Call, Any, Holder] | None:
    """Find who holds the tensor that a root is, if it is one: what it is called in a frame, that frame, and it."""
    for root in roots:
        tensor = value(root.origin.value, root.call) if root.origin.kind == "held" else MISSING  # type: ignore[arg-type]
        if objects.is_tensor(tensor):
            failure.want(tensor)
            holder = failure.holder(tensor)
            if holder is not None and holder.is_named:
                expression = Expression.parse(holder.expression)
                for call in failure.user_calls:
                    if value(expression.node, call) is tensor:
                        return expression, call, tensor, holder
    return None


def _is_anothers_state(root: Provenance, failure: Failure) -> bool:
    """Tell whether a root is what an object that does not run now keeps and replaces: an environment computes with it.

    What such an object returned is the caller's to move.
    """
    tensor = value(root.origin.value, root.call) if root.origin.kind == "held" else MISSING  # type: ignore[arg-type]
    if not objects.is_tensor(tensor):
        return False
    failure.want(tensor)
    holder = failure.holder(tensor)
    if holder is None or objects.is_module(holder.module):
        return False
    if any(call.method_of is holder.module for call in failure.user_calls):
        return False
    return next(origins.reassigned(holder.module, holder.name), None) is not None


def _source(operand: Operand, expression: Expression, call: Call, failure: Failure) -> Provenance:
    """Find where an operand came from: from its name, or from its expression if that is all that is left of it."""
    argument = operand.argument
    if operand.origin is not None:
        return Provenance(operand.origin, call, "")
    if operand.tensor is not None and not isinstance(expression.node, ast.Call):
        return follow(operand.tensor, expression.text, call, failure)
    if operand.tensor is not None:
        return Provenance(Origin(origins.kind_of(expression.node), None, expression.node), call, expression.text)
    if isinstance(argument.node, ast.Name) and argument.value is not MISSING:
        return follow(argument.value, expression.text, call, failure)
    return Provenance(Origin(origins.kind_of(argument.node), None, argument.node), call, expression.text)


def _part_of(source: Provenance, operand: Operand, failure: Failure) -> tuple[ast.expr, Any, Holder] | None:
    """Find what a view or a copy was taken of, if that is a tensor which an object holds and has not moved."""
    if source.origin.kind not in ("call", "other") or source.origin.value is None or not source.name:
        return None
    for node in ast.walk(source.origin.value):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            tensor = value(node, source.call)
            if objects.is_tensor(tensor) and objects.device(tensor) == operand.device:
                failure.want(tensor)
                holder = failure.holder(tensor)
                if holder is not None and (not holder.moves or operand.device in ("cpu", "meta")):
                    return node, tensor, holder
    return None
