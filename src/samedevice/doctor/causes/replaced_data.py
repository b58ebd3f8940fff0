"""A method that puts a new tensor into `self.layer.weight.data`: the parameter is then where that tensor is."""

import ast

from samedevice.doctor.causes.moves import created_on, moved_to, parts_created_on
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.edits import Change, Source
from samedevice.introspect.expressions import text_of
from samedevice.introspect.origins import Assignment, asks_for_a_device, kind_of, statements_of
from samedevice.introspect.values import value_in


def put_in_a_parameter(evidence: Evidence) -> tuple[Assignment, str] | None:
    """Return the statement `self.layer.weight.data = ...` of a method that gave the tensor, and the parameter there."""
    if evidence.holder is None or evidence.holder.kind != "parameter" or evidence.is_between_gpus:
        return None
    for _, module in evidence.failure.modules():
        if evidence.wanted_device not in evidence.failure.devices(module):
            continue
        for method, itself, statement in statements_of(module):
            match statement:
                case ast.Assign(targets=[ast.Attribute(value=parameter, attr="data")], value=new):
                    own = text_of(parameter).replace(f"{itself}.", "self.", 1)
                    is_it = value_in(ast.parse(own, mode="eval").body, module) is evidence.operand.tensor
                    if is_it and method.__name__ != "__init__" and not _is_moved(new):
                        return Assignment(method, statement, new, itself), text_of(parameter)
    return None


def with_the_device_of_the_parameter(evidence: Evidence) -> Change | None:
    """Write that statement with the new tensor where the old one was."""
    found = put_in_a_parameter(evidence)
    if found is None:
        return None
    assignment, parameter = found
    new, source, device = assignment.value, Source.of_method(assignment.method), f"{parameter}.device"
    if kind_of(new) == "created" and not asks_for_a_device(new):
        line = created_on(new, device)
        return Change(f"{parameter}.data = {line}", parts_created_on(source, new, device))
    line = text_of(moved_to(new, device))
    is_whole = isinstance(new, ast.Call | ast.Name | ast.Attribute | ast.Subscript)
    parts = source.after(new, f".to({device})") if is_whole else source.replaced(new, line)
    return Change(f"{parameter}.data = {line}", parts)


def _is_moved(new: ast.expr) -> bool:
    return kind_of(new) == "moved"
