"""The texts of PyTorch's refusals that more than one check raises, each written once."""

from typing import NoReturn

import torch


def found_two_devices(first: torch.device, second: torch.device) -> NoReturn:
    """aten/src/ATen/TensorIterator.cpp, compute_types."""
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )


def accuse(argument: str, device: torch.device, reference: torch.device, method: str) -> NoReturn:
    """aten/src/ATen/core/adaption.cpp: `argument` is on `device`, and not on `reference` as the first tensor is."""
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but got {argument} is on {device}, "
        f"different from other tensors on {reference} (when checking argument in method {method})"
    )


def attention_on_several_devices(query: torch.device, key: torch.device, value: torch.device) -> NoReturn:
    """native/transformers/attention.cpp, validate_sdpa_input."""
    raise RuntimeError(
        "Expected query, key, and value to have the same device type, but got "
        f"query.device: {query} key.device: {key} and value.device: {value} instead."
    )
