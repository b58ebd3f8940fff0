"""The changes of what would fail next, by reading ahead: what is there already, and what a later line creates."""

import ast
import types
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from samedevice.doctor.ahead.meetings import Meetings
from samedevice.doctor.ahead.seen import Meeting, Place, Root
from samedevice.doctor.causes.moves import created_on, moved_to, parts_created_on
from samedevice.doctor.causes.wanted_device import device_in_scope
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.gathering import gather
from samedevice.doctor.culprits.models import root_of
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects
from samedevice.introspect.expressions import Expression, parsed, text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import plain
from samedevice.introspect.origins import kind_of
from samedevice.introspect.returned import Returned
from samedevice.introspect.values import Argument, value

_MOST = 16  # tensors; more are left for the next run


def moved_with(evidence: Evidence, change: Change) -> Iterator[Any]:
    """Yield what the change for the culprit moves: tensors, a parameter's whole model, what its statement creates.

    What another function creates is moved for all who call that function, if the change is made there.
    """
    operand = evidence.operand
    for held in (operand.tensor, operand.argument.value):
        yield from (tensor for _, tensor in objects.inside(held))
    node = evidence.expression.node
    if len(evidence.roots) > 1 and isinstance(node, ast.Subscript):  # what one function returned together
        yield from (tensor for _, tensor in objects.inside(value(node.value, evidence.call)))
    places = [(evidence.origin, evidence.origin_call), *((root.origin, root.call) for root in evidence.roots)]
    for origin, call in places:
        is_new = origin.kind in ("created", "moved") and origin.value is not None
        if is_new and (not isinstance(call, Returned) or _is_changed(origin.value, call, change)):  # type: ignore[arg-type]
            yield from (node for node in ast.walk(origin.value) if isinstance(node, ast.Call))  # type: ignore[arg-type]
    if evidence.holder is not None and evidence.is_registered:
        name, call = root_of(evidence, evidence.holder)
        module = value(parsed(name), call)
        yield from objects.parameters(module) if objects.is_module(module) else ()


def _is_changed(node: ast.expr, call: Call, change: Change) -> bool:
    """Tell whether a change is made in an expression of a function, or where that function is called."""
    while True:
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if any(part.source.file == call.file and part.start[0] in lines for part in change.parts):
            return True
        if not isinstance(call, Returned) or call.written is None:
            return False
        node, call = call.written, call.caller


def left_behind(
    evidence: Evidence, known: Iterable[Evidence], ahead: Meetings
) -> Iterator[tuple[Evidence, Change | None]]:
    """Gather what is known of each tensor that is there already and that a later line would find in the wrong place.

    With each comes the change of the line in which it would be found there.
    """
    texts = {each.expression.text for each in (evidence, *known)}
    left = [(meeting, root) for meeting, root in _roots(ahead) if root.tensor is not None]
    left = [(meeting, root) for meeting, root in left if not ahead.is_kept(root.tensor)]
    for _, root in left:
        evidence.failure.want(root.tensor)
    for meeting, root in left:
        found = _gathered(root, evidence)
        if found is not None and found.expression.text not in texts:
            texts.add(found.expression.text)
            if not evidence.is_between_gpus or found.origin.kind in ("created", "moved"):
                yield found, _moved_there(evidence, meeting)


def _gathered(root: Root, evidence: Evidence) -> Evidence | None:
    """Gather what is known of a tensor, in the frame where it was read; None where no name stands for it."""
    frames = [call for call in evidence.failure.user_calls if call.locals is root.place.locals]
    call = frames[0] if frames else evidence.failure.user_call
    is_its_name = bool(frames) and value(root.node, call) is root.tensor
    argument = Argument(root.node if is_its_name else ast.Name("tensor", ast.Load()), root.tensor)
    operand = Operand(root.tensor, objects.device(root.tensor), call, argument)
    found = gather(operand, [operand, *evidence.other_operands], evidence.failure, evidence.likely_causes)
    if _stands_for_it(found):
        return found
    for frame in evidence.failure.user_calls:
        if value(found.expression.node, frame) is found.operand.tensor:
            return replace(found, call=frame)  # what holds it is named there
    return replace(found, expression=Expression.of(root.node), call=call) if is_its_name else None


