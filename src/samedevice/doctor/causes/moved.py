"""The usual change: a tensor is created where it is wanted, or moved there, where it is kept and not in a copy."""

import ast
import copy
import re
from dataclasses import replace
from typing import Any

from samedevice.doctor.causes.moves import created_on, moved_to, parts_created_on
from samedevice.doctor.causes.rewriting import before_line, in_line
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.writes import is_in_place, is_written_in, writes_to
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import classes, objects, origins
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import find_origin
from samedevice.introspect.values import value

_NAME = r'[A-Za-z_][\w.\[\]"]*'  # what can be assigned to


def moved_there(evidence: Evidence) -> Change:
    """Create the tensor where it is wanted; else move it there before the failing line; else in that line."""
    created, statement, call = evidence.origin.value, evidence.origin.statement, evidence.origin_call
    if evidence.is_between_gpus and created is not None and _names_its_device(created):
        # It is where the program wants it, so what is added to it comes there.
        failed = evidence.call.statement
        is_written = isinstance(failed, ast.stmt) and writes_to(failed, evidence.expression.text)
        if is_written and (read := _with_what_is_read_moved(evidence)).parts:
            return read
    is_made_here = evidence.origin.kind in ("created", "moved") and call in evidence.failure.user_calls
    if created is not None and is_made_here and not _is_beside_a_weight(evidence):
        line = getattr(statement, "lineno", evidence.call.line)
        device = device_at(evidence, call, line)
        if isinstance(statement, ast.Assign) and _assigns_only(statement, evidence.origin_name, created):
            if _stands_in(statement, call):
                new = created_on(created, device, call)
                edits = parts_created_on(Source.of_call(call), created, device, call)
                return Change(f"{evidence.origin_name} = {new}", edits)
        elif statement is None and text_of(created) == evidence.expression.text:
            change = in_line(evidence, created_on(created, device, call))
            is_of_one_line = created.lineno == created.end_lineno
            parts = () if is_of_one_line else parts_created_on(Source.of_call(call), created, device, call)
            return Change(change.text, parts or change.parts)
    line = evidence.taken_in.lineno if evidence.taken_in is not None else evidence.call.line
    device = device_at(evidence, evidence.call, line)
    moved = evidence.expression.node
    if isinstance(moved, ast.Call) and origins.called(moved) in ("to", "cuda") and not evidence.call.in_library:
        return in_line(evidence, created_on(moved, device, evidence.call))
    if isinstance(moved, ast.ListComp):
        each = copy.deepcopy(moved)
        over = moved.generators[0].iter
        if not evidence.wanted_device and objects.is_tensor(objects.item(value(over, evidence.call), 0)):
            device = f"{text_of(over)}[0].device"  # each of them is elsewhere, so they come to the first
        each.elt = moved_to(moved.elt, device)
        return in_line(evidence, text_of(each))
    return assigned(evidence, f"{evidence.expression.text}.to({device})")


def moved_in_line(evidence: Evidence) -> Change:
    """Move the tensor in the failing line alone, where it stands there."""
    device = device_at(evidence, evidence.call, evidence.call.line)
    return in_line(evidence, f"{evidence.expression.text}.to({device})")


def _is_beside_a_weight(evidence: Evidence) -> bool:
    """Tell whether it was computed from a parameter or a buffer, too, which stays on one of several GPUs."""
    nodes = ast.walk(evidence.origin.statement or ast.Pass()) if evidence.is_between_gpus else ()
    held = (value(node, evidence.origin_call) for node in nodes if isinstance(node, ast.Attribute))
    for tensor in filter(objects.is_tensor, held):
        evidence.failure.want(tensor)
        holder = evidence.failure.holder(tensor)
        if holder is not None and holder.moves and objects.device(tensor) == evidence.operand.device:
            return True
    return False


def _names_its_device(created: ast.expr) -> bool:
    """Tell whether an expression creates its tensor on a device that a variable names."""
    return any(
        isinstance(node, ast.keyword) and node.arg == "device" and not isinstance(node.value, ast.Constant)
        for node in ast.walk(created)
    )


def _stands_in(statement: ast.AST, call: Call) -> bool:
    """Tell whether a statement is one of the frame's own: only there are the frame's names known."""
    return call.scope is not None and any(node is statement for node in ast.walk(call.scope))


