"""A model over several GPUs: an activation that stayed behind, and "cuda" where a number was meant."""

import ast

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.expected_device import moved_to_by
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.introspect import objects, origins
from samedevice.introspect.frames import Call
from samedevice.introspect.values import function_of, returns, value

activation = cause("split_model_activation_not_moved")
activation.find(refused_tensors)
default_index = cause("wrong_default_index", is_alone=True)


@activation.detect(order=92)
def met_a_parameter_on_another_gpu(evidence: Evidence) -> bool:
    """Tell whether it is a parameter or a buffer on another GPU than what it met."""
    return evidence.is_registered and evidence.is_between_gpus


@default_index.detect(order=110)
def is_asked_for_without_a_number(evidence: Evidence) -> bool:
    """Tell whether it is on the first of several GPUs because "cuda" has no number."""
    if not evidence.is_between_gpus:
        return False
    node = (
        evidence.origin.value if evidence.origin.kind in ("moved", "created", "call") else None
    ) or evidence.expression.node
    helper = function_of(node.func, evidence.origin_call) if isinstance(node, ast.Call) else None
    if helper is not None and moved_to_by(helper) == "cuda:0":
        return any(_names_no_number(result, evidence.origin_call) for result in returns(helper))
    return _names_no_number(node, evidence.origin_call)


@activation.detect(order=111)
def is_on_another_gpu(evidence: Evidence) -> bool:
    """Tell whether it is on another GPU than what it met."""
    return evidence.is_between_gpus


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
