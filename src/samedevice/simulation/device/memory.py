"""How much memory the tensors on a simulated GPU hold, and what CUDA's allocator would keep in reserve for them.

Each storage is followed from its making to its end. What happens to it is only written down, in a journal; that is
read, and caching_allocator.py told, when a program asks for a number or when it grows long. So following costs an
operator little, and an end that Python's garbage collector brings about, at any moment, disturbs nothing. Who allocated
what is not kept.

Memory runs out as it does on CUDA. While a GPU has room for certain, nothing is looked at: each storage only takes its
size from that room. When the room is used up, the journal is read, and the last storage is refused if there is no block
for it. What is known to be large is refused earlier, before the CPU makes its values (`expect`).
"""

import threading
import weakref
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device import devices, machine, out_of_memory
from samedevice.simulation.device.caching_allocator import Allocator, Block, NoMemoryError

# What each storage takes from the room beside its size, and the most room there is: after 2**15 storages, each of which
# is in the journal twice, the journal is read, which is a tenth of a second's work.
_EACH = 2**18
_MOST_ROOM = _EACH * 2**15
_FIRST_ROOM = 2**28  # until the machine is asked what it has
_BIG = 2**28  # bytes from which on a storage has to fit into this machine
_LEAST = 2**27  # bytes that are left to the machine
# Two tensors of this size at most have no product of more than 2 GiB: see tensor/large_results.py.
_SMALL = 46340


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
    if size > _SMALL:
        now.checked_growth = 1
    elif not size:
        return
    allocation = Allocation(storage, _freed)
    allocation.address, allocation.size = address, size
    allocation.gpu = gpu = now.allocators.get(index) or _allocator(index)
    now.followed[address] = allocation
    now.memory_journal.append(allocation)
    gpu.room -= size + _EACH
    if gpu.room < 0:
        _settle(allocation)


def met_large(tensor: torch.Tensor) -> None:
    """Note a view that has more elements than its memory."""
    if tensor.numel() * tensor.itemsize > _SMALL:
        state.now.checked_growth = 1


def expect(size: int, index: int) -> None:
    """Refuse memory that a GPU does not have, or the machine, before the CPU makes values for it.

    Raises:
        torch.OutOfMemoryError: the GPU has no memory for this many bytes.
        MemoryError: this machine has not.
    """
    gpu = state.now.allocators.get(index) or _allocator(index)
    if size < _BIG and size + _EACH < gpu.room:
        return
    out_of_memory.refuse_exabytes(size)
    with _reading:
        _read(None)
        full = _refused(gpu, size)
    if full is not None:
        raise out_of_memory.error(gpu, full)
    if size >= _BIG:
        left = machine.available()
        if left is not None and size > left - _LEAST:
            machine.refuse(size, index, left)


def _refused(gpu: Allocator, size: int) -> NoMemoryError | None:
    """Why there is no block of this size; None where there is one."""
    if gpu.fits(size):
        return None
    try:
        gpu.free(gpu.allocate(size))
    except NoMemoryError as full:
        return full
    return None


def _settle(last: Allocation) -> None:
    """Read the journal up to this storage, refuse it if it does not fit, and measure the room anew."""
    gpu = last.gpu
    try:
        with _reading:
            _read(last)
            room = gpu.certain
    except NoMemoryError as full:
        state.now.followed.pop(last.address, None)
        raise out_of_memory.error(gpu, full) from None
    if room > _FIRST_ROOM:  # the machine's memory may be less
        left = machine.available()
        if left is not None:
            if left < _LEAST:
                machine.refuse(last.size, gpu.index, left)
            room = min(room, (left - _LEAST) // 2 + _EACH)
    gpu.room = min(room, _MOST_ROOM)


def resized(storage: torch.UntypedStorage, index: int) -> None:
    """Note that a storage on a GPU may have another size now: its bytes are then in another block.

    CUDA takes the new block before it gives back the old one (aten/src/ATen/native/cuda/Resize.cpp).
    """
    now, address = state.now, storage._cdata
    before = now.followed.get(address)
    if before is None or before.size != storage.nbytes():
        now.followed.pop(address, None)
        try:
            made(storage, index)
        except BaseException:
            if before is not None:
                now.followed[address] = before  # it keeps its block
            raise
        if before is not None:
            now.memory_journal.append(before)


def _allocator(index: int) -> Allocator:
    allocators = state.now.allocators
    if index not in allocators:
        gpu = Allocator(index, devices.type_of(index).memory)
        gpu.room = min(gpu.certain, _FIRST_ROOM)
        return allocators.setdefault(index, gpu)
    return allocators[index]


def set_allowed(gpu: Allocator, allowed: int | None) -> None:
    """Let a GPU reserve no more than this many bytes; None for as many as it has."""
    gpu.allowed = allowed
    gpu.room = min(gpu.room, gpu.certain)


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
        _read(None)


def _read(last: Allocation | None) -> None:
    """Do what `read` does. Of what is told, only the last storage may be refused: all others are there."""
    journal = state.now.memory_journal
    while journal:
        allocation = journal.popleft()
        if hasattr(allocation, "block"):
            allocation.gpu.free(allocation.block)
        else:
            allocation.block = allocation.gpu.allocate(allocation.size, checked=allocation is last)


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
