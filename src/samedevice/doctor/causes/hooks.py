"""A weight of a model that accelerate has put hooks on: the model is not moved, as its hooks would not know."""

import ast
from dataclasses import replace

from samedevice.doctor.causes.rewriting import in_line
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.models import is_dispatched
from samedevice.doctor.edits import Change
from samedevice.introspect import objects
from samedevice.introspect.expressions import parsed
from samedevice.introspect.frames import Call
from samedevice.introspect.values import value


def beside_its_hooks(evidence: Evidence, root: str, call: Call) -> Change | None:
    """Say what to do with a weight of a model that has hooks; None for a model without.

    Args:
        evidence: what is known of the weight.
        root: the model, as a frame calls it.
        call: that frame.
    """
    holder, model = evidence.holder, value(parsed(root), call)
    if holder is None or not is_dispatched(model):
        return None
    layer = holder.expression.rpartition(".")[0] or root
    if "_hf_hook" in objects.attributes(holder.inner) and evidence.operand.device == "meta":
        return Change(f"{layer}(...)  # its hook loads the weight for a call of the layer, and for nothing else")
    if whole := _offloaded_whole(evidence):
        return Change(f"{whole}(...)  # its hook moves it for a call of itself, and for no other method")
    match evidence.taken_in, evidence.operand.call:
        case ast.Assign(targets=[ast.Name(id=name)]), failing if not failing.in_library:
            moved = f"{name}.to({device_at(evidence, failing, failing.line)})"
            return in_line(replace(evidence, call=failing), moved, name)
    return Change(f"dispatch_model(...)  # after {layer} was added, or with {layer} in the device map")


def _offloaded_whole(evidence: Evidence) -> str:
    """Return the name of the module that holds it and that a hook brings to the GPU as a whole; "" where none does."""
    failure = evidence.failure
    for name, module in failure.modules():
        hook = objects.attributes(module).get("_hf_hook")
        is_whole = objects.is_a(hook, "accelerate.hooks", "CpuOffload")
        if is_whole and name != "self" and id(evidence.operand.tensor) in failure.registered(module):
            return name
    return ""
