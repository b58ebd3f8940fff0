"""How much memory the tensors on a simulated GPU hold.

Counted when asked, over the tensors that Python can reach, in blocks of 512 bytes as CUDA's caching allocator hands
them out. The maximum is the most that was seen when asked: counting every allocation would slow every operator.
"""

import gc
from typing import Any

import torch

from samedevice.simulation.devices import current, resolve
from samedevice.simulation.tensor import SimulatedTensor

_BLOCK = 512  # bytes, c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize
_most: dict[torch.device, int] = {}


def _here(device: Any) -> torch.device:
    return resolve(current() if device is None else device)


def memory_allocated(device: Any = None) -> int:
    """Bytes held by the tensors on `device`."""
    here = _here(device)
    storages = {
        tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes()
        for tensor in gc.get_objects()
        if type(tensor) is SimulatedTensor and tensor._samedevice_device == here
    }
    held = sum(-(-size // _BLOCK) * _BLOCK for size in storages.values())
    _most[here] = max(held, _most.get(here, 0))
    return held


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that memory_allocated saw on `device` since the last reset, this call included."""
    memory_allocated(device)
    return _most[_here(device)]


def memory_stats(device: Any = None) -> dict[str, int]:
    """Those of torch.cuda.memory_stats that are counted here."""
    return {
        f"{pool}.all.{when}": bytes_
        for when, bytes_ in (("current", memory_allocated(device)), ("peak", max_memory_allocated(device)))
        for pool in ("allocated_bytes", "reserved_bytes")
    }


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """memory_stats as lines of text."""
    return "\n".join(f"{name:30} {count:>14} bytes" for name, count in memory_stats(device).items())


def reset_peak_memory_stats(device: Any = None) -> None:
    """Forget the maximum."""
    _most.pop(_here(device), None)
