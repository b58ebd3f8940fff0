"""A model, a loss or a tensor of an object is moved once, in the statement that made it, and not in each step."""

import ast
import re
from typing import Any

from samedevice.doctor.causes.moves import moved_to
from samedevice.doctor.causes.rewriting import before_line
from samedevice.doctor.causes.wanted_device import device_at, device_in_scope, variables
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.models import is_moved
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import classes, objects, origins
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.origins import Assignment, find_origin, kind_of
from samedevice.introspect.values import value

_PUT_IN = ("append", "extend", "insert", "add_module", "register_module", "register_parameter", "register_buffer")


def module_moved_once(evidence: Evidence, name: str, call: Call) -> Change:
    """Move a module that a frame names: where it was made, if the failing line runs again and again; else above that.

    Args:
        evidence: what is known of its tensor.
        name: such as "criterion" or "self.teacher".
        call: the frame.
    """
    loop = _loop_around(call)
    owner, _, key = name.rpartition(".")
    assignment = origins.assigned(value(parsed(owner), call), key) if owner else None
    if is_moved(name, call) or (assignment is not None and kind_of(assignment.value) == "moved"):
        # It was moved once and came back, so it has to be moved again.
        return before_line(call, f"{name}.to({device_at(evidence, call, call.line)})")
    if owner:
        if assignment is not None and (change := _in_its_class(evidence, assignment, value(parsed(owner), call))):
            return change
    elif loop is not None and call.scope is not None:
        origin = find_origin(name, call.scope, loop.lineno)
        made, statement = origin.value, origin.statement
        is_made_here = (
            isinstance(statement, ast.Assign) and statement.lineno < loop.lineno and len(statement.targets) == 1
        )
        is_new = is_made_here and isinstance(made, ast.Call) and isinstance(value(made.func, call), type)
        if is_new and isinstance(made, ast.Call) and (device := device_in_scope(evidence, call, made.lineno)):
            new = text_of(moved_to(made, device))
            return Change(f"{name} = {new}", Source.of_call(call).after(made, f".to({device})"))
    line = loop.lineno if loop is not None else call.line
    return before_line(call, f"{name}.to({device_at(evidence, call, line)})", loop)


def module_moved_again(evidence: Evidence, name: str, call: Call) -> Change:
    """Move a module that got layers after its move: above the outermost loop that gives it none, else above the line.

    Args:
        evidence: what is known of its tensor.
        name: such as "model" or "self.teacher".
        call: the frame.
    """
    loop = next((loop for loop in _loops_around(call) if not _gets_layers_in(loop, name, call)), None)
    line = loop.lineno if loop is not None else call.line
    return before_line(call, f"{name}.to({device_at(evidence, call, line)})", loop)


def _gets_layers_in(loop: ast.For | ast.While, name: str, call: Call) -> bool:
    """Tell whether a loop makes modules, or puts something into one."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            called = value(node.func, call)
            is_put_in = isinstance(node.func, ast.Attribute) and node.func.attr in _PUT_IN
            if is_put_in or called is setattr or _is_a_class_of_modules(called):
                return True
        is_given = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)
        if is_given and re.match(rf"{re.escape(name)}(?!\w)", text_of(node)):
            return True
    return False


def _is_a_class_of_modules(called: Any) -> bool:
    return objects.is_one_of(called, type) and any(
        (classes.module(kind), classes.name(kind)) == ("torch.nn.modules.module", "Module")
        for kind in classes.mro(called)
    )


def device_in_method(assignment: Assignment, owner: Any, wanted: str) -> str:
    """Write a device by what a method of an object has at one of its statements; "" where nothing there has it.

    Args:
        assignment: the statement.
        owner: the object.
        wanted: the device, as PyTorch writes it.
    """
    code = assignment.method.__code__
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    tree = scope(code, globals_of(assignment.method))
    above = assignment.statement.lineno - 1
    for text in variables(assignment.itself, owner, wanted):
        key = text.removeprefix(f"{assignment.itself}.").partition(".")[0]
        origin = find_origin(f"{assignment.itself}.{key}", tree, above) if tree is not None else None
        statement = origin.statement if origin is not None else None
        if statement is None and code.co_name != "__init__" and origins.assigned_in(owner, key, "__init__") is not None:
            return text
        if isinstance(statement, ast.stmt) and statement.lineno <= above:
            is_passed_on = isinstance(origin.value, ast.Name) and origin.value.id in given and text.count(".") == 1  # type: ignore[union-attr]
            return origin.value.id if is_passed_on else text  # type: ignore[union-attr]
    return "device" if "device" in given else ""


def _in_its_class(evidence: Evidence, assignment: Assignment, owner: Any) -> Change | None:
    """Move what `__init__` makes in that statement, with a device that `__init__` has."""
    device = device_in_method(assignment, owner, evidence.wanted_device)
    is_alone = isinstance(assignment.statement, ast.Assign) and len(assignment.statement.targets) == 1
    if not device or not is_alone or not isinstance(assignment.value, ast.Call):
        return None
    if origins.is_move(origins.called(assignment.value)):
        return None
    new = text_of(moved_to(assignment.value, device))
    line = f"{text_of(assignment.statement.targets[0])} = {new}"  # type: ignore[attr-defined]
    return Change(line, Source.of_method(assignment.method).after(assignment.value, f".to({device})"))


def _loop_around(call: Call) -> ast.For | ast.While | None:
    """Return the outermost loop around the failing line of a frame."""
    return next(iter(_loops_around(call)), None)


def _loops_around(call: Call) -> list[ast.For | ast.While]:
    """Return the loops around the failing line of a frame, the outermost first."""
    loops = [node for node in ast.walk(call.scope or ast.Pass()) if isinstance(node, (ast.For, ast.While))]
    around = [loop for loop in loops if loop.body[0].lineno <= call.line <= (loop.end_lineno or 0)]
    return sorted(around, key=lambda loop: loop.lineno)
