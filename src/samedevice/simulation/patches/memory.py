"""torch.cuda's questions about memory, which are asked of device/memory.py."""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from samedevice.simulation import state
from samedevice.simulation.device import devices
from samedevice.simulation.device.caching_allocator import Count
from samedevice.simulation.device.memory import allocator_of, set_allowed


def _checked(index: int, what: str) -> int:
    """torch/csrc/cuda/Module.cpp, which takes no bool for a number, as torch.accelerator does."""
    if isinstance(index, bool):
        raise RuntimeError(f"invalid argument to {what}")
    return index


def stats(index: int) -> dict[str, Any]:
    """torch._C._cuda_memoryStats."""
    rejections = {"num_oom_rejections": 0} if torch.__version__ >= "2.12" else {}
    return {
        **_accelerator_stats(_checked(index, "memory_allocated")),
        **rejections,
        "reserved_bytes_by_private_pools": {},
    }


def _accelerator_stats(index: int) -> dict[str, Any]:
    """torch._C._accelerator_getDeviceStats."""
    allocator = allocator_of(index)
    return {
        "num_alloc_retries": allocator.retries,
        "num_ooms": allocator.refusals,
        "num_sync_all_streams": allocator.waits,
        "max_split_size": -1,  # without a limit
        "num_device_alloc": allocator.segments_made,
        "num_device_free": allocator.segments_freed,
        **allocator.read(),
        "oversize_allocations": Count().read(),
        "oversize_segments": Count().read(),
    }


def _reset_peak(index: int) -> None:
    for count in allocator_of(index).every_count():
        count.reset_peak()


def _reset_accumulated(index: int) -> None:
    allocator_of(index).forget_the_sums()


def _empty_cache() -> None:
    for index in range(devices.count()):
        allocator_of(index).release()


def _free(index: int) -> tuple[int, int]:
    """Bytes that are free, and all (cudaMemGetInfo)."""
    gpu = allocator_of(devices.gpu(index).index)
    return gpu.total - gpu.all.reserved_bytes.current, gpu.total


def _set_fraction(fraction: float, index: int) -> None:
    """Limit what a GPU may reserve for this process (CUDACachingAllocator.cpp, setMemoryFraction); 1 is no limit."""
    if not 0 <= index < devices.count():
        # CUDACachingAllocator.cpp, setMemoryFraction; an index is an int8, hence printed as a character.
        raise RuntimeError(
            f"Allocator not initialized for device {chr(max(index, 0))}: did you call init?".split("\0")[0]
        )
    gpu = allocator_of(index)
    set_allowed(gpu, int(fraction * gpu.total) if fraction < 1 else None)


def _fraction(index: int) -> float:
    gpu = state.now.allocators.get(index)
    return 1.0 if gpu is None or gpu.allowed is None else gpu.allowed / gpu.total


def _refused(what: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"samedevice simulates no allocator, so {what}: ask torch.cuda.memory_allocated()")

    return refuse


def _raw_alloc(size: int, stream: int) -> int:
    if size < 0:  # torch/csrc/cuda/Module.cpp, THCPModule_cudaCachingAllocator_raw_alloc
        raise ValueError(f"Invalid memory size: {size}. caching_allocator_alloc requires a non-negative size.")
    storage = torch.UntypedStorage(size, device=torch.device("cuda", devices.current()))
    state.now.raw_memory[storage.data_ptr()] = storage
    return storage.data_ptr()


def _raw_delete(address: int) -> None:
    if state.now.raw_memory.pop(address, None) is None:  # CUDACachingAllocator.cpp, raw_delete
        raise RuntimeError(f"invalid device pointer: {address:#x}")


def _enable(value: bool) -> None:
    """It is on; without it, memory would be counted otherwise."""
    if not value:
        _refused("it cannot be switched off")()


def _record_history(enabled: str | None, *args: Any) -> None:
    """Refuse to record a history; a program may switch it off, as it may with PyTorch where it is off."""
    if enabled is not None:
        _refused("it has no history to record")()


def _metadata() -> dict[str, Callable[..., Any]]:
    """What is written beside each block from now on, in a snapshot."""
    written = [""]

    def write(text: str) -> None:
        if not isinstance(text, str):  # pybind11's words
            raise TypeError(
                "_cuda_setMemoryMetadata(): incompatible function arguments. The following argument types are "
                f"supported:\n    1. (arg0: str) -> None\n\nInvoked with: {text!r}"
            )
        written[:] = [text]

    return {"_cuda_getMemoryMetadata": lambda: written[0], "_cuda_setMemoryMetadata": write}


def replacements() -> Iterator[tuple[object, str, object]]:
    in_c = {
        "_cuda_memoryStats": stats, "_accelerator_getDeviceStats": _accelerator_stats,
        "_cuda_resetPeakMemoryStats": lambda index: _reset_peak(_checked(index, "reset_peak_memory_stats")),
        "_cuda_resetAccumulatedMemoryStats": lambda index: _reset_accumulated(
            _checked(index, "reset_accumulated_memory_stats")
        ),
        "_accelerator_resetPeakStats": _reset_peak, "_accelerator_resetAccumulatedStats": _reset_accumulated,
        "_cuda_emptyCache": _empty_cache, "_accelerator_emptyCache": _empty_cache,
        "_accelerator_getMemoryInfo": _free, "_accelerator_isAllocatorInitialized": devices.used,
        "_cuda_setMemoryFraction": _set_fraction,
        "_cuda_getMemoryFraction": _fraction,
        "_cuda_attach_out_of_memory_observer": lambda observer: state.now.memory_observers.append(observer),
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_cudaCachingAllocator_is_enabled": lambda: True,
    }  # fmt: skip
    for name, function in {**in_c, **_metadata()}.items():
        yield torch._C, name, function
    yield torch._C, "_cuda_record_memory_history", _record_history
    yield torch._C, "_cuda_cudaCachingAllocator_raw_alloc", _raw_alloc
    yield torch._C, "_cuda_cudaCachingAllocator_raw_delete", _raw_delete
    yield torch._C, "_cuda_cudaCachingAllocator_enable", _enable
    for name, what in (
        ("_cuda_memorySnapshot", "there is no snapshot of its blocks"),
        ("_cuda_record_memory_history_legacy", "it has no history to record"),
        ("_cuda_changeCurrentAllocator", "it cannot be exchanged"),
        ("_cuda_customAllocator", "it cannot be exchanged"),
    ):
        yield torch._C, name, _refused(what)
    pool = type(
        "MemPool", (torch.cuda.MemPool,), {"__new__": _refused("it has no pools"), "__module__": "torch.cuda.memory"}
    )
    for owner in (torch.cuda, torch.cuda.memory):
        yield owner, "MemPool", pool
