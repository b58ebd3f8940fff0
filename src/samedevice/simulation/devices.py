"""Which GPUs are simulated, which one is current in this thread, and where a tensor is.

Everything else in the simulation asks here. The rules are c10/core/Device.h (a device is a type and an index) and
c10/cuda/CUDAFunctions.cpp (the current device belongs to the thread; an ordinal is checked when it is used).
"""

import os
import threading
from typing import Any

import torch

CPU = torch.device("cpu")

FORKED = (
    "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' "
    "start method"
)
INVALID_ORDINAL = (
    "CUDA error: invalid device ordinal\n"
    "GPU device may be out of range, do you have enough GPUs?\n"
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)

# One object per GPU, made once in a process: equal devices are then identical, and dispatch compares them with `is`.
_made: list[torch.device] = []
_gpus: list[torch.device] = []
_current = threading.local()
_used = False
_forked = False


def count() -> int:
    """How many GPUs can be seen."""
    return len(_gpus)


def gpus() -> list[torch.device]:
    """The GPUs that can be seen; asking does not count as using one."""
    return list(_gpus)


def power_on(devices: int) -> None:
    """Make `devices` GPUs, of which CUDA_VISIBLE_DEVICES hides some, as CUDA does."""
    global _current, _used, _forked
    visible = len(_visible(devices))
    _made.extend(torch.device("cuda", index) for index in range(len(_made), visible))
    _gpus[:] = _made[:visible]
    _current, _used, _forked = threading.local(), False, False


def power_off() -> None:
    """Take the GPUs away. Tensors that were made on them keep their device."""
    _gpus.clear()


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
    global _used
    if _forked:
        raise RuntimeError(FORKED)
    if not _gpus:
        raise RuntimeError("No CUDA GPUs are available")
    _used = True


def used() -> bool:
    """Whether anything touched a GPU yet (`torch.cuda.is_initialized`)."""
    return _used


def in_forked_child() -> bool:
    return _forked


def _after_fork() -> None:
    global _forked
    _forked = _forked or (_used and bool(_gpus))


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


def current() -> int:
    """The current GPU of this thread."""
    return getattr(_current, "index", 0)


def set_current(index: int) -> None:
    """Make `index` the current GPU of this thread; a negative index is ignored, as by torch.cuda.set_device."""
    if index >= 0:
        _current.index = gpu(index).index


def gpu(index: int) -> torch.device:
    """The GPU of this index.

    Raises torch.AcceleratorError with CUDA's own text where there is none (c10/cuda/CUDAException.cpp).
    """
    use()
    if index >= len(_gpus):
        raise torch.AcceleratorError(INVALID_ORDINAL)
    return _gpus[index]


def resolve(device: Any) -> torch.device:
    """The device that a request means: "cuda", 1, torch.device("cuda:1"), "cpu"; "cuda" is the current one."""
    if isinstance(device, int) and not isinstance(device, bool):
        return gpu(device)
    asked = device if isinstance(device, torch.device) else torch.device(device)
    if asked.type == "cuda":
        return gpu(current() if asked.index is None else asked.index)
    return CPU if asked.type == "cpu" else asked


def device_of(tensor: torch.Tensor) -> torch.device:
    """Where a tensor is: what a simulated tensor carries, else what torch says. The CPU is always the object CPU."""
    device: torch.device = getattr(tensor, "_samedevice_device", None) or tensor.device
    return CPU if device.type == "cpu" else device


_torch_device = torch.device


class Face(type):
    """The type of a class that stands in for one of torch's while a simulation runs: it knows the same instances."""

    original: type

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.original)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.original)


class _DeviceFace(Face):
    """For torch.device, which cannot be subclassed: an int is a GPU, all else is torch's own."""

    def __call__(cls, *args: Any, **kwargs: Any) -> torch.device:
        if len(args) == 1 and isinstance(args[0], int) and not kwargs:
            return _torch_device("cuda", args[0])
        return _torch_device(*args, **kwargs)


# A pickled device names its class, so the name must lead back here while a simulation runs, and to torch's after it.
DeviceFace = _DeviceFace("device", (), {"__module__": "torch", "original": torch.device})
