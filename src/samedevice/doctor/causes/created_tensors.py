"""Tensors that the program creates without a device, or writes where they were created."""

import ast
import types

from samedevice.doctor.causes.moves import created_on, parts_created_on
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.replaced_data import put_in_a_parameter, with_the_device_of_the_parameter
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.expected_device import expected_device
from samedevice.doctor.culprits.models import is_fed_to_a_model, is_in_forward, is_where_wanted
from samedevice.doctor.culprits.roots import Search
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.origins import END, asks_for_a_device, find_origin, kind_of
from samedevice.introspect.returned import Returned
from samedevice.introspect.values import function_of, returns, value

created = cause("tensor_created_in_forward_without_device", is_of_any_mismatch=True)
written = cause("written_values_on_wrong_device")


@created.detect
def is_put_in_a_buffers_place(evidence: Evidence) -> bool:
    """Tell whether a method puts a tensor without a device in the place of a buffer."""
    return put_in_a_buffers_place(evidence) is not None


@created.detect
def is_put_in_a_parameter(evidence: Evidence) -> bool:
    """Tell whether a method puts a tensor in the place of a parameter's data, in a model that is where it is wanted."""
    return put_in_a_parameter(evidence) is not None


@created.detect
def is_assigned_here(evidence: Evidence) -> bool:
    """Tell whether the very call that failed created the attribute."""
    call = evidence.failure.user_call
    if not evidence.is_unregistered or call.function == "__init__" or call.scope is None:
        return False
    origin = find_origin(evidence.expression.text, call.scope, call.line)
    if _is_kept_from_init(evidence, origin.statement):
        return False
    # Created with a `device=` that says elsewhere, it was kept from a call before the move.
    return (
        origin.kind == "created"
        and origin.value is not None
        and expected_device(origin.value, call) not in evidence.other_devices
    )


def _is_kept_from_init(evidence: Evidence, statement: ast.AST | None) -> bool:
    """Tell whether a statement only gives an attribute a value where it is None, and `__init__` may give it one."""
    holder, scope_ = evidence.holder, evidence.failure.user_call.scope
    first = origins.assigned_in(holder.module, holder.name, "__init__") if holder is not None else None
    if first is None or (isinstance(first.value, ast.Constant) and first.value.value is None):
        return False
    conditions = [node for node in ast.walk(scope_) if isinstance(node, ast.If)] if scope_ is not None else []
    around = [node for node in conditions if any(inner is statement for inner in ast.walk(node))]
    return any(text_of(node.test) == f"{evidence.expression.text} is None" for node in around)


@created.detect
def is_created_by_an_object(evidence: Evidence) -> bool:
    """Tell whether an object that is no module created it, and it is no batch, no target and on no other GPU."""
    holder = evidence.holder
    if holder is None or not evidence.is_of_an_object or evidence.is_between_gpus:
        return False
    if evidence.origin.kind in ("loop", "call") or is_fed_to_a_model(evidence) or is_target(evidence):
        return False
    assignment = origins.assigned(holder.module, holder.name)
    return assignment is not None and kind_of(assignment.value) == "created"


@created.detect
def is_created_in_a_models_code(evidence: Evidence) -> bool:
    """Tell whether a model's own code created it without a device, or other code did that runs no model.

    Data that somebody created for a model is a batch that was not moved.
    """
    is_taken_there = evidence.origin.kind == "moved" and isinstance(evidence.origin_call, Returned)
    if not is_created(evidence):
        return is_taken_there and is_in_forward(evidence, evidence.origin_call)
    if evidence.origin.value is not None and _has_the_size_of_another(evidence.origin.value, evidence):
        return True
    is_in_model = is_in_forward(evidence, evidence.origin_call)
    return is_in_model or not (is_fed_to_a_model(evidence) or is_in_forward(evidence))


@created.fix
def with_the_device_of_the_old(evidence: Evidence) -> Change | None:
    """Write the line that replaces a buffer, with the device of the tensor that it replaces."""
    assignment = put_in_a_buffers_place(evidence)
    if evidence.holder is None or assignment is None:
        return with_the_device_of_the_parameter(evidence)
    return _on_the_device_of_the_old(assignment, evidence.holder.name)


def replacements(evidence: Evidence) -> list[Change]:
    """Write each later assignment of a new tensor to the attribute that holds it with the device of the old one."""
    holder = evidence.holder
    if holder is None or holder.kind != "attribute":
        return []
    first = origins.assigned(holder.module, holder.name)
    later = (each for each in origins.reassigned(holder.module, holder.name) if first and each.value is not first.value)
    new = [each for each in later if _is_new(each, evidence)]
    return [_on_the_device_of_the_old(each, holder.name) for each in new]


def _on_the_device_of_the_old(assignment: origins.Assignment, attribute: str) -> Change:
    name = f"{assignment.itself}.{attribute}"
    new = created_on(assignment.value, f"{name}.device")
    source = Source.of_method(assignment.method)
    return Change(f"{name} = {new}", parts_created_on(source, assignment.value, f"{name}.device"))


def _is_new(assignment: origins.Assignment, evidence: Evidence) -> bool:
    """Tell whether factories without a device made what a method assigns, in it or in a helper function."""
    if kind_of(assignment.value) == "created":
        return not asks_for_a_device(assignment.value)
    made = Search(evidence.operand.device, evidence.failure).of_an_assignment(assignment, evidence.holder.module)  # type: ignore[union-attr]
    values = [root.origin.value for root in made if root.origin.kind == "created"]
    return (
        bool(made)
        and all(value is not None and not asks_for_a_device(value) for value in values)
        and len(values) == len(made)
    )


