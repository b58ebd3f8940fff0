"""What a program passes to a collective of torch.distributed that has no backend for it: it is wanted on the GPU."""

import re

from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand, operands_of
from samedevice.introspect import objects
from samedevice.introspect.objects import MISSING
from samedevice.introspect.values import Argument

_REFUSED = re.compile(r"No backend type associated with device type ?cpu|Tensors must be (?:CUDA|on a GPU)")


def sent_from_the_cpu(failure: Failure) -> list[Operand]:
    """Return the tensors on the CPU that the failing line sends, and a last operand for the GPU that sends them."""
    call = failure.user_call
    if not _REFUSED.search(failure.text) or not failure.runs_below_in("torch/distributed/"):
        return []
    sent = [operand for operand in operands_of(call) if operand.device == "cpu" and operand.tensor is not None]
    if not sent or call.in_library:
        return []
    return [*sent, Operand(None, _gpu(failure), call, Argument(sent[0].argument.node, MISSING))]


def _gpu(failure: Failure) -> str:
    """Return the GPU of the process: that of its model, or of a variable that names a device."""
    parameters = (tensor for _, module in failure.modules() for tensor in objects.parameters(module))
    named = (known for call in failure.user_calls for _, known in failure.names(call) if objects.is_device(known))
    devices = [*map(objects.device, parameters), *map(str, named)]
    return next((device for device in devices if device not in ("cpu", "meta", "cuda")), "cuda:0")