def assigned(evidence: Evidence, new: str) -> Change:
    """Write `name = new` before the failing line, if the name can be assigned to; else that line with `new` in it."""
    name, call = evidence.expression.text, evidence.call
    of_a_tuple = re.fullmatch(r"(.+?)(\.\w+|\[[^\[\]]+\])", name)
    if of_a_tuple:
        whole = value(parsed(of_a_tuple[1]), call)
        if type(whole) is tuple and name not in text_of(call.statement or ast.Pass()):
            items = f"tuple({new.replace(name, 'item')} for item in {of_a_tuple[1]})"
            return before_line(call, f"{of_a_tuple[1]} = {items}")
        if (named_tuple := _named_tuple(whole, call)) and name not in text_of(call.statement or ast.Pass()):
            items = f"{named_tuple}(*({new.replace(name, 'item')} for item in {of_a_tuple[1]}))"
            return before_line(call, f"{of_a_tuple[1]} = {items}")
        is_of_a_class = evidence.holder is not None and evidence.holder.kind == "class attribute"
        is_of_a_tensor = objects.is_tensor(whole) and "." in of_a_tuple[2]  # a view such as `.T`
        is_of_a_class |= objects.getter(whole, of_a_tuple[2][1:]) is not None  # a property
        if objects.is_one_of(whole, tuple) or is_of_a_class or is_of_a_tensor:
            return in_line(evidence, new)
    if evidence.holder is not None and evidence.holder.kind == "parameter" and not name.isidentifier():
        return in_line(evidence, new)  # a module takes no plain tensor in the place of a parameter
    is_written_here = isinstance(call.statement, ast.stmt) and writes_to(call.statement, name)
    is_written = is_written_here or is_written_in(call, name)
    if is_written and not name.isidentifier():
        return before_line(call, f"{name} = {new}", evidence.taken_in)
    if is_written and _is_anothers_too(name, call):
        # The name alone would stand for a copy, and what others hold would stay as it was.
        if kept := _kept_as(name, call):
            return before_line(call, f"{name} = {kept} = {new}", evidence.taken_in)
        if (whole := _all_that_the_loop_takes(evidence)).parts:
            return whole
        read = _with_what_is_read_moved(evidence)
        return read if read.parts or is_written_here else in_line(evidence, new)
    if not _is_assignable(name, call):
        return in_line(evidence, new)
    above = before_line(call, f"{name} = {new}", evidence.taken_in)
    return above if above.parts else Change(above.text, in_line(evidence, new).parts)


def _is_anothers_too(name: str, call: Call) -> bool:
    """Tell whether somebody else holds what a local name stands for, who would not see that the name is moved."""
    origin = find_origin(name, call.scope, call.line) if call.scope is not None else None
    if origin is not None and isinstance(origin.statement, ast.Assign) and len(origin.statement.targets) > 1:
        return True  # `total = self.total = torch.zeros(3)`
    return origin is not None and origin.kind not in ("created", "moved")


def _all_that_the_loop_takes(evidence: Evidence) -> Change:
    """Move all tensors of the attribute that a loop goes over, above the loop: its variable is one of them.

    Example: `self.shadow = [tensor.to(parameters[0].device) for tensor in self.shadow]`.
    """
    call = evidence.call
    loop = find_origin(evidence.expression.text, call.scope, call.line) if call.scope is not None else None
    if loop is None or not isinstance(loop.statement, ast.For):
        return Change("")
    over = loop.value
    nodes = over.args if isinstance(over, ast.Call) and origins.called(over) in ("zip", "enumerate") else [over]
    for node in nodes:
        if node is not None and (module := _module_of(node, evidence)):
            device = device_at(evidence, call, loop.statement.lineno)
            return before_line(call, f"{module}.to({device})", loop.statement)
        is_of_items = False
        match node:
            case ast.Call(func=ast.Attribute(attr="items" | "values", value=kept)):
                is_of_items = True
            case _:
                kept = node or ast.Pass()  # type: ignore[assignment]
        if not isinstance(kept, ast.Attribute):
            continue
        held = value(kept, call)
        tensors = objects.inside(held, 1) if objects.is_one_of(held, dict if is_of_items else list) else []
        is_it = any(tensor is evidence.operand.tensor for _, tensor in tensors)
        if is_it and {objects.device(tensor) for _, tensor in tensors} == {evidence.operand.device}:
            name, device = text_of(kept), device_at(evidence, call, loop.statement.lineno)
            each = f"{{key: tensor.to({device}) for key, tensor in {name}.items()}}"
            new = each if is_of_items else f"[tensor.to({device}) for tensor in {name}]"
            return before_line(call, f"{name} = {new}", loop.statement)
    return Change("")


