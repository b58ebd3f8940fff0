"""What PyTorch says when a GPU has no memory left: c10/cuda/CUDACachingAllocator.cpp, malloc, of torch 2.11 to 2.14."""

import torch

from samedevice.simulation import state
from samedevice.simulation.device.caching_allocator import Allocator, NoMemoryError

_ADVICE = (
    "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid "
    "fragmentation.  See documentation for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html"
    "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
)
_EXABYTE = 2**60


def refuse_exabytes(size: int) -> None:
    """NativeCachingAllocator::allocate, which looks at nothing else before."""
    if size >= _EXABYTE:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate more than 1EB memory.")


def error(gpu: Allocator, full: NoMemoryError) -> torch.OutOfMemoryError:
    """Tell the observers that a GPU has no memory for this, and return what is raised."""
    reserved, allocated = gpu.all.reserved_bytes.current, gpu.all.allocated_bytes.current
    free = gpu.total - reserved
    for observe in state.now.memory_observers:
        observe(gpu.index, full.size, gpu.total if gpu.allowed is None else gpu.allowed, free)
    allowed = "" if gpu.allowed is None else f"{in_words(gpu.allowed)} allowed; "
    # "Including non-PyTorch memory" is NVML's number. Here a process has no other memory on the GPU.
    return torch.OutOfMemoryError(
        f"CUDA out of memory. Tried to allocate {in_words(full.size)}. GPU {gpu.index} has a total capacity of "
        f"{in_words(gpu.total)} of which {in_words(free)} is free. Including non-PyTorch memory, this process has "
        f"{in_words(reserved)} memory in use. {allowed}Of the allocated memory {in_words(allocated)} is allocated by "
        f"PyTorch, and {in_words(reserved - allocated)} is reserved by PyTorch but unallocated. {_ADVICE}"
    )


def in_words(size: int) -> str:
    """A number of bytes as the allocator writes it (format_size)."""
    if size <= 2**10:
        return f"{size} bytes"
    for unit, name in ((2**10, "KiB"), (2**20, "MiB")):
        if size <= unit * 2**10:
            return f"{size / unit:.2f} {name}"
    return f"{size / 2**30:.2f} GiB"
