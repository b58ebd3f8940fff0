"""An index and the tensor that it indexes are on two devices."""

import ast

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.culprits.evidence import Evidence

index = cause("index_on_wrong_device")


def _is_indexed(evidence: Evidence) -> bool:
    node = evidence.failure.user_call.node
    return isinstance(node, ast.Subscript) and evidence.operand.role != "index"


@index.detect
def is_indexed_in_an_object(evidence: Evidence) -> bool:
    """Tell whether the failing line indexes a tensor that an object holds."""
    return evidence.is_of_an_object and _is_indexed(evidence)


@index.detect
def is_indexed(evidence: Evidence) -> bool:
    """Tell whether the failing line indexes it."""
    return _is_indexed(evidence)
