"""How much memory the tensors on a simulated GPU hold.

Counted in blocks of 512 bytes, as CUDA's caching allocator hands them out; it keeps nothing in reserve here. Memory
never runs out, and who allocated what is not kept.

Counting costs time at every operator, so it begins with the first question about memory, a reset of the maximum
included: what is held then is found among the objects that Python knows, and from then on each storage is followed from
its making to its end. So the maximum is that since the first question.
"""

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from samedevice.simulation import classes, devices, sparse, tensor
from samedevice.simulation.properties import MEMORY

_BLOCK = 512  # bytes, c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize
_SMALL = 2**20  # bytes, kSmallSize: what is larger comes from the large pool
_POOLS = ("all", "small_pool", "large_pool")
_IN_BLOCKS = ("allocated_bytes", "active_bytes", "reserved_bytes")
_IN_NUMBER = ("allocation", "active")
_COUNTED = (*_IN_BLOCKS, "requested_bytes", *_IN_NUMBER)
_Count = dict[tuple[str, str], int]

_storage = torch.Tensor.untyped_storage
_followed: dict[int, Any] = {}  # by the address of the storage, so that it is counted once
_held: dict[int, _Count] = {}
_most: dict[int, _Count] = {}
_fractions: dict[int, float] = {}


def stats(index: int) -> dict[str, Any]:
    """torch._C._cuda_memoryStats: of PyTorch's numbers those that are counted here."""
    now, most = _now(_checked(index)), _most[index]
    return {
        **dict.fromkeys(("num_alloc_retries", "num_ooms", "num_sync_all_streams"), 0),
        **{
            name: {pool: {"current": now[name, pool], "peak": most[name, pool]} for pool in _POOLS} for name in _COUNTED
        },
    }


def _now(index: int) -> _Count:
    """What is held on this GPU; the first call begins to count."""
    if tensor.watch is not _follow:
        for gpu in devices.gpus():
            _held[gpu.index], _most[gpu.index] = (
                {(name, pool): 0 for name in _COUNTED for pool in _POOLS} for _ in range(2)
            )
        kinds = set(classes.twins())
        for marked in [x for x in gc.get_referrers(*kinds) if type(x) in kinds]:  # an object refers to its class
            _follow(marked)
        tensor.watch = _follow
    return _held[index]


def _follow(marked: Any) -> None:
    """Count the storage of a tensor, if it is new, until it is freed."""
    if marked.layout is not torch.strided:
        for member in sparse.members(marked):
            _follow(member)
        return
    _follow_storage(_storage(marked), marked._samedevice_device.index)


def made(storage: torch.UntypedStorage) -> None:
    """Count a storage that is made without a tensor, as torch.load makes them."""
    if tensor.watch is _follow:
        _follow_storage(storage, storage._samedevice_device.index)


def _follow_storage(storage: torch.UntypedStorage, index: int) -> None:
    address = storage._cdata
    if address in _followed or index not in _held:
        return
    changes = _changes(storage.nbytes())
    held, most = _held[index], _most[index]

    def freed(_: Any) -> None:
        _followed.pop(address, None)
        for key, amount in changes.items():
            held[key] -= amount

    _followed[address] = weakref.ref(storage, freed)
    for key, amount in changes.items():
        held[key] += amount
        most[key] = max(most[key], held[key])


def _changes(size: int) -> _Count:
    """What a storage of so many bytes adds to each count."""
    block = -(-size // _BLOCK) * _BLOCK
    amounts = dict.fromkeys(_IN_BLOCKS, block) | {"requested_bytes": size} | dict.fromkeys(_IN_NUMBER, 1)
    pools = ("all", "small_pool" if block <= _SMALL else "large_pool") if size else ()
    return {(name, pool): amount for name, amount in amounts.items() for pool in pools}


def _checked(index: int) -> int:
    if not 0 <= index < devices.count():
        # CUDACachingAllocator.cpp, assertValidDevice; an index is an int8, hence printed as a character.
        raise RuntimeError(f"Invalid device argument {chr(max(index, 0))}: did you call init?".partition("\0")[0])
    return index


def _reset_peak(index: int) -> None:
    now = _now(_checked(index))
    _most[index].update(now)


def _nothing(index: int) -> None:
    """The sum of all allocations is not counted."""
    _checked(index)


def _free(index: int) -> tuple[int, int]:
    """Bytes that are free, and all (cudaMemGetInfo)."""
    held = _now(devices.gpu(index).index)["allocated_bytes", "all"]
    return max(0, MEMORY - held), MEMORY


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
    yield tensor, "watch", None  # a simulation begins uncounted
    for name in ("_followed", "_held", "_most", "_fractions"):
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
