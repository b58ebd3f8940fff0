"""torch.cuda.nccl: what NCCL does between the GPUs of one process.

The functions stand in for those of torch/csrc/cuda/python_nccl.cpp, so that PyTorch's Python reads the arguments.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import torch

_VERSION = 2, 29, 7  # that PyTorch's wheels for CUDA bring
_REDUCE: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (  # nccl.h, ncclRedOp_t: sum, product, most, least
    lambda stacked: stacked.sum(0),
    lambda stacked: stacked.prod(0),
    lambda stacked: stacked.amax(0),
    lambda stacked: stacked.amin(0),
)


def replacements() -> Iterator[tuple[object, str, object]]:
    major, minor, patch = _VERSION
    for name, function in (
        ("version", lambda: major << 32 | minor << 16 | patch),
        ("version_suffix", lambda: b""),
        ("unique_id", lambda: secrets.token_bytes(128)),
        ("init_rank", _refuse),
        ("all_reduce", all_reduce),
        ("reduce", reduce),
        ("broadcast", broadcast),
        ("all_gather", all_gather),
        ("reduce_scatter", reduce_scatter),
    ):
        yield torch._C, f"_nccl_{name}", function


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        "samedevice does not simulate communicators of torch.cuda.nccl: between processes use torch.distributed"
    )


def _check(tensors: Sequence[torch.Tensor]) -> None:
    """torch/csrc/cuda/nccl.cpp, check_inputs."""
    if not tensors:
        raise RuntimeError("input sequence can't be empty")
    for tensor in tensors:
        if not tensor.is_cuda or tensor.is_sparse:
            raise RuntimeError("input and output elements have to be cuda dense Tensors")
    if len({tensor.device for tensor in tensors}) < len(tensors):
        raise RuntimeError("inputs must be on unique devices")


def _reduced(tensors: Sequence[torch.Tensor], op: int) -> torch.Tensor:
    return _REDUCE[op](torch.stack([tensor.detach().cpu() for tensor in tensors]))


def all_reduce(inputs: Any, outputs: Any, op: int, streams: Any, comms: Any) -> None:
    _check(inputs)
    total = _reduced(inputs, op)
    with torch.no_grad():
        for output in outputs:
            output.copy_(total)


def reduce(inputs: Any, output: torch.Tensor, root: int, op: int, streams: Any, comms: Any) -> None:
    _check(inputs)
    with torch.no_grad():
        output.copy_(_reduced(inputs, op))


def broadcast(inputs: Any, root: int, streams: Any, comms: Any) -> None:
    _check(inputs)
    with torch.no_grad():
        for tensor in inputs:
            tensor.copy_(inputs[root])


def all_gather(inputs: Any, outputs: Any, streams: Any, comms: Any) -> None:
    _check(inputs)
    together = torch.cat([tensor.detach().cpu().flatten() for tensor in inputs])
    with torch.no_grad():
        for output in outputs:
            output.copy_(together.view_as(output))


def reduce_scatter(inputs: Any, outputs: Any, op: int, streams: Any, comms: Any) -> None:
    _check(inputs)
    parts = _reduced(inputs, op).flatten().chunk(len(outputs))
    with torch.no_grad():
        for output, part in zip(outputs, parts, strict=True):
            output.copy_(part.view_as(output))
