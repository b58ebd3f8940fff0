"""What is at fault where no two tensors met: an argument that is wanted elsewhere, a generator, a container, a name.

The message tells the cause then; what is looked for is the thing that the user's line names.
"""

import ast
import re
import sys
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.causes.checkpoints import loaded
from samedevice.doctor.causes.distributed import waited_for
from samedevice.doctor.causes.gradients import returned_by_a_hook
from samedevice.doctor.culprits.failure import Scene
from samedevice.doctor.culprits.operands import Party, parties_of
from samedevice.doctor.culprits.quoted_frames import made_in_a_replica, returned_gradient, touched_in_a_worker
from samedevice.introspect import objects
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import called
from samedevice.introspect.values import Operand, operands, value

# Causes whose tensor is on an accelerator and is wanted on the CPU.
_WANTED_ON_CPU = {"numpy_conversion", "cpu_only_argument", "pin_memory_on_cuda_tensor"}
_WANTED_ELSEWHERE = {
    "data_parallel_root_device", "grad_device", "meta_device_leftover", "model_not_moved", "library_bug",
    "metric_or_accumulator_state", "split_model_activation_not_moved", "optimizer_state_device",
}  # fmt: skip
_DEVICE_NAMED = {
    "device_ordinal_unavailable", "misspelt_device", "no_cuda_build_or_driver", "hardcoded_cuda", "fork_cuda",
    "mps_or_other_backend", "wrong_default_index", "legacy_constructor_device",
}  # fmt: skip
_DEVICE_FIRST = re.compile(r"^(?:to|cuda|Stream|current_stream|synchronize|mem\w*|\w*device\w*)$")
# The types of devices that torch.device takes, of those that have hardware.
_DEVICE = re.compile(r"(?:cpu|cuda|xpu|mps|mtia|hpu|maia|xla|ipu|meta|npu|privateuseone)(?::\d+)?")


def lone_suspects(scene: Scene, cause: str) -> list[Party]:
    """The thing at fault by the message's own cause, most suspect first."""
    if cause == "data_parallel_unreplicated_state":
        shared = list(_shared_by_replicas(scene))
        named = [party for party in shared if f"{party.operand.expression.partition('[')[0]}" in scene.text]
        return named or list(made_in_a_replica(scene)) or shared
    if cause == "checkpoint_map_location":
        return list(loaded(scene))
    if cause == "ddp_unused_parameters":
        return list(waited_for(scene))
    if cause == "fork_cuda":
        return list(touched_in_a_worker(scene))
    if cause == "grad_device" and (returned := [*returned_gradient(scene), *returned_by_a_hook(scene)]):
        return returned
    # What a library's own frame names is surer than what the user's line passes on.
    for call in scene.below if cause in _WANTED_ELSEWHERE or cause == "generator_device" else scene.below[::-1]:
        found = list(_in(call, cause))
        if found:
            # Of several the one that decides on sizes: lengths, indices, places.
            return sorted(found, key=lambda party: party.tensor is None or objects.is_floating(party.tensor))
    return list(_asked(scene.place)) if cause in _DEVICE_NAMED and not scene.place.in_library else []


def is_lone(cause: str) -> bool:
    """Whether such a cause is about one thing alone, wherever the others are."""
    return cause in _WANTED_ON_CPU | _DEVICE_NAMED | {
        "generator_device", "container_not_moved", "checkpoint_map_location", "data_parallel_unreplicated_state",
        "data_parallel_root_device", "ddp_unused_parameters",
    }  # fmt: skip


def _in(call: Call, cause: str) -> Iterator[Party]:
    if cause == "numpy_conversion" and (array := _array_beside_a_tensor(call)) is not None:
        yield Party(None, "cpu", call, array)
        return
    if cause in _WANTED_ON_CPU | _WANTED_ELSEWHERE:
        here = parties_of(call)
        if isinstance(call.node, ast.Raise):
            here = [
                Party(held, objects.device(held), call, Operand(ast.Name(name, ast.Load()), held))
                for name, held in call.locals.items()
                if objects.is_tensor(held)
            ]
        for party in here:
            if cause not in _WANTED_ON_CPU or party.device != "cpu":
                yield party
    for operand in operands(call):
        if where := _named(operand, cause):
            yield Party(None, where, call, operand)


