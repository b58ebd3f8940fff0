"""Checks that PyTorch makes in C++ before the first operator of a function, on devices that it cannot see here.

They are made in front of the function instead, with PyTorch's texts. A name bound before the simulation starts
(`from torch.nn.functional import scaled_dot_product_attention`) is not covered: the first operator inside then decides.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from samedevice.simulation.devices import CPU, device_of
from samedevice.simulation.refusals import accuse, attention_on_several_devices


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    checks: tuple[tuple[Any, str, Callable[..., None]], ...] = (
        (torch._VF, "lstm", _recurrent), (torch._VF, "gru", _recurrent),
        (torch._VF, "rnn_tanh", _recurrent), (torch._VF, "rnn_relu", _recurrent),
        (torch._VF, "_pack_padded_sequence", _lengths),
        (torch.nn.functional, "scaled_dot_product_attention", _attention),
        (torch, "rms_norm", _rms_norm),
        (torch, "tensor_split", _tensor_split), (torch.Tensor, "tensor_split", _tensor_split),
        (torch, "take_along_dim", _take_along_dim), (torch.Tensor, "take_along_dim", _take_along_dim),
        (torch.linalg, "multi_dot", _multi_dot),
        (torch._VF, "gru_cell", _cell), (torch._VF, "lstm_cell", _cell),
        (torch, "cosine_similarity", _cosine_similarity),
        (torch.nn.functional, "cosine_similarity", _cosine_similarity),
        (torch, "quantile", _quantile), (torch.Tensor, "quantile", _quantile),
        (torch, "nanquantile", _quantile), (torch.Tensor, "nanquantile", _quantile),
        (torch.functional._VF, "meshgrid", _meshgrid), (torch.functional._VF, "cartesian_prod", _cartesian_prod),
    )  # fmt: skip
    for owner, name, check in checks:
        yield owner, name, _checked(getattr(owner, name), check)
    yield torch.backends.cudnn, "is_acceptable", lambda tensor: False  # no cuDNN: weights are not flattened into one


def _checked(original: Any, check: Callable[..., None]) -> Any:
    @functools.wraps(original)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if "input" in kwargs:
            args = (kwargs.pop("input"), *args)  # PyTorch's name for the first argument, Python's for something else
        check(*args, **kwargs)
        return original(*args, **kwargs)

    return checked


def _recurrent(inputs: torch.Tensor, *rest: Any, **kwargs: Any) -> None:
    """native/RNN.h, check_attributes: first the hidden state, then the parameters."""
    packed = isinstance(rest[0], torch.Tensor) and isinstance(rest[2], (list, tuple))
    hidden, parameters = rest[1:3] if packed else rest[:2]
    here = device_of(inputs)
    hidden = [hidden] if isinstance(hidden, torch.Tensor) else hidden
    for name, tensors in (("hidden", hidden), ("parameter", parameters)):
        for tensor in tensors:
            if device_of(tensor) != here and not (tensor.dim() == 0 and device_of(tensor) is CPU):
                raise RuntimeError(
                    f"Input and {name} tensors are not at the same device, found input tensor at {here} "
                    f"and {name} tensor at {device_of(tensor)}"
                )


def _cell(inputs: torch.Tensor, hidden: Any, input_weight: torch.Tensor, hidden_weight: Any, *rest: Any) -> None:
    """native/RNN.cpp, gru_cell and lstm_cell: for a GPU's fused kernel the products are made without the bias."""
    if device_of(inputs) is CPU:
        return
    state = hidden if isinstance(hidden, torch.Tensor) else hidden[0]
    for factor, weight in ((inputs, input_weight), (state, hidden_weight)):
        if device_of(weight) != device_of(factor):
            accuse("mat2", device_of(weight), device_of(factor), "wrapper_CUDA_mm")


def _cosine_similarity(first: torch.Tensor, second: torch.Tensor, *rest: Any, **kwargs: Any) -> None:
    """native/Distance.cpp, cosine_similarity: eps, made where the first is, clamps the norm of the second."""
    if device_of(first) != device_of(second):
        accuse("min", device_of(first), device_of(second), "wrapper_CUDA_clamp_min__Tensor")


def _quantile(inputs: torch.Tensor, q: Any, *rest: Any, **kwargs: Any) -> None:
    """native/Sorting.cpp, quantile_checks."""
    if isinstance(q, torch.Tensor) and device_of(q) != device_of(inputs):
        raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")


def _lengths(inputs: torch.Tensor, lengths: torch.Tensor, *rest: Any) -> None:
    """native/PackedSequence.cpp, _pack_padded_sequence."""
    if device_of(lengths) is not CPU:
        dtype = lengths.type().rpartition(".")[2].removesuffix("Tensor")
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, "
            f"but got {lengths.dim()}D {device_of(lengths)} {dtype} tensor"
        )


def _attention(query: Any, key: Any, value: Any, attn_mask: Any = None, *rest: Any, **kwargs: Any) -> None:
    """native/transformers/attention.cpp, validate_sdpa_input; the mask meets the generated check of a fused kernel."""
    places = device_of(query), device_of(key), device_of(value)
    if len(set(places)) > 1:
        attention_on_several_devices(*places)
    if isinstance(attn_mask, torch.Tensor) and device_of(attn_mask) != places[0]:
        accuse("attn_bias", device_of(attn_mask), places[0], "wrapper_CUDA___scaled_dot_product_efficient_attention")


def _rms_norm(inputs: Any, normalized_shape: Any, weight: Any = None, *rest: Any, **kwargs: Any) -> None:
    """native/layer_norm.cpp, rms_norm: on CUDA one fused kernel, with its generated check."""
    if isinstance(weight, torch.Tensor) and device_of(weight) != device_of(inputs):
        accuse("weight", device_of(weight), device_of(inputs), "wrapper_CUDA___fused_rms_norm")


def _tensor_split(inputs: Any, indices: Any = None, *rest: Any, **kwargs: Any) -> None:
    """native/TensorShape.cpp, tensor_split."""
    indices = kwargs.get("tensor_indices_or_sections", indices)
    if isinstance(indices, torch.Tensor) and device_of(indices) is not CPU:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {device_of(indices)}"
        )


def _take_along_dim(inputs: Any, indices: Any, *rest: Any, **kwargs: Any) -> None:
    """native/TensorAdvancedIndexing.cpp, _take_along_dim_helper."""
    here, there = device_of(inputs), device_of(indices)
    if here != there:
        raise RuntimeError(
            f"Expected tensor to have {here} Device, but got tensor with {there} Device "
            "(while checking arguments for torch.take_along_dim():)"
        )


def _multi_dot(tensors: Any, *, out: Any = None) -> None:
    """native/LinearAlgebra.cpp, multi_dot_impl."""
    first = device_of(tensors[0])
    for index, tensor in enumerate(tensors):
        if device_of(tensor) != first:
            raise RuntimeError(
                f"multi_dot(): all tensors must be on the same device but tensor 0 is on {first} "
                f"and tensor {index} on {device_of(tensor)}"
            )
    if out is not None and device_of(out) != first:
        raise RuntimeError(f"multi_dot(): expected out tensor to be on device {first} but got {device_of(out)}")


def _meshgrid(tensors: Any, *rest: Any, **kwargs: Any) -> None:
    """native/TensorShape.cpp, meshgrid."""
    if len({device_of(tensor) for tensor in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")


def _cartesian_prod(tensors: Any) -> None:
    if len(tensors) > 1:
        _meshgrid(tensors)
