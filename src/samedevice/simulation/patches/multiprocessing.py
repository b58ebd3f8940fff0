"""Other processes: spawned ones are simulated as their parent is, and tensors on a GPU travel between them.

A process that is forked inherits the simulation, and CUDA's refusal where its parent had used a GPU (devices.py). One
that is spawned, or forked by a fork server, begins with a fresh torch: the simulation is named in what multiprocessing
sends ahead of the process's own work, so that it runs before the main module is imported, and until the process ends.
Processes started otherwise (subprocess, a launcher of a library's own) are not simulated.

Where CUDA hands a tensor to another process by an IPC handle, here a piece of shared memory goes in its place. All
above that is torch.multiprocessing's own code (torch/multiprocessing/reductions.py). As with CUDA, both sides see what
the other writes.
"""

import multiprocessing.reduction
import multiprocessing.spawn
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing import get_sharing_strategy, reductions

from samedevice.gpu_types import UNNAMED
from samedevice.simulation import state
from samedevice.simulation.device import devices
from samedevice.simulation.tensor import classes
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_get_preparation_data = multiprocessing.spawn.get_preparation_data

_BEGIN = (
    "import sys; sys.path.append({root!r}); import samedevice; "
    "samedevice.simulate_cuda(devices={devices}, rng={rng!r}).start()"
)


def replacements() -> Iterator[tuple[object, str, object]]:
    yield multiprocessing.spawn, "get_preparation_data", get_preparation_data
    yield multiprocessing.reduction.ForkingPickler, "reducer_override", reducer_override
    yield torch.UntypedStorage, "_share_cuda_", share_cuda
    yield torch.UntypedStorage, "_new_shared_cuda", classmethod(new_shared_cuda)
    yield torch.UntypedStorage, "_release_ipc_counter_cuda", classmethod(release_ipc_counter)


_get = torch.Tensor.__getitem__


def _get_in_forked_child(self: torch.Tensor, index: Any) -> Any:
    """csrc/autograd/python_variable_indexing.cpp, THPVariable_getitem: its device guard asks the driver.

    Views by name, such as select(), have no guard, so a child may look at what it was born with.
    """
    devices.refuse_absent(devices.device_of(self))
    return _get(self, index)


def _after_fork() -> None:
    if devices.in_forked_child() and state.now.session is not None:
        state.now.session.replace(iter([(torch.Tensor, "__getitem__", _get_in_forked_child)]))


if hasattr(os, "register_at_fork"):  # after that of devices.py, which is imported first
    os.register_at_fork(after_in_child=_after_fork)


class _Beginning:
    """Begins a simulation where it is unpickled. As text, since it is read before the child's sys.path is set."""

    def __reduce__(self) -> Any:
        root = str(Path(__file__).parents[3])
        rng = "cpu" if state.now.from_cpu else "cuda"
        return exec, (_BEGIN.format(root=root, devices=_named_devices(), rng=rng),)


def _named_devices() -> int | list[str]:
    """What the simulation was started with."""
    types = state.now.models
    return len(types) if UNNAMED in types else [kind.name for kind in types]


def get_preparation_data(name: str) -> dict[str, Any]:
    """multiprocessing.spawn.get_preparation_data: what a new process reads first."""
    data: dict[str, Any] = _get_preparation_data(name)
    return {"samedevice": _Beginning(), **data}


def reducer_override(pickler: Any, item: Any) -> Any:
    """A tensor on a GPU goes to another process as torch.multiprocessing sends one, under its class's own name."""
    if not isinstance(item, SimulatedTensor):
        return NotImplemented
    rebuild, (kind, *rest) = reductions.reduce_tensor(item)
    return rebuild, (classes.original_of(kind), *rest)


class _Handle:
    """Stands for a cudaIpcMemHandle_t: shared memory, which whoever unpickles this can open once."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        if get_sharing_strategy() == "file_system":
            self.name = storage._share_filename_cpu_()
            self.key: Any = self.name[1]
            storage._shared_incref()
        else:
            descriptor, self.size = storage._share_fd_cpu_()
            self.file = multiprocessing.reduction.DupFd(descriptor)
            self.key = reductions.fd_id(descriptor)

    def open(self) -> torch.UntypedStorage:
        if hasattr(self, "name"):
            return torch.UntypedStorage._new_shared_filename_cpu(*self.name)._shared_decref()
        descriptor = self.file.detach()
        try:
            return torch.UntypedStorage._new_shared_fd_cpu(descriptor, self.size)
        finally:
            os.close(descriptor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Handle) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


def share_cuda(self: torch.UntypedStorage) -> tuple[Any, ...]:
    """torch/csrc/StorageSharing.cpp, THPStorage_shareCuda."""
    devices.use()
    if hasattr(self, "_samedevice_received"):
        raise RuntimeError(
            "Attempted to send CUDA tensor received from another process; this is not currently supported. "
            "Consider cloning before sending."
        )
    handle = _Handle(self) if self.nbytes() else None
    return self.device.index, handle, self.nbytes(), 0, handle, 0, b"", False


def new_shared_cuda(cls: type, device: int, handle: _Handle, *rest: Any) -> torch.UntypedStorage:
    """torch/csrc/StorageSharing.cpp, THPStorage_newSharedCuda."""
    home = devices.gpu(device)
    storage = handle.open()
    storage._samedevice_device, storage._samedevice_received = home, True
    return storage


def release_ipc_counter(cls: type, handle: _Handle, *rest: Any) -> None:
    """The same memory came a second time: it is open here already."""
    handle.open()
