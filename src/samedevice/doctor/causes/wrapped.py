"""A model that DistributedDataParallel refuses when it wraps it: one on the CPU, or one on several GPUs."""

import ast
from collections.abc import Sequence
from typing import Any

from samedevice.doctor.causes.models import not_moved
from samedevice.doctor.causes.moves import moved_to
from samedevice.doctor.causes.rewriting import replaced
from samedevice.doctor.causes.several_gpus import activation
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.origins import Origin
from samedevice.introspect.values import Argument

_REFUSED = (
    "device_ids and output_device arguments only work with",
    "No backend type associated with device type cpu",
)


@not_moved.claim
def wrapped_on_the_cpu(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim a model that DistributedDataParallel got on the CPU for a GPU: it does not move the model."""
    wraps, node, module = _wrapping(failure)
    if wraps is None or failure.devices(module) != {"cpu"}:
        return None
    device = _own_gpu(wraps)
    moved = moved_to(node, device or '"cuda"')
    text = text_of(replaced(wraps, node, moved))
    edits = Source.of_call(failure.user_call).replaced(node, text_of(moved)) if device else ()
    return [_of_a_model(failure, node, module, "cpu", Change(text, edits))]


@activation.claim
def wrapped_on_several_gpus(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim a model on several GPUs that DistributedDataParallel got with `device_ids`, which is for a model on one.

    Whether the model should be on one GPU, or be wrapped without it, depends on how many processes there are.
    """
    wraps, node, module = _wrapping(failure)
    if wraps is None or len(failure.devices(module)) < 2:
        return None
    kept = [keyword for keyword in wraps.keywords if keyword.arg not in ("device_ids", "output_device")]
    text = text_of(ast.Call(wraps.func, wraps.args[:1], kept))
    change = Change(f"{text}  # if this is the only process on these GPUs; else put the model on one of them")
    return [_of_a_model(failure, node, module, ", ".join(sorted(failure.devices(module))), change)]


def _wrapping(failure: Failure) -> tuple[ast.Call | None, ast.expr, Any]:
    """Return the failing call of DistributedDataParallel, the model in it and what that is; None for another failure.

    A group for GPUs alone refuses the parameters of a model on the CPU even where no `device_ids` do.
    """
    node = failure.user_call.node
    is_refused = any(text in failure.text for text in _REFUSED)
    selves = [below.locals.get("self") for below in failure.calls_below if below.function == "__init__"]
    is_wrapper = any(objects.is_a(each, "torch.nn.parallel", "DistributedDataParallel") for each in selves)
    if is_refused and isinstance(node, ast.Call) and is_wrapper:
        models = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "module")]
        given = next(
            (below.locals.get("module") for below in failure.calls_below if below.function == "__init__"), None
        )
        if models and objects.is_module(given):
            return node, models[0], given
    return None, ast.Name("model"), None


def _own_gpu(wraps: ast.Call) -> str:
    """Write the GPU that the wrapper is told to use: `rank` of `device_ids=[rank]`; "" where it is told none."""
    for keyword in wraps.keywords:
        match keyword.arg, keyword.value:
            case "device_ids", ast.List(elts=[device]) | ast.Tuple(elts=[device]):
                return text_of(device)
    return ""


def _of_a_model(failure: Failure, node: ast.expr, module: Any, device: str, change: Change) -> Operand:
    origin, argument = Origin("other", None, None), Argument(node, module)
    return Operand(None, device, failure.user_call, argument, origin=origin, change=change)
