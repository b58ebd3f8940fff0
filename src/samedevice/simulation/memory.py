"""How much memory the tensors on a simulated GPU hold, and what CUDA's allocator would keep in reserve for them.

Each storage is followed from its making to its end. Both are only written down when they happen, in a journal; it is
read, and allocator.py told, when a program asks for a number or when it grows long. So following costs an operator
little, and an end that Python's garbage collector brings about, at any moment, disturbs nothing. Memory never runs out
here, and who allocated what is not kept.
"""

import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from samedevice.simulation import devices, tensor
from samedevice.simulation.allocator import Allocator, Block, Count
from samedevice.simulation.properties import MEMORY

_LONG = 4096  # entries of the journal, after which it is read


class _Allocation(weakref.ref[torch.UntypedStorage]):
    """One storage that is followed until it is freed."""

    __slots__ = ("address", "block", "gpu", "size")
    address: int
    block: Block
    gpu: Allocator
    size: int


_followed: dict[int, _Allocation] = {}  # by the address of the storage, so that it is counted once
_gpus: dict[int, Allocator] = {}
_fractions: dict[int, float] = {}
_raw: dict[int, torch.UntypedStorage] = {}  # what a program asked the allocator for, by its address
_journal: deque[_Allocation] = deque()  # each stands here twice: when it begins, and when it ends
_reading = threading.Lock()


def made(storage: torch.UntypedStorage, index: int) -> None:
    """Note a storage on the GPU of this index, if it is new, until it is freed."""
    address = storage._cdata
    if address in _followed:
        return
    size = storage.nbytes()
    if not size:
        return
    allocation = _Allocation(storage, _freed)
    allocation.address, allocation.size = address, size
    allocation.gpu = _gpus[index] if index in _gpus else _gpus.setdefault(index, Allocator())
    _followed[address] = allocation
    _journal.append(allocation)
    if len(_journal) > _LONG:
        _read()


def _freed(allocation: Any) -> None:
    """Its counts are those of its own simulation, which may have ended."""
    _followed.pop(allocation.address, None)
    _journal.append(allocation)


def _read() -> None:
    """Tell the allocators what happened since, in its order."""
    with _reading:
        while _journal:
            allocation = _journal.popleft()
            if hasattr(allocation, "block"):
                allocation.gpu.free(allocation.block)
            else:
                allocation.block = allocation.gpu.allocate(allocation.size)


def _checked(index: int, what: str) -> int:
    """torch/csrc/cuda/Module.cpp, which takes no bool for a number, as torch.accelerator does."""
    if isinstance(index, bool):
        raise RuntimeError(f"invalid argument to {what}")
    return index


def _gpu(index: int) -> Allocator:
    """The allocator of this GPU, which knows all that has happened."""
    if not 0 <= devices.fits(index) < devices.count():
        # CUDACachingAllocator.cpp, assertValidDevice; an index is an int8, hence printed as a character.
        raise RuntimeError(f"Invalid device argument {chr(max(index, 0))}: did you call init?".partition("\0")[0])
    _read()
    return _gpus[index] if index in _gpus else _gpus.setdefault(index, Allocator())


def stats(index: int) -> dict[str, Any]:
    """torch._C._cuda_memoryStats."""
    return {
        **_accelerator_stats(_checked(index, "memory_allocated")),
        "num_oom_rejections": 0,
        "reserved_bytes_by_private_pools": {},
    }


def _accelerator_stats(index: int) -> dict[str, Any]:
    """torch._C._accelerator_getDeviceStats."""
    gpu = _gpu(index)
    return {
        **dict.fromkeys(("num_alloc_retries", "num_ooms", "num_sync_all_streams"), 0),
        "max_split_size": -1,  # without a limit
        "num_device_alloc": gpu.segments_made,
        "num_device_free": gpu.segments_freed,
        **gpu.read(),
        "oversize_allocations": Count().read(),
        "oversize_segments": Count().read(),
    }


def _reset_peak(index: int) -> None:
    for count in _gpu(index).every_count():
        count.reset_peak()


