"""Scatter, gather and broadcast between simulated GPUs: what torch's own DataParallel stands on.

The C++ functions of torch/csrc/cuda/comm.cpp, which a CPU build lacks, by moves of tensors.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.parallel import _functions, comm

from samedevice.simulation.devices import CPU, resolve
from samedevice.simulation.moves import move


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    for function in (broadcast, broadcast_coalesced, scatter, gather):
        yield comm, function.__name__, function
    yield _functions, "_streams", None  # made once for each GPU, and kept: a simulation has its own
    yield torch.cuda.nccl, "is_available", lambda tensors: False


def broadcast(tensor: Any, devices: Any = None, *, out: Any = None) -> tuple[torch.Tensor, ...]:
    if (devices is None) == (out is None):
        raise RuntimeError(
            f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}"
        )
    if out is not None:
        return tuple(target.copy_(tensor) for target in out)
    return tuple(move(tensor, resolve(device)) for device in devices)


def broadcast_coalesced(tensors: Any, devices: Any, buffer_size: int = 10485760) -> list[list[torch.Tensor]]:
    # On the root, CUDA hands out views of the tensors themselves; elsewhere copies.
    return [[move(tensor, resolve(device)).view_as(tensor) for tensor in tensors] for device in devices]


def scatter(
    tensor: Any, devices: Any = None, chunk_sizes: Any = None, dim: int = 0, streams: Any = None, *, out: Any = None
) -> tuple[torch.Tensor, ...]:
    if out is not None:
        sizes = [target.size(dim) for target in out]
        return tuple(target.copy_(chunk) for target, chunk in zip(out, tensor.split(sizes, dim), strict=True))
    chunks = tensor.split(list(chunk_sizes), dim) if chunk_sizes else tensor.chunk(len(devices), dim)
    return tuple(move(chunk, resolve(device)) for chunk, device in zip(chunks, devices, strict=False))


def gather(tensors: Any, dim: int = 0, destination: Any = None, *, out: Any = None) -> torch.Tensor:
    if out is not None:
        return out.copy_(torch.cat([move(tensor, out.device) for tensor in tensors], dim))
    expected = list(tensors[0].shape)
    for index, tensor in enumerate(tensors):  # torch/csrc/cuda/comm.cpp, gather
        expected[dim] = tensor.size(dim)
        if list(tensor.shape) != expected:
            raise RuntimeError(
                f"Input tensor at index {index} has invalid shape {list(tensor.shape)}, but expected {expected}"
            )
    target = CPU if destination in ("cpu", CPU, -1) else resolve("cuda" if destination is None else destination)
    return torch.cat([move(tensor, target) for tensor in tensors], dim)