def _module_of(node: ast.expr, evidence: Evidence) -> str:
    """Return the module of `module.state_dict().values()` and the like, if it is where the culprit is."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
        module = value(node, evidence.call)
        if objects.is_module(module) and evidence.failure.devices(module) == {evidence.operand.device}:
            return text_of(node)
    return ""


def _kept_as(name: str, call: Call) -> str:
    """Return the item or the attribute that a local name was taken from, if that still is the same tensor."""
    origin = find_origin(name, call.scope, call.line) if call.scope is not None else None
    if origin is not None and isinstance(origin.statement, ast.Assign):
        for target in origin.statement.targets:
            is_kept = isinstance(target, (ast.Subscript, ast.Attribute))
            if is_kept and value(target, call) is value(parsed(name), call):
                return text_of(target)
    match origin.value if origin is not None else None:
        case ast.Call(func=ast.Attribute(attr="setdefault" | "get", value=base), args=[key, *_]):
            kept: ast.expr = ast.Subscript(base, key, ast.Load())
        case ast.Subscript() | ast.Attribute() as node:
            kept = node
        case _:
            return ""
    return text_of(kept) if value(kept, call) is value(parsed(name), call) else ""


def _with_what_is_read_moved(evidence: Evidence) -> Change:
    """Write the failing line so that what it reads comes to the tensor that the program writes to."""
    operand = evidence.operand
    call = operand.call if not operand.call.in_library else evidence.call
    there = f"{operand.argument.expression.text if call is operand.call else evidence.expression.text}.device"
    nodes = [other.argument.node for other in evidence.other_operands if other.call is call]
    match call.node:
        # What failed is the writing itself, so all that is computed for it is moved as a whole.
        case ast.AugAssign(value=new):
            nodes = [new]
        case ast.Call(func=ast.Attribute(attr=method), args=args) if is_in_place(method):
            parts = {text_of(node) for node in nodes}
            nodes = [arg for arg in args if parts & {text_of(node) for node in ast.walk(arg)}]
    read = {text_of(node): node for node in nodes}
    here = replace(evidence, call=call)
    changes = [in_line(here, text_of(moved_to(node, there, call)), text) for text, node in read.items()]
    return sum(changes[1:], start=changes[0]) if changes else Change("")


def _named_tuple(whole: Any, call: Call) -> str:
    """Return the name of a named tuple's class, if a frame knows it and all that the tuple has are tensors."""
    if not objects.is_one_of(whole, tuple) or not all(map(objects.is_tensor, tuple.__iter__(whole))):
        return ""
    name = classes.name(type(whole))
    return name if value(parsed(name), call) is type(whole) and "_fields" in classes.namespace(type(whole)) else ""


def _is_assignable(name: str, call: Call) -> bool:
    """Tell whether a statement above the failing line may assign to a name: it is no comprehension's, and no global."""
    root = (re.match(r"\w*", name) or [""])[0]
    origin = find_origin(root, call.scope, call.line) if call.scope is not None and root else None
    is_of_a_comprehension = origin is not None and isinstance(origin.statement, ast.comprehension)
    is_from_outside = root not in call.locals or root in call.frame.f_code.co_freevars
    is_in_one_line = is_of_a_comprehension or call.function == "<lambda>"
    return not is_in_one_line and not is_from_outside and re.fullmatch(_NAME, name) is not None


def _assigns_only(statement: ast.Assign, name: str, created: ast.expr) -> bool:
    """Tell whether a statement assigns an expression to this name alone: also `x` in `x, y = x.cuda(), y.cuda()`."""
    if len(statement.targets) != 1:
        return False
    is_an_item = isinstance(statement.value, ast.Tuple) and any(item is created for item in statement.value.elts)
    return is_an_item or text_of(statement.targets[0]) == name
