"""Pinned memory: which tensors are in it, and how much of it there is.

CUDA's allocator of pinned memory hands out blocks whose size is a power of two, and keeps those that are freed for the
next one of that size (aten/src/ATen/core/CachingHostAllocator.h). What it answers is torch.cuda.host_memory_stats().
"""

import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device.caching_allocator import Count

# The memory that is pinned, by its address: any tensor in it is, as the driver is asked (cuda/PinnedMemoryAllocator).
_pinned: "weakref.WeakValueDictionary[int, torch.UntypedStorage]" = weakref.WeakValueDictionary()
_COUNTED = ("allocations", "active_requests", "allocated_bytes", "active_bytes")


def pin(tensor: torch.Tensor) -> None:
    """Let a tensor on the CPU be in pinned memory."""
    pin_storage(tensor.untyped_storage())


def pin_storage(storage: torch.UntypedStorage) -> None:
    """Let the memory of a storage on the CPU be pinned."""
    if not storage.nbytes() or storage.data_ptr() in _pinned:
        return
    _pinned[storage.data_ptr()] = storage
    size = 1 << (storage.nbytes() - 1).bit_length()
    waiting = state.now.pinned_waiting
    if waiting[size]:
        waiting[size] -= 1
    else:
        _count("allocations").allocated += 1
        _count("allocated_bytes").allocated += size
    _count("active_requests").allocated += 1
    _count("active_bytes").allocated += size
    weakref.finalize(storage, _unpin, size, state.now.pinned_counts, waiting).atexit = False


def _unpin(size: int, counts: dict[str, Count], waiting: Counter[int]) -> None:
    """The counts are those of the block's own simulation, which may have ended."""
    waiting[size] += 1
    counts["active_requests"].take(1)
    counts["active_bytes"].take(size)


def holds(tensor: torch.Tensor) -> bool:
    """Whether a tensor on the CPU is in pinned memory."""
    if not _pinned:
        return False
    address = tensor.untyped_storage().data_ptr()
    return any(start <= address < start + storage.nbytes() for start, storage in list(_pinned.items()))


def _count(name: str) -> Count:
    return state.now.pinned_counts.setdefault(name, Count())


def _stats() -> dict[str, Any]:
    """torch._C._cuda_hostMemoryStats. Nothing takes time here."""
    no_time = dict.fromkeys(("total", "max", "min", "count", "avg"), 0)
    return {
        "num_host_alloc": _count("allocations").allocated,
        "num_host_free": _count("allocations").freed,
        **{name: _count(name).read() for name in _COUNTED},
        "host_alloc_time": no_time,
        "host_free_time": no_time,
    }


def _reset_peak() -> None:
    for count in state.now.pinned_counts.values():
        count.reset_peak()


def _reset_accumulated() -> None:
    for count in state.now.pinned_counts.values():
        count.reset_accumulated()


def _empty_cache() -> None:
    """Give back the blocks that wait."""
    for size, number in state.now.pinned_waiting.items():
        _count("allocations").take(number)
        _count("allocated_bytes").take(size * number)
    state.now.pinned_waiting.clear()


def replacements() -> Iterator[tuple[object, str, object]]:
    for name, function in (
        ("_cuda_hostMemoryStats", _stats),
        ("_cuda_resetPeakHostMemoryStats", _reset_peak),
        ("_cuda_resetAccumulatedHostMemoryStats", _reset_accumulated),
        ("_accelerator_emptyHostCache", _empty_cache),
        ("_host_emptyCache", _empty_cache),
    ):
        yield torch._C, name, function
