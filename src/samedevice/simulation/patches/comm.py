"""Broadcast, scatter and gather between simulated GPUs: what torch.cuda.comm and torch's own DataParallel stand on.

The functions of torch/csrc/cuda/comm.cpp, which a CPU build lacks, with their checks and texts. All above them
(torch.nn.parallel) is PyTorch's own code. Copies between GPUs carry no gradient, as NCCL's do not.
"""

import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch._prims_common import canonicalize_dim, suggest_memory_format
from torch.nn.parallel import _functions

from samedevice.simulation.device import devices as gpus
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.tensor.moving import move


def replacements() -> Iterator[tuple[object, str, object]]:
    for function in (broadcast, broadcast_out, broadcast_coalesced, scatter, scatter_out, gather, gather_out):
        yield torch._C, f"_{function.__name__}", function
    yield _functions, "_streams", None  # made once for each GPU, and kept: a simulation has its own
    yield torch._utils.ExceptionWrapper, "__init__", _outside_of_us(torch._utils.ExceptionWrapper.__init__)


def broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> list[torch.Tensor]:
    """comm.cpp, broadcast: where the tensor is already, itself."""
    targets = [_gpu(index) for index in devices]
    # Dense tensors of a GPU go by NCCL, which has no gradients; all others by Tensor.to.
    by_nccl = device_of(tensor) is not CPU and tensor.layout is torch.strided
    with torch.set_grad_enabled(torch.is_grad_enabled() and not by_nccl):
        return [tensor if device_of(tensor) == target else _copied(tensor, target) for target in targets]


