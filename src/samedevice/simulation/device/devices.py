"""Which GPUs are simulated, which one is current in this thread, and where a tensor is.

Everything else in the simulation asks here. The rules are c10/core/Device.h (a device is a type and an index) and
c10/cuda/CUDAFunctions.cpp (the current device belongs to the thread; an ordinal is checked when it is used).
"""

import functools
import numbers
import os
from typing import Any, NoReturn

import torch
from torch.types import Device

from samedevice.gpu_types import UNNAMED, GpuType
from samedevice.simulation import state
from samedevice.simulation.class_stand_ins import Face, face
from samedevice.simulation.stand_ins import modes_are_asked, overridden

CPU = torch.device("cpu")

_lazy_init = torch.cuda._lazy_init
_ADVICE = "For more detailed error information, run with CUDA_LOG_FILE=stderr\n"  # c10/cuda/CUDAMiscFunctions.cpp
INVALID_ORDINAL = (
    f"CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?\n{_ADVICE}"
)
ENDED = "the simulated CUDA has ended, and its GPUs with it: compute on the CPU, or start it again"


def cuda_error(says: str, name: str) -> str:
    """The text of an error of the driver's that PyTorch has no advice for (c10/cuda/CUDAMiscFunctions.cpp)."""
    return (
        f"CUDA error: {says}\nSearch for `{name}' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
        f"group__CUDART__TYPES.html for more information.\n{_ADVICE}"
    )


# To a forked child that computes with its parent's tensors.
NOT_INITIALIZED = cuda_error("initialization error", "cudaErrorInitializationError")

# One object per GPU, made once in a process: equal devices are then identical, and dispatch compares them with `is`.
_made: list[torch.device] = []


def not_equal(expression: str) -> NoReturn:
    """c10/util/Exception.h, a TORCH_CHECK without a text of its own."""
    raise RuntimeError(
        f"Expected {expression} to be true, but got false.  (Could this error message be improved?  If so, please "
        "report an enhancement request to PyTorch.)"
    )


def count() -> int:
    """How many GPUs can be seen."""
    return len(gpus())


def gpus() -> list[torch.device]:
    """The GPUs that can be seen; asking does not count as using one.

    CUDA reads CUDA_VISIBLE_DEVICES when it begins, so until then a program may still set it.
    """
    now = state.now
    if not (now.used or now.asked or now.forked):
        _see(_visible(now.installed))
    return list(now.gpus)


def installed() -> int:
    """How many GPUs are simulated, those that CUDA_VISIBLE_DEVICES hides included."""
    return state.now.installed


def type_of(index: int) -> GpuType:
    """The model of this GPU; of a tensor that is left over, any."""
    types = state.now.types
    return types[index] if index < len(types) else UNNAMED


def power_on() -> None:
    """Make the GPUs that the simulation has, of which CUDA_VISIBLE_DEVICES hides some, as CUDA does."""
    _see(_visible(state.now.installed))


def _see(visible: list[int]) -> None:
    now = state.now
    now.types = [now.models[index] for index in visible]
    if len(now.gpus) != len(visible):
        _made.extend(torch.device("cuda", index) for index in range(len(_made), len(visible)))
        now.gpus = _made[: len(visible)]
        now.present = {CPU, *now.gpus}


def _visible(devices: int) -> list[int]:
    wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        return list(range(devices))
    seen: list[int] = []
    for part in wanted.split(","):
        index = int(part) if part.strip().isdecimal() else -1
        if not 0 <= index < devices:
            break  # CUDA ignores the first invalid ordinal and all that follow it
        if index in seen:
            return []
        seen.append(index)
    return seen


def use() -> None:
    """What CUDA does on first contact: refuse in a forked child, refuse without a GPU."""
    now = state.now
    if now.used and now.gpus and not now.forked:
        return
    if now.forked:
        _lazy_init()  # PyTorch's own, which refuses
    if not now.installed:
        raise RuntimeError(ENDED)
    if not gpus():
        raise RuntimeError("No CUDA GPUs are available")
    now.used = True


def ask() -> int:
    """How many GPUs, as torch.cuda.is_available asks: that starts the driver, and a later fork may not use CUDA.

    https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#multiprocessing-poison-fork-note
    """
    seen = count()
    state.now.asked = True
    return seen


def used() -> bool:
    """Whether anything touched a GPU yet (`torch.cuda.is_initialized`)."""
    return state.now.used and not state.now.forked


