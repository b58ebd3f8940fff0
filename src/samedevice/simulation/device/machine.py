"""How much memory this machine has left: the values of simulated GPUs are in it.

A machine without memory swaps for minutes, or the system ends the process. So a large tensor that does not fit is
refused in one sentence. That is no error of CUDA's, so it is a MemoryError, which no program takes for a full GPU.
"""

import os
import re
import sys
from pathlib import Path
from typing import NoReturn

import torch

from samedevice.simulation.device.out_of_memory import in_words

_CGROUP = Path("/sys/fs/cgroup")
# c10/core/impl/alloc_cpu.cpp
_FULL = re.compile(r"DefaultCPUAllocator: (?:can't allocate|not enough) memory: you tried to allocate (\d+) bytes")


def available() -> int | None:
    """Bytes that can be used without swapping; None where this system does not tell."""
    if sys.platform.startswith("linux"):
        known = [size for size in (_of_linux(), _of_container()) if size is not None]
        return min(known) if known else None
    if sys.platform == "darwin":  # how much of it is free is not told in a file: one tensor cannot be larger than all
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None  # Windows promises no memory that it does not have, so PyTorch's own allocator refuses


def refuse(size: int, index: int, left: int | None) -> NoReturn:
    """Say that the values of a tensor on this GPU do not fit into the machine."""
    has = "" if left is None else f", of which {in_words(max(left, 0))} is available"
    raise MemoryError(
        f"samedevice keeps the values of simulated GPUs in this machine's memory{has}, too little for {in_words(size)} "
        f"more on cuda:{index}: compute with less, or let the GPU run out first, by "
        "torch.cuda.set_per_process_memory_fraction"
    )


def refuse_if_full(error: RuntimeError, device: torch.device | None) -> None:
    """Say so if PyTorch found no memory on the CPU for the values of a tensor on this GPU."""
    full = _FULL.search(str(error))
    if full and device is not None:
        refuse(int(full[1]), device.index, available())


def _of_linux() -> int | None:
    """https://docs.kernel.org/filesystems/proc.html, MemAvailable."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 2**10
    except (OSError, ValueError, IndexError):
        pass
    return None


def _of_container() -> int | None:
    """What the limit of a container leaves, with the files that it can forget (docs.kernel.org, cgroup-v2)."""
    try:
        most = (_CGROUP / "memory.max").read_text().strip()
        if most == "max":
            return None
        kept = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        files = int(kept["active_file"]) + int(kept["inactive_file"])
        return int(most) - int((_CGROUP / "memory.current").read_text()) + files
    except (OSError, ValueError, KeyError):
        return None
