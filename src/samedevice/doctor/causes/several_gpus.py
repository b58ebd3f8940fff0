"""A model over several GPUs: an activation that stayed behind, and "cuda" where a number was meant."""

import ast
import types

from samedevice.doctor.causes.moved import moved_there
from samedevice.doctor.causes.moves import created_on
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain
from samedevice.introspect.origins import find_origin, kind_of
from samedevice.introspect.values import function_of, returns, value

activation = cause("split_model_activation_not_moved")
activation.find(refused_tensors)
default_index = cause("wrong_default_index", is_alone=True)


@activation.detect
def met_a_parameter_on_another_gpu(evidence: Evidence) -> bool:
    """Tell whether it is a parameter or a buffer on another GPU than what it met."""
    return evidence.is_registered and evidence.is_between_gpus


@activation.detect
def is_kept_by_forward(evidence: Evidence) -> bool:
    """Tell whether a module on another GPU computed it and keeps it as an attribute, such as an auxiliary loss."""
    holder = evidence.holder
    if holder is None or not evidence.is_between_gpus or not evidence.is_unregistered or holder.kind != "attribute":
        return False
    values = [assignment.value for assignment in origins.reassigned(holder.module, holder.name)]
    return any(not isinstance(value, ast.Constant) and kind_of(value) in ("call", "other") for value in values)


@default_index.detect
def is_asked_for_without_a_number(evidence: Evidence) -> bool:
    """Tell whether it is on the first of several GPUs because "cuda" has no number."""
    if not evidence.is_between_gpus:
        return False
    node = (
        evidence.origin.value if evidence.origin.kind in ("moved", "created", "call") else None
    ) or evidence.expression.node
    helper = function_of(node.func, evidence.origin_call) if isinstance(node, ast.Call) else None
    if helper is not None and _computes_with_no_number(helper):
        return True
    return _names_no_number(node, evidence.origin_call)


@default_index.fix
def named_in_its_statement(evidence: Evidence) -> Change | None:
    """Name the GPU in the statement that moved it: for all that `x, y = x.cuda(), y.cuda()` puts on the first one."""
    statement, call = evidence.origin.statement, evidence.origin_call
    match statement:
        case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=items)) if not call.in_library:
            device, source = device_at(evidence, call, statement.lineno), Source.of_call(call)
            moved = [item for item in items if _names_no_number(item, call)]
            parts = [part for item in moved for part in source.replaced(item, created_on(item, device, call))]
            return moved_there(evidence) + Change("", tuple(parts))
    return None


@activation.detect
def is_on_another_gpu(evidence: Evidence) -> bool:
    """Tell whether it is on another GPU than what it met."""
    return evidence.is_between_gpus


def _computes_with_no_number(helper: types.FunctionType) -> bool:
    """Tell whether a function of the program creates or moves what it returns with "cuda", without a number."""
    tree = scope(helper.__code__, globals_of(helper))
    if tree is None or is_library(plain(helper.__code__.co_filename)):
        return False
    values, names = list(returns(helper)), set[str]()
    for node in values:  # which grows by what its names were given
        if any(_is_bare_cuda(call) for call in ast.walk(node) if isinstance(call, ast.Call)):
            return True
        found = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} - names
        names |= found
        values += filter(None, (find_origin(name, tree).value for name in sorted(found)))
    return False


def _is_bare_cuda(call: ast.Call) -> bool:
    named = [*call.args[:1], *filter(None, [origins.device_argument(call)])]
    if origins.called(call) == "cuda":
        return isinstance(call.func, ast.Attribute) and not named
    is_a_move = origins.called(call) in ("to", "device")
    return any(
        isinstance(device, ast.Constant) and device.value == "cuda"
        for device in (named if is_a_move else filter(None, [origins.device_argument(call)]))
    )


def _names_no_number(node: ast.expr, call: Call) -> bool:
    """Tell whether a call asks for "cuda" without a number."""
    if not isinstance(node, ast.Call):
        return False
    named = [*node.args[:1], *filter(None, [origins.device_argument(node)])]
    if origins.called(node) == "cuda":
        return not named
    return any(_is_cuda(value(device, call)) for device in named)


def _is_cuda(device: object) -> bool:
    return (type(device) is str or objects.is_device(device)) and str(device) == "cuda"