def _reset_accumulated(index: int) -> None:
    gpu = _gpu(index)
    gpu.segments_made = gpu.segments_freed = 0
    for count in gpu.every_count():
        count.reset_accumulated()


def _empty_cache() -> None:
    _read()
    for gpu in _gpus.values():
        gpu.release()


def _free(index: int) -> tuple[int, int]:
    """Bytes that are free, and all (cudaMemGetInfo)."""
    return max(0, MEMORY - _gpu(devices.gpu(index).index).all.reserved_bytes.current), MEMORY


def _set_fraction(fraction: float, index: int) -> None:
    """It is kept and read back; as memory never runs out here, it limits nothing."""
    if not 0 <= index < devices.count():
        # CUDACachingAllocator.cpp, setMemoryFraction; an index is an int8, hence printed as a character.
        raise RuntimeError(
            f"Allocator not initialized for device {chr(max(index, 0))}: did you call init?".split("\0")[0]
        )
    _gpu(index)
    _fractions[index] = fraction


def _refused(what: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"samedevice simulates no allocator, so {what}: ask torch.cuda.memory_allocated()")

    return refuse


def _raw_alloc(size: int, stream: int) -> int:
    if size < 0:  # torch/csrc/cuda/Module.cpp, THCPModule_cudaCachingAllocator_raw_alloc
        raise ValueError(f"Invalid memory size: {size}. caching_allocator_alloc requires a non-negative size.")
    storage = torch.UntypedStorage(size, device=torch.device("cuda", devices.current()))
    _raw[storage.data_ptr()] = storage
    return storage.data_ptr()


def _raw_delete(address: int) -> None:
    if _raw.pop(address, None) is None:  # CUDACachingAllocator.cpp, raw_delete
        raise RuntimeError(f"invalid device pointer: {address:#x}")


def _record_history(enabled: str | None, *args: Any) -> None:
    """There is none to record; to switch it off is what PyTorch does too where it is off."""
    if enabled is not None:
        _refused("it has no history to record")()


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    here = sys.modules[__name__]
    yield tensor, "count", made
    for name in ("_followed", "_gpus", "_fractions"):
        yield here, name, {}
    yield here, "_journal", deque()
    in_c = {
        "_cuda_memoryStats": stats, "_accelerator_getDeviceStats": _accelerator_stats,
        "_cuda_resetPeakMemoryStats": lambda index: _reset_peak(_checked(index, "reset_peak_memory_stats")),
        "_cuda_resetAccumulatedMemoryStats": lambda index: _reset_accumulated(
            _checked(index, "reset_accumulated_memory_stats")
        ),
        "_accelerator_resetPeakStats": _reset_peak, "_accelerator_resetAccumulatedStats": _reset_accumulated,
        "_cuda_emptyCache": _empty_cache, "_accelerator_emptyCache": _empty_cache,
        "_accelerator_getMemoryInfo": _free, "_accelerator_isAllocatorInitialized": devices.used,
        "_cuda_setMemoryFraction": _set_fraction, "_cuda_getMemoryFraction": lambda index: _fractions.get(index, 1.0),
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_cudaCachingAllocator_is_enabled": lambda: True,
    }  # fmt: skip
    for name, function in in_c.items():
        yield torch._C, name, function
    yield here, "_raw", {}
    yield torch._C, "_cuda_record_memory_history", _record_history
    yield torch._C, "_cuda_cudaCachingAllocator_raw_alloc", _raw_alloc
    yield torch._C, "_cuda_cudaCachingAllocator_raw_delete", _raw_delete
    for name, what in (
        ("_cuda_memorySnapshot", "there is no snapshot of its blocks"),
        ("_cuda_record_memory_history_legacy", "it has no history to record"),
        ("_cuda_cudaCachingAllocator_enable", "it cannot be switched"),
        ("_cuda_changeCurrentAllocator", "it cannot be exchanged"),
        ("_cuda_customAllocator", "it cannot be exchanged"),
    ):
        yield torch._C, name, _refused(what)