@written.detect
def is_written_at_an_index_of_an_object(evidence: Evidence) -> bool:
    """Tell whether `self.x[index] = values` writes to what an object keeps."""
    return evidence.is_of_an_object and _is_written_at_an_index(evidence)


@written.detect
def is_written_at_an_index(evidence: Evidence) -> bool:
    """Tell whether `x[index] = values` writes it, or writes to it what is elsewhere."""
    return _is_written_at_an_index(evidence) and evidence.origin.kind not in ("loop", "argument")


def _is_written_at_an_index(evidence: Evidence) -> bool:
    match evidence.operand.call.node:
        case ast.Assign(targets=[ast.Subscript(slice=index)]):
            return not isinstance(index, ast.Slice)
    return False


def put_in_a_buffers_place(evidence: Evidence) -> origins.Assignment | None:
    """Return the statement that assigns to a buffer without a device, while the module is where it is wanted."""
    holder = evidence.holder
    if holder is None or holder.kind != "buffer" or evidence.is_between_gpus or not is_where_wanted(evidence, holder):
        return None
    for assignment in origins.reassigned(holder.module, holder.name):
        if _is_new(assignment, evidence):
            return assignment
    return None


def is_target(evidence: Evidence) -> bool:
    """Tell whether it is passed for the target of a loss, and was not created for it."""
    return "target" in evidence.operand.role and evidence.origin.kind != "created"


def is_created(evidence: Evidence) -> bool:
    """Tell whether a factory of torch created it, here, in a helper function, or some lines above."""
    node = evidence.origin.value
    if evidence.origin.kind == "argument":
        default = _default(evidence.origin_name, evidence.origin_call)
        helper = function_of(default.func, evidence.origin_call) if isinstance(default, ast.Call) else None
        return default is not None and (kind_of(default) == "created" or (helper is not None and _creates(helper)))
    if evidence.origin.kind == "call" and isinstance(node, ast.Call):
        helper = function_of(node.func, evidence.origin_call)
        is_sized = _has_the_size_of_another(node, evidence) and not _is_given_a_tensor(node, evidence)
        return is_sized or (helper is not None and _creates(helper)) or _is_of_factories(node, evidence)
    if evidence.origin.kind == "created":
        return True
    return bool(evidence.origin_name) and _is_of_factories(node, evidence)


def _is_of_factories(node: ast.expr | None, evidence: Evidence, depth: int = 4) -> bool:
    """Tell whether factories created all tensors of an expression that are where its result is."""
    call = evidence.origin_call
    tree = call.scope
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)] if node is not None and tree else []
    tensors = [(name.id, value(name, call)) for name in names]
    here = [
        name
        for name, tensor in tensors
        if objects.is_tensor(tensor) and objects.device(tensor) == evidence.operand.device
    ]
    found = [find_origin(name, tree, call.line) for name in here if name != evidence.origin_name]  # type: ignore[arg-type]
    return bool(found) and all(
        origin.kind == "created"
        or (origin.kind in ("call", "other") and depth > 0 and _is_of_factories(origin.value, evidence, depth - 1))
        for origin in found
    )


def _creates(helper: types.FunctionType) -> bool:
    """Tell whether a function returns what a factory of torch creates in it."""
    tree = scope(helper.__code__, globals_of(helper))
    return tree is not None and any(_is_made_of_factories(node, tree) for node in returns(helper))


def _is_made_of_factories(node: ast.expr, tree: ast.AST, before: ast.stmt | None = None, depth: int = 4) -> bool:
    """Tell whether a factory creates a value, or a tensor in it that the function created before a statement."""
    if kind_of(node) == "created":
        return True
    names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    found = [find_origin(name, tree, before.lineno if before is not None else END, before) for name in names]
    return depth > 0 and any(
        _is_made_of_factories(origin.value, tree, origin.statement, depth - 1)
        for origin in found
        if origin.value is not None and isinstance(origin.statement, ast.stmt)
    )


def _default(name: str, call: Call) -> ast.expr | None:
    """Return the default of a function's argument."""
    for node in ast.walk(call.scope) if call.scope is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == call.function:
            positional = [*node.args.posonlyargs, *node.args.args]
            with_default = positional[len(positional) - len(node.args.defaults) :]
            pairs: list[tuple[ast.arg, ast.expr | None]] = [*zip(with_default, node.args.defaults, strict=True)]
            pairs += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            return next((default for argument, default in pairs if argument.arg == name), None)
    return None


def _is_given_a_tensor(node: ast.expr, evidence: Evidence) -> bool:
    """Tell whether a call is given a tensor that is where its result is."""
    names = [inner for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute))]
    values = [value(name, evidence.origin_call) for name in names]
    return any(objects.device(tensor) == evidence.operand.device for tensor in values if objects.is_tensor(tensor))


def _has_the_size_of_another(node: ast.expr, evidence: Evidence) -> bool:
    """Tell whether its size is that of another tensor: what depends on the batch is created for each batch."""
    call = evidence.origin_call
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id != evidence.origin_name]
    values = [find_origin(name.id, call.scope, call.line).value for name in names] if call.scope is not None else []
    return any(
        inner.attr in ("shape", "size") if isinstance(inner, ast.Attribute) else inner.id == "len"
        for expression in [node, *filter(None, values)]
        for inner in ast.walk(expression)
        if isinstance(inner, (ast.Attribute, ast.Name))
    )
