"""A model over several GPUs: an activation that stayed behind, and "cuda" where a number was meant."""

import ast

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.introspect import objects, origins
from samedevice.introspect.frames import Call
from samedevice.introspect.values import value

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
    node = evidence.origin.value if evidence.origin.kind in ("moved", "created") else None
    return evidence.is_between_gpus and _names_no_number(node or evidence.expression.node, evidence.origin_call)


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
