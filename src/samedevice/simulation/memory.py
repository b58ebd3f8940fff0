"""How much memory the tensors on a simulated GPU hold, and the most that they held.

Counted in blocks of 512 bytes, as CUDA's caching allocator hands them out; it keeps nothing in reserve here. Memory
never runs out, and who allocated what is not kept. Each storage is followed from its making to its end; that costs a
few per cent of a small operator, so nothing here is computed twice.
"""

import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from samedevice.simulation import devices, tensor
from samedevice.simulation.properties import MEMORY

_BLOCK = 512  # bytes, c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize
_SMALL = 2**20  # bytes, kSmallSize: what is larger comes from the large pool
_IN_BLOCKS = ("allocated_bytes", "active_bytes", "reserved_bytes")
_IN_NUMBER = ("allocation", "active")


class _Count:
    """What stands in one pool of a GPU, and the most that stood there when something was last freed."""

    __slots__ = ("blocks", "blocks_peak", "number", "number_peak", "requested", "requested_peak")

    def __init__(self) -> None:
        self.blocks = self.requested = self.number = 0  # bytes, bytes, storages
        self.reset_peak()

    def reset_peak(self) -> None:
        self.blocks_peak, self.requested_peak, self.number_peak = self.blocks, self.requested, self.number

    def note_peak(self) -> None:
        """What is held only grows between two frees, so its maximum is reached right before one."""
        if self.blocks > self.blocks_peak:
            self.blocks_peak = self.blocks
        if self.requested > self.requested_peak:
            self.requested_peak = self.requested
        if self.number > self.number_peak:
            self.number_peak = self.number

    def stats(self) -> dict[str, dict[str, int]]:
        """Current and peak, by PyTorch's names."""
        self.note_peak()
        return {
            **{name: {"current": self.blocks, "peak": self.blocks_peak} for name in _IN_BLOCKS},
            "requested_bytes": {"current": self.requested, "peak": self.requested_peak},
            **{name: {"current": self.number, "peak": self.number_peak} for name in _IN_NUMBER},
        }


class _Gpu:
    """The pools of one GPU."""

    __slots__ = ("all", "large", "small")

    def __init__(self) -> None:
        self.all, self.small, self.large = _Count(), _Count(), _Count()


class _Allocation(weakref.ref[torch.UntypedStorage]):
    """One storage that is followed until it is freed."""

    __slots__ = ("address", "block", "pool", "size", "whole")
    address: int
    block: int
    size: int
    pool: _Count
    whole: _Count


_followed: dict[int, _Allocation] = {}  # by the address of the storage, so that it is counted once
_gpus: dict[int, _Gpu] = {}
_fractions: dict[int, float] = {}


def stats(index: int) -> dict[str, Any]:
    """torch._C._cuda_memoryStats: of PyTorch's numbers those that are counted here."""
    gpu = _gpu(_checked(index))
    pools = {"all": gpu.all.stats(), "small_pool": gpu.small.stats(), "large_pool": gpu.large.stats()}
    return {
        **dict.fromkeys(("num_alloc_retries", "num_ooms", "num_sync_all_streams"), 0),
        **{name: {pool: counts[name] for pool, counts in pools.items()} for name in pools["all"]},
    }


def _gpu(index: int) -> _Gpu:
    return _gpus[index] if index in _gpus else _gpus.setdefault(index, _Gpu())


def made(storage: torch.UntypedStorage, index: int) -> None:
    """Count a storage on the GPU of this index, if it is new, until it is freed."""
    address = storage._cdata
    if address in _followed:
        return
    size = storage.nbytes()
    if not size:
        return
    gpu = _gpu(index)
    allocation = _Allocation(storage, _freed)
    allocation.address, allocation.size = address, size
    allocation.block = block = -(-size // _BLOCK) * _BLOCK
    allocation.whole = whole = gpu.all
    allocation.pool = pool = gpu.small if block <= _SMALL else gpu.large
    _followed[address] = allocation
    whole.blocks += block
    whole.requested += size
    whole.number += 1
    pool.blocks += block
    pool.requested += size
    pool.number += 1


def _freed(allocation: Any) -> None:
    """Its counts are those of its own simulation, which may have ended."""
    _followed.pop(allocation.address, None)
    block, size = allocation.block, allocation.size
    for count in (allocation.whole, allocation.pool):
        if count.blocks > count.blocks_peak or count.number > count.number_peak:
            count.note_peak()
        elif count.requested > count.requested_peak:
            count.requested_peak = count.requested
        count.blocks -= block
        count.requested -= size
        count.number -= 1


def _checked(index: int) -> int:
    if not 0 <= index < devices.count():
        # CUDACachingAllocator.cpp, assertValidDevice; an index is an int8, hence printed as a character.
        raise RuntimeError(f"Invalid device argument {chr(max(index, 0))}: did you call init?".partition("\0")[0])
    return index


def _reset_peak(index: int) -> None:
    gpu = _gpu(_checked(index))
    for count in (gpu.all, gpu.small, gpu.large):
        count.reset_peak()


def _nothing(index: int) -> None:
    """The sum of all allocations is not counted."""
    _checked(index)


def _free(index: int) -> tuple[int, int]:
    """Bytes that are free, and all (cudaMemGetInfo)."""
    return max(0, MEMORY - _gpu(devices.gpu(index).index).all.blocks), MEMORY


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """memory_stats as lines of text."""
    return "\n".join(f"{name:40} {count:>16}" for name, count in torch.cuda.memory_stats(device).items())


def _set_fraction(fraction: float, index: int) -> None:
    """It is kept and read back; as memory never runs out here, it limits nothing."""
    _fractions[_checked(index)] = fraction


def _refused(what: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"samedevice simulates no allocator, so {what}: ask torch.cuda.memory_allocated()")

    return refuse


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    here = sys.modules[__name__]
    yield tensor, "count", made
    for name in ("_followed", "_gpus", "_fractions"):
        yield here, name, {}
    for owner in (torch.cuda, torch.cuda.memory):
        yield owner, "memory_summary", memory_summary
    in_c = {
        "_cuda_memoryStats": stats, "_accelerator_getDeviceStats": stats,
        "_cuda_resetPeakMemoryStats": _reset_peak, "_accelerator_resetPeakStats": _reset_peak,
        "_cuda_resetAccumulatedMemoryStats": _nothing, "_accelerator_resetAccumulatedStats": _nothing,
        "_cuda_hostMemoryStats": dict, "_cuda_resetPeakHostMemoryStats": lambda: None,
        "_cuda_resetAccumulatedHostMemoryStats": lambda: None,
        "_accelerator_getMemoryInfo": _free, "_accelerator_isAllocatorInitialized": devices.used,
        "_cuda_setMemoryFraction": _set_fraction, "_cuda_getMemoryFraction": lambda index: _fractions.get(index, 1.0),
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_cudaCachingAllocator_is_enabled": lambda: True,
    }  # fmt: skip
    for name, function in in_c.items():
        yield torch._C, name, function
    for name, what in (
        ("_cuda_memorySnapshot", "there is no snapshot of its blocks"),
        ("_cuda_record_memory_history", "it has no history to record"),
        ("_cuda_record_memory_history_legacy", "it has no history to record"),
        ("_cuda_cudaCachingAllocator_raw_alloc", "there is no memory outside tensors"),
        ("_cuda_cudaCachingAllocator_enable", "it cannot be switched"),
        ("_cuda_changeCurrentAllocator", "it cannot be exchanged"),
        ("_cuda_customAllocator", "it cannot be exchanged"),
    ):
        yield torch._C, name, _refused(what)