def _stands_for_it(found: Evidence) -> bool:
    """Tell whether the expression that was found stands for the tensor, or for what that is a part of."""
    named = value(found.expression.node, found.call)
    if objects.is_tensor(named):
        return objects.device(named) == found.operand.device
    return found.holder is not None and found.holder.kind == "state"


def created_behind(evidence: Evidence, ahead: Meetings) -> Iterator[Change]:
    """Write the changes of what a later line creates, moves or gets from a function in the wrong place."""
    for meeting, root in _roots(ahead):
        if root.tensor is None and not ahead.is_kept(root):
            change = _created_there(evidence, root, meeting) or _moved_there(evidence, meeting)
            if change is not None:
                yield change


def _roots(ahead: Meetings) -> list[tuple[Meeting, Root]]:
    return [(meeting, root) for meeting in ahead.found for root in meeting.roots][:_MOST]


def _created_there(evidence: Evidence, root: Root, meeting: Meeting) -> Change | None:
    """Create it on the device that its function knows at that line, in the function that creates it if it can be."""
    if root.inner is not None and (change := _created_there(evidence, root.inner, meeting)) is not None:
        return change
    node = root.statement.value if isinstance(root.statement, ast.Assign) else root.node
    if kind_of(node) not in ("created", "moved"):
        return None
    statement = root.statement or meeting.statement
    call = _call_at(root.place, node.lineno, statement, meeting, evidence)
    device = device_in_scope(replace(evidence, call=call), call, node.lineno)
    is_in_a_library = is_library(plain(root.place.code.co_filename))
    if is_in_a_library or device.startswith(('"', "'")):
        return None
    if not device and root.statement is None and root.place is meeting.place:
        device = _of_the_other(meeting)
    if not device:
        return None
    new = created_on(node, device, call)
    line = f"{root.name} = {new}" if root.name else new
    return Change(line, parts_created_on(Source.of(root.place.code, root.place.globals), node, device, call))


def _moved_there(evidence: Evidence, meeting: Meeting) -> Change | None:
    """Move it in the statement in which it meets the other, or above that."""
    call = _call_at(meeting.place, meeting.statement.lineno, meeting.statement, meeting, evidence)
    device = device_in_scope(replace(evidence, call=call), call, meeting.statement.lineno) or _of_the_other(meeting)
    if not device:
        return None
    source = Source.of(meeting.place.code, meeting.place.globals)
    new = text_of(moved_to(meeting.node, device, call))
    is_local = isinstance(meeting.node, ast.Name) and meeting.node.id in meeting.place.code.co_varnames
    if is_local and (above := source.above(meeting.statement, f"{text_of(meeting.node)} = {new}")):
        return Change(f"{text_of(meeting.node)} = {new}", above)
    is_whole = isinstance(meeting.node, (ast.Call, ast.Name, ast.Attribute, ast.Subscript))
    is_behind = is_whole and new == f"{text_of(meeting.node)}.to({device})"  # its lines stay as they are written
    parts = source.after(meeting.node, f".to({device})") if is_behind else ()
    return Change(new, parts or source.replaced(meeting.node, new))


def _of_the_other(meeting: Meeting) -> str:
    """Write the device of the tensor that it meets."""
    is_short = isinstance(meeting.other, (ast.Name, ast.Attribute))
    is_held = is_short and text_of(meeting.other) != text_of(meeting.node)  # type: ignore[arg-type]
    return f"{text_of(meeting.other)}.device" if is_held else ""  # type: ignore[arg-type]


def _call_at(place: Place, line: int, statement: ast.stmt, meeting: Meeting, evidence: Evidence) -> Call:
    """Return a frame of a function as it will be at a later line, with what is known of its names."""
    there = next((operand.tensor for operand in evidence.other_operands if objects.is_tensor(operand.tensor)), None)
    first = [meeting.other.id] if isinstance(meeting.other, ast.Name) and place is meeting.place else []
    names = {name: there for name in first}
    for name, seen in place.env.items():
        is_there = seen.device == evidence.wanted_device
        names.setdefault(name, there if is_there else seen.value)
    for name, held in place.locals.items():
        names.setdefault(name, held)
    frame = types.SimpleNamespace(f_code=place.code, f_locals=names, f_globals=place.globals)
    call = Call(frame, 0, line)  # type: ignore[arg-type]
    call.__dict__.update(scope=place.scope, statement=statement, node=None, locals=names, globals=place.globals)
    return call
