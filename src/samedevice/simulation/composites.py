"""Functions that PyTorch composes in C++ above the dispatcher, where the simulation does not see them begin.

Some make tensors of their own on what they take for the device of their input: the CPU, since a simulated tensor is one
in C++. While such a function runs on tensors of one device, what only C++ holds belongs to that device. The list was
found by running every operator of PyTorch's op_db on a simulated GPU (tests/simulation/test_composites.py).
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import placement
from samedevice.simulation.devices import CPU, device_of
from samedevice.simulation.moves import move

_MAKE_TENSORS_INSIDE = (
    (torch, "combinations"), (torch, "nanquantile"), (torch.Tensor, "nanquantile"), (torch, "quantile"),
    (torch.Tensor, "quantile"), (torch.linalg, "matrix_rank"), (torch.nn.functional, "scaled_dot_product_attention"),
    (torch.nn.functional, "one_hot"), (torch._VF, "stft"), (torch.Tensor, "stft"),
    (torch, "istft"), (torch.Tensor, "istft"), (torch, "vander"), (torch.linalg, "vander"),
)  # fmt: skip

# ctc_loss brings targets and lengths along itself (native/LossCTC.cpp); the batch_sizes of a packed sequence are on the
# CPU by design, and what is padded is copied (native/PackedSequence.cpp).
_RESULT_ON_FIRST = ((torch, "ctc_loss"), (torch._VF, "_pad_packed_sequence"), (torch._C._nn, "pad_sequence"))


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    for owner in (torch, torch.Tensor):
        yield owner, "histc", _in_double(owner.histc)
    for owner, name in _RESULT_ON_FIRST:
        yield owner, name, _on_first(getattr(owner, name))
    for owner, name in _MAKE_TENSORS_INSIDE:
        yield owner, name, _composed(getattr(owner, name))


def _in_double(original: Any) -> Any:
    """histc, which CUDA has for integers too (native/cuda/SummaryOps.cu), and the CPU has not."""

    @functools.wraps(original)
    def in_double(source: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if device_of(source) is CPU or source.dtype.is_floating_point:
            return original(source, *args, **kwargs)
        return original(source.double(), *args, **kwargs).to(source.dtype)

    return in_double


def _on_first(original: Any) -> Any:
    """A function whose result is where its first argument is, wherever the others are."""

    @functools.wraps(original)
    def on_first(*args: Any, **kwargs: Any) -> Any:
        home = device_of(next(placement.tensors_of(args, kwargs)))
        with placement.composing():
            result = original(*args, **kwargs)
        return (move(result[0], home), *result[1:]) if isinstance(result, tuple) else move(result, home)

    return on_first


def _composed(original: Any) -> Any:
    """A function that makes tensors inside; its result, if it is one of them, is brought to the GPU."""

    @functools.wraps(original)
    def composed(*args: Any, **kwargs: Any) -> Any:
        shared = {device_of(tensor) for tensor in placement.tensors_of(args, kwargs)}
        if len(shared) != 1 or CPU in shared:
            return original(*args, **kwargs)
        with placement.composing():
            result = original(*args, **kwargs)
        return move(result, shared.pop()) if type(result) is torch.Tensor else result

    return composed