def seed(callable: Any, **kwargs: Any) -> None:
    """torch.cuda._lazy_call, by which generators are seeded: it does not count as using a GPU.

    CUDA puts the call off until a GPU is used; in a forked child that may use none, for ever.
    """
    now = state.now
    if not now.gpus or now.forked:
        return
    used = now.used
    try:
        callable()
    finally:
        now.used = used


def in_forked_child() -> bool:
    return state.now.forked


def _after_fork() -> None:
    now = state.now
    now.forked = now.forked or ((now.used or now.asked) and bool(now.gpus))
    if now.forked:
        now.present = {CPU}


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


def current() -> int:
    """The current GPU of this thread."""
    return getattr(state.now.current_gpu, "index", 0)


def set_current(index: int) -> None:
    """Make `index` the current GPU of this thread; a negative index is ignored, as by torch.cuda.set_device."""
    if index >= 0:
        state.now.current_gpu.index = gpu(index).index


def fits(index: int) -> int:
    """The index itself; torch/csrc/utils/python_numbers.h, THPUtils_unpackDeviceIndex: it must be an int8."""
    if not -128 <= index < 128:
        raise RuntimeError("Overflow when unpacking DeviceIndex")
    return index


def gpu(index: int) -> torch.device:
    """The GPU of this index.

    Raises torch.AcceleratorError with CUDA's own text if that GPU does not exist (c10/cuda/CUDAException.cpp).
    """
    use()
    seen = state.now.gpus
    if not 0 <= index < len(seen):
        raise torch.AcceleratorError(INVALID_ORDINAL)
    return seen[index]


def refuse_absent(device: torch.device) -> None:
    """Raise if a tensor's GPU cannot be used any more: in a forked child, or after its simulation has ended."""
    if state.now.forked and device.type == "cuda":
        raise torch.AcceleratorError(NOT_INITIALIZED)
    if device.type == "cuda" and device not in state.now.present:
        running = f"that is running has {count()} GPU(s)" if state.now.installed else "has ended"
        raise RuntimeError(
            f"this tensor is on {device} of a simulated CUDA, but the simulation {running}: bring it back with "
            f".cpu(), or compute with it inside simulate_cuda(devices={device.index + 1})"
        )


def is_index(device: Device) -> bool:
    """Tell whether PyTorch takes this for a GPU's index: an int, also one of NumPy's (THPUtils_checkLong); no bool."""
    if isinstance(device, int):
        return not isinstance(device, bool)
    return type(device).__module__ == "numpy" and isinstance(device, numbers.Integral)


def resolve(device: Device) -> torch.device:
    """The device that a request means: "cuda", 1, torch.device("cuda:1"), "cpu"; "cuda" is the current one."""
    if type(device) is _torch_device:
        asked = device
    elif type(device) is str:
        asked = _parsed(device)
    elif is_index(device):
        if device < 0:
            raise RuntimeError("Device index must not be negative")  # torch/csrc/utils/python_arg_parser.h, toDevice
        return gpu(int(device))
    else:
        asked = torch.device(device)
    if asked.type == "cuda":
        return gpu(current() if asked.index is None else asked.index)
    return CPU if asked.type == "cpu" else asked


def device_of(tensor: torch.Tensor) -> torch.device:
    """The device of a tensor: what a simulated one carries, else what torch says. The CPU is always the object CPU."""
    device: torch.device | None = getattr(tensor, "_samedevice_device", None)
    if device is not None:
        return device
    if modes_are_asked() or (type(tensor) is not torch.Tensor and overridden(tensor)):
        with torch._C.DisableTorchFunction():  # the program has not asked, so nothing of its own is called
            device = tensor.device
    else:
        device = tensor.device
    return CPU if device.type == "cpu" else device


_torch_device = torch.device
_parsed = functools.lru_cache(_torch_device)  # of a name


class _DeviceFace(Face):
    """What stands for torch.device, which cannot be subclassed: an int is a GPU, all else is torch's own."""

    def __call__(self, *args: Any, **kwargs: Any) -> torch.device:
        if len(args) == 1 and not kwargs and is_index(args[0]):
            return _torch_device("cuda", int(args[0]))
        return _torch_device(*args, **kwargs)


# A pickled device names its class, so the name must lead back here while a simulation runs, and to torch's after it.
DeviceFace = face(_DeviceFace, torch.device)