def _copied(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """A contiguous copy; of a sparse tensor, one whose members are."""
    copy = move(tensor, device)
    return copy.contiguous() if copy.layout is torch.strided else copy


def broadcast_out(tensor: torch.Tensor, out_tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """comm.cpp, broadcast_out."""
    for index, out in enumerate(out_tensors):
        _check_on_gpu("output tensors", "output tensor", index, out, quoted=True)
        if out.shape != tensor.shape:
            raise RuntimeError(
                f"Expected all output tensors to have same shape as the source tensor {list(tensor.shape)}, "
                f"but output tensor at index {index} has shape {list(out.shape)}"
            )
    with torch.set_grad_enabled(torch.is_grad_enabled() and device_of(tensor) is CPU):
        for out in out_tensors:
            out.copy_(tensor)
    return out_tensors


def broadcast_coalesced(
    tensors: Sequence[torch.Tensor], devices: Sequence[int], buffer_size: int
) -> list[list[torch.Tensor]]:
    """comm.cpp, broadcast_coalesced: the tensors themselves for the first device, contiguous copies for the others."""
    if any(tensor.get_device() != devices[0] for tensor in tensors):
        raise RuntimeError(f"All tensors must be on devices[0]: {devices[0]}")
    others = [_gpu(index) for index in devices[1:]]
    with torch.no_grad():
        return [list(tensors), *([_copied(tensor, other) for tensor in tensors] for other in others)]


def scatter(
    tensor: torch.Tensor, devices: Sequence[int], chunk_sizes: Sequence[int] | None, dim: int, streams: Any = None
) -> list[torch.Tensor]:
    """comm.cpp, scatter: chunks of the tensor, those that are there already as views of it."""
    if not devices:
        raise RuntimeError("Expected at least one device to scatter to")
    if chunk_sizes is not None and len(chunk_sizes) != len(devices):
        raise RuntimeError(
            "Expected devices and chunk_sizes to be of same length, but got "
            f"len(devices) = {len(devices)} and len(chunk_sizes) = {len(chunk_sizes)}"
        )
    chunks = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    _check_streams(streams, devices, tensor)
    return [
        chunk if tensor.get_device() == index else move(chunk, _gpu(index))
        for chunk, index in zip(chunks, devices, strict=False)  # a small tensor has fewer chunks than there are GPUs
    ]


def scatter_out(
    tensor: torch.Tensor, out_tensors: list[torch.Tensor], dim: int, streams: Any = None
) -> list[torch.Tensor]:
    """comm.cpp, scatter_out."""
    if not out_tensors:
        raise RuntimeError("Expected at least one output tensor to scatter to")
    dim = canonicalize_dim(tensor.dim(), dim)
    shape = list(tensor.shape)
    for index, out in enumerate(out_tensors):
        _check_on_gpu("output tensors", "output tensor", index, out, quoted=True)
        if out.dim() != tensor.dim() or [*out.shape[:dim], shape[dim], *out.shape[dim + 1 :]] != shape:
            raise RuntimeError(
                f"Output tensor at index {index} has incorrect shape: {list(out.shape)}. "
                f"Expected same shape except for scatter dim {dim} as the source tensor: {shape}"
            )
    sizes = [out.size(dim) for out in out_tensors]
    if sum(sizes) != shape[dim]:
        raise RuntimeError(
            f"Total size for output tensors along scatter dim {dim} does not match the source tensor size at dim "
            f"{dim}. Expected {shape[dim]}, but got total size {sum(sizes)}"
        )
    _check_streams(streams, [out.get_device() for out in out_tensors], tensor)
    for out, chunk in zip(out_tensors, tensor.split(sizes, dim), strict=True):
        out.copy_(chunk)
    return out_tensors


def gather(tensors: Sequence[torch.Tensor], dim: int, destination_index: int | None) -> torch.Tensor:
    """comm.cpp, gather: -1 is the CPU, None the current GPU."""
    shape = _gathered_shape(tensors, dim, quoted=False)
    first = tensors[0]
    formats = {suggest_memory_format(tensor) for tensor in tensors if tensor.layout is torch.strided}
    index = gpus.current() if destination_index is None else destination_index
    out = torch.empty(
        shape,
        dtype=first.dtype,
        layout=first.layout,
        device=CPU if index == -1 else gpus.gpu(index),
        memory_format=formats.pop() if len(formats) == 1 else torch.contiguous_format,
    )
    return _copy_together(tensors, dim, out)


def gather_out(tensors: Sequence[torch.Tensor], out_tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """comm.cpp, gather_out."""
    shape = _gathered_shape(tensors, dim, quoted=True)
    if list(out_tensor.shape) != shape:
        raise RuntimeError(f"Expected out tensor to have shape {shape}, but got {list(out_tensor.shape)}")
    return _copy_together(tensors, dim, out_tensor)


def _gathered_shape(tensors: Sequence[torch.Tensor], dim: int, quoted: bool) -> list[int]:
    if not tensors:
        raise RuntimeError("Expected at least one tensor to gather from")
    tensors[0].size(dim)  # raises for a dimension that it does not have
    expected = list(tensors[0].shape)
    total = 0
    for index, tensor in enumerate(tensors):
        _check_on_gpu("input tensors", "tensor", index, tensor, quoted)
        if tensor.dim() != len(expected):
            raise RuntimeError(
                "Expected all input tensors to have the same number of dimensions, but tensor at index "
                f"{index}has {tensor.dim()} dimensions, (expected {len(expected)})"
            )
        expected[dim] = tensor.size(dim)
        if list(tensor.shape) != expected:
            raise RuntimeError(
                f"Input tensor at index {index} has invalid shape {list(tensor.shape)}, but expected {expected}"
            )
        total += tensor.size(dim)
    expected[dim] = total
    return expected


def _copy_together(tensors: Sequence[torch.Tensor], dim: int, out: torch.Tensor) -> torch.Tensor:
    chunks = out.split([tensor.size(dim) for tensor in tensors], dim)
    for chunk, tensor in zip(chunks, tensors, strict=True):
        chunk.copy_(tensor)
    return out


def _gpu(index: int) -> torch.device:
    if index < 0:
        raise RuntimeError(f"Expected non-negative device index, but got {index}")
    return gpus.gpu(index)


def _check_on_gpu(kinds: str, kind: str, index: int, tensor: torch.Tensor, quoted: bool) -> None:
    if not tensor.is_cuda:
        device = f"'{tensor.device}'" if quoted else tensor.device
        raise RuntimeError(f"Expected all {kinds} to be CUDA tensors, but {kind} at index {index} has device {device}")


def _check_streams(streams: Any, devices: Sequence[int], tensor: torch.Tensor) -> None:
    streams = streams or []
    if any(not isinstance(stream, torch.Stream) for stream in streams if stream is not None):
        # torch/csrc/cuda/utils.cpp
        raise RuntimeError("Unknown data type found in stream list. Need torch.cuda.Stream or None")
    for index, (stream, device) in enumerate(zip(streams, devices, strict=False)):
        if stream is not None and device not in (tensor.get_device(), stream.device_index):
            # The stream's index is printed as an int8, hence a character, and the first zero ends the text.
            text = (
                f"Expected the device associated with the stream at index {index} (was {chr(stream.device_index)}) "
                f"to match the device supplied at that index (expected {device})"
            )
            raise RuntimeError(text.partition("\0")[0])


def _outside_of_us(wrap: Any) -> Any:
    """torch._utils.ExceptionWrapper, which keeps an error's traceback as text: without this simulation's own frames.

    On CUDA a replica's or a worker's error ends in PyTorch's Python code, below which is C++. What wraps it when the
    simulation begins is called: it may explain the error.
    """

    def wrap_exception(self: Any, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = exc_info or sys.exc_info()
        wrap(self, (kind, error, _outside(trace)), where)

    return wrap_exception


def _outside(trace: types.TracebackType | None) -> types.TracebackType | None:
    """The frames of a traceback that are not the simulation's."""
    if trace is None:
        return None
    rest = _outside(trace.tb_next)
    if trace.tb_frame.f_globals.get("__name__", "").startswith("samedevice.simulation."):
        return rest
    return types.TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
