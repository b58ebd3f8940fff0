"""How much memory the tensors on a simulated GPU hold, and what CUDA's allocator would keep in reserve for them.

Each storage is followed from its making to its end. What happens to it is only written down, in a journal; that is
read, and caching_allocator.py told, when a program asks for a number or when it grows long. So following costs an
operator little, and an end that Python's garbage collector brings about, at any moment, disturbs nothing. Memory never
runs out here, and who allocated what is not kept.
"""

import threading
import weakref
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device import devices
from samedevice.simulation.device.caching_allocator import Allocator, Block

_LONG = 2**16  # entries of the journal, after which it is read: a tenth of a second's work


class Allocation(weakref.ref[torch.UntypedStorage]):
    """One storage that is followed until it is freed."""

    __slots__ = ("address", "block", "gpu", "size")
    address: int
    block: Block
    gpu: Allocator
    size: int


_reading = threading.Lock()


def made(storage: torch.UntypedStorage, index: int) -> None:
    """Note a storage on the GPU of this index, if it is new, until it is freed."""
    now, address = state.now, storage._cdata
    if address in now.followed:
        return
    size = storage.nbytes()
    if not size:
        return
    allocation = Allocation(storage, _freed)
    allocation.address, allocation.size = address, size
    allocation.gpu = now.allocators.get(index) or _allocator(index)
    now.followed[address] = allocation
    journal = now.memory_journal
    journal.append(allocation)
    if len(journal) > _LONG:
        read()


def resized(storage: torch.UntypedStorage, index: int) -> None:
    """Note that a storage on a GPU may have another size now: its bytes are then in another block.

    CUDA takes the new block before it gives back the old one (aten/src/ATen/native/cuda/Resize.cpp).
    """
    now, address = state.now, storage._cdata
    before = now.followed.get(address)
    if before is None or before.size != storage.nbytes():
        now.followed.pop(address, None)
        made(storage, index)
        if before is not None:
            now.memory_journal.append(before)


def _allocator(index: int) -> Allocator:
    allocators = state.now.allocators
    return allocators[index] if index in allocators else allocators.setdefault(index, Allocator())


def _freed(allocation: Any) -> None:
    """Note the end of a storage, unless it was resized since, or its simulation has ended."""
    now, address = state.now, allocation.address
    followed = now.followed.get(address)
    if followed is not None and followed is allocation:
        del now.followed[address]
        now.memory_journal.append(followed)


def at(address: int) -> tuple[torch.UntypedStorage, int]:
    """The storage on a GPU that has this address, and the GPU's index."""
    now = state.now
    for allocation in list(now.followed.values()):
        storage = allocation()
        if storage is not None and storage.data_ptr() <= address < storage.data_ptr() + storage.nbytes():
            return storage, next(index for index, gpu in now.allocators.items() if gpu is allocation.gpu)
    # aten/src/ATen/cuda/CUDADevice.h, getDeviceFromPtr
    raise RuntimeError("The specified pointer resides on host memory and is not registered with any CUDA device.")


def read() -> None:
    """Tell the allocators what happened since, in its order."""
    with _reading:
        journal = state.now.memory_journal
        while journal:
            allocation = journal.popleft()
            if hasattr(allocation, "block"):
                allocation.gpu.free(allocation.block)
            else:
                allocation.block = allocation.gpu.allocate(allocation.size)


def allocator_of(index: int) -> Allocator:
    """The allocator of this GPU, which knows all that has happened."""
    if not 0 <= devices.fits(index) < devices.count():
        # CUDACachingAllocator.cpp, assertValidDevice; an index is an int8, hence printed as a character. That of a
        # negative one is not UTF-8, which Python then says of the text.
        character = bytes([index % 256])
        text = b"Invalid device argument " + character + b": did you call init?"
        raise RuntimeError(text.partition(b"\0")[0].decode())
    read()
    return _allocator(index)
