"""The `weight=` of a loss, which is a tensor like any other: it is moved with the loss, or by itself."""

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.where_made import module_moved_once
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.edits import Change
from samedevice.introspect import objects

weight = cause("loss_weight_not_moved")


@weight.detect
def is_passed_to_a_loss(evidence: Evidence) -> bool:
    """Tell whether it was passed for the `weight=` of a function such as cross_entropy."""
    if evidence.operand.role not in ("weight", "pos_weight") or evidence.is_between_gpus:
        return False
    calls = evidence.failure.calls_below
    functions = [call.function for call in calls if call.file.replace("\\", "/").endswith("nn/functional.py")]
    is_of_a_loss = any("loss" in name or "entropy" in name for name in functions)
    return is_of_a_loss and (evidence.holder is None or evidence.holder.kind == "partial")


@weight.detect
def is_held_by_a_loss(evidence: Evidence) -> bool:
    """Tell whether it is a buffer of a loss."""
    holder = evidence.holder
    return (
        holder is not None and evidence.is_registered and objects.is_a(holder.module, "torch.nn.modules.loss", "_Loss")
    )


@weight.fix
def loss_moved(evidence: Evidence) -> Change | None:
    """Move the whole loss, once."""
    if evidence.holder is None or evidence.holder.inner is None:
        return None
    return module_moved_once(evidence, evidence.holder.expression.rpartition(".")[0], evidence.call)
