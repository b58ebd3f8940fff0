"""What the program calls a tensor, and in which of its frames: a name, the way from what holds it, an expression."""

import ast
from typing import Any

from samedevice.doctor.culprits.evidence import is_of_a_library
from samedevice.doctor.culprits.expected_device import expected_device, receiver
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand, operands_of
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import Expression
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder


def named_by_the_program(operand: Operand, holder: Holder | None, failure: Failure) -> tuple[Expression, Call]:
    """Find what the program calls an operand, and the frame that calls it so."""
    node, user_call = operand.argument.node, failure.user_call
    is_written = isinstance(node, (ast.Attribute, ast.Subscript)) and operand.call is user_call
    if is_written and failure.expression(operand.tensor) is None:
        return operand.argument.expression, operand.call  # a replica's own words
    if operand.tensor is not None and (named := _name_of(operand.tensor, holder, failure)):
        return named
    is_of_pytorch = operand.call.in_library and not operand.call.in_third_party
    if is_of_pytorch and (named := _name_of_what_it_was_made_of(operand.device, user_call)):
        return named
    return _as_written(operand), operand.call


def _as_written(operand: Operand) -> Expression:
    """Return the expression of an operand in its own frame, with the path to the tensor in it."""
    return Expression.parse(operand.argument.expression.text + operand.within)


def _name_of(tensor: Any, holder: Holder | None, failure: Failure) -> tuple[Expression, Call] | None:
    """Find what the program calls a tensor: its name in a frame, or the way to it from what holds it."""
    named = failure.expression(tensor)
    # `params[4]` is a name for it too, but the failing line does not have that name.
    is_an_item = named is not None and isinstance(named[0].node, ast.Subscript)
    if named and not (is_an_item and holder and holder.moves and holder.is_named):
        return named
    if holder and holder.is_named:
        is_in_a_librarys = failure.third_party_calls and objects.is_module(holder.module) and is_of_a_library(holder)
        if not is_in_a_librarys:
            return Expression.parse(holder.expression), failure.user_call
    if named := failure.expression(tensor, failure.third_party_calls):
        return named
    created = created_and_called(failure.user_call) if holder else None
    return (Expression.of(created), failure.user_call) if created else None


def _name_of_what_it_was_made_of(device: str, call: Call) -> tuple[Expression, Call] | None:
    """Find what a line of the user's gave PyTorch, which made a view or a copy of it that is on a device."""
    if node := _loader(call) or _passed_on(device, call) or created_and_called(call):
        return Expression.of(node), call
    return next(((_as_written(here), call) for here in operands_of(call) if here.device == device), None)


def _passed_on(device: str, call: Call) -> ast.expr | None:
    """Find what the failing line passes that is on a device, or the one argument of which nobody knows where it is."""
    passed = _passed(call)
    for node in passed:
        if any(objects.device(inner) == device for _, inner in objects.inside(value(node, call))):
            return node
    unknown = [node for node in passed if value(node, call) is MISSING]
    if len(unknown) == 1 and expected_device(unknown[0], call) in ("", device):
        start = receiver(unknown[0], call)
        return start[0] if start and objects.device(start[1]) == device else unknown[0]
    return None


def _loader(call: Call) -> ast.expr | None:
    """Find the DataLoader that the failing loop goes over."""
    node = call.node.iter if isinstance(call.node, (ast.For, ast.AsyncFor)) else call.node
    if isinstance(node, ast.expr):
        is_created_here = isinstance(node, ast.Call) and origins.called(node) == "DataLoader"
        if is_created_here or objects.is_a(value(node, call), "torch.utils.data", "DataLoader"):
            return node
    return None


def created_and_called(call: Call) -> ast.expr | None:
    """Find the layer that the failing line creates and calls at once: `nn.LayerNorm(8)` of `nn.LayerNorm(8)(x)`."""
    match call.node:
        case ast.Call(func=ast.Call() as created):
            return created
    return None


def _passed(call: Call) -> list[ast.expr]:
    """Return what the failing line passes to the outermost call in it, the items of lists one by one."""
    for node in ast.walk(call.node) if call.node is not None else ():
        if isinstance(node, ast.Call):
            passed = [*node.args, *(keyword.value for keyword in node.keywords)]
            items = [part.elts if isinstance(part, ast.List | ast.Tuple) else [part] for part in passed]
            return [item for parts in items for item in parts]
    return []
