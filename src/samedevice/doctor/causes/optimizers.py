"""An optimizer's state is on another device than the parameter that it belongs to."""

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import before_line
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.edits import Change
from samedevice.introspect import objects

state = cause("optimizer_state_device")
state.find(refused_tensors)


@state.detect
def optimizer_failed(evidence: Evidence) -> bool:
    """Tell whether the optimizer itself failed: a closure that it calls is the user's, and stands below it."""
    return any(objects.is_optimizer(call.method_of) for call in evidence.failure.calls_below)


@state.fix
def loaded_again(evidence: Evidence) -> Change | None:
    """Load the optimizer's own state: that moves each part of it to its parameter."""
    holder = evidence.holder
    names = [name for name, _ in evidence.failure.optimizers()]
    name = holder.root if holder is not None and holder.kind == "state" else next(iter(names), "optimizer")
    if name == "self":  # an optimizer of the program's own: its code has to create the state where the parameter is
        return None
    return before_line(evidence.failure.user_call, f"{name}.load_state_dict({name}.state_dict())")