def _array_beside_a_tensor(call: Call) -> Operand | None:
    """The array of `x - array`, where it is the array that can move: NumPy would take `x` to the CPU."""
    if not isinstance(call.node, (ast.BinOp, ast.AugAssign, ast.Compare)):
        return None
    if not any(party.tensor is not None and party.device != "cpu" for party in parties_of(call)):
        return None
    return next((operand for operand in operands(call) if objects.is_array(operand.value)), None)


def _asked(call: Call) -> Iterator[Party]:
    """Where no name of a device is to be had: what `.cuda()` moves, a number, an expression."""
    match call.node:
        case ast.Call(func=ast.Attribute(attr="cuda", value=moved), args=[], keywords=[]):
            held = value(moved, call)
            tensor = held if objects.is_tensor(held) else None
            where = objects.device(tensor) if tensor is not None else "cpu"
            yield Party(tensor, where, call, Operand(moved, held, "moved"))
        case ast.Call(args=[*arguments], keywords=keywords):
            named = [keyword.value for keyword in keywords if keyword.arg in ("device", "device_ids", "output_device")]
            # A number is a device only where a device is taken first: in torch.zeros(1) it is a size.
            for node in named or (arguments if _DEVICE_FIRST.search(called(call.node) or "") else []):
                held = value(node, call)
                if type(held) is int and held >= 0:
                    yield Party(None, f"cuda:{held}", call, Operand(node, held))
                elif objects.is_one_of(held, list, tuple) and all(type(one) is int for one in held):
                    yield Party(None, f"cuda:{max(held, default=0)}", call, Operand(node, held))
                elif isinstance(node, ast.Call) and called(node) == "get_device":
                    yield Party(None, "-1", call, Operand(node, held))  # so it is of a tensor on the CPU
                elif held is MISSING and not isinstance(node, ast.Starred):
                    yield Party(None, "unknown", call, Operand(node, held))


def _named(operand: Operand, cause: str) -> str:
    """Where the operand is, or is asked to be, if it is of the kind that this cause is about."""
    held = operand.value
    if cause == "generator_device" and objects.is_a(held, "torch._C", "Generator"):
        carried = objects.attributes(held).get("_samedevice_device")
        return str(carried or sys.modules["torch"]._C.Generator.device.__get__(held))
    if cause == "container_not_moved" and objects.is_one_of(held, dict, list, tuple):
        return next((objects.device(tensor) for _, tensor in objects.inside(held)), "cpu")
    if cause in _DEVICE_NAMED:
        return _device_text(held, cause)
    return ""


def _device_text(held: Any, cause: str) -> str:
    """The device that a value names; what is misspelt names none that PyTorch knows."""
    if type(held) is str and len(held) < 40:
        return held if cause == "misspelt_device" or _DEVICE.fullmatch(held) else ""
    return str(held) if objects.is_device(held) else ""


def _shared_by_replicas(scene: Scene) -> Iterator[Party]:
    """The plain tensors of a module under DataParallel, which its replicas share: those of the failing line first."""
    if (whole := data_parallel(scene)) is None:
        return
    shared = [(tensor, held) for tensor, held in scene.held_within(whole) if not held.moves]
    for tensor, held in sorted(shared, key=lambda one: f"self.{one[1].name}" not in scene.text):
        # As the module's own code has it, which ran in the replica.
        inside = held.path[held.path.index(f".{held.name}") :]
        node = ast.parse(f"self{inside}", mode="eval").body
        yield Party(tensor, objects.device(tensor), scene.place, Operand(node, tensor))


def data_parallel(scene: Scene) -> Any:
    """The DataParallel whose frame is among those of the error, or None."""
    held = (call.locals.get("self") for call in scene.below)
    return next((one for one in held if objects.is_a(one, "torch.nn", "DataParallel")), None)


def is_gathering(scene: Scene) -> bool:
    """Whether DataParallel was joining what its replicas returned."""
    return data_parallel(scene) is not None and any("scatter_gather" in call.file for call in scene.below)
