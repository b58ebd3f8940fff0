"""Small tensors of each layout on each device, and PyTorch's texts about devices, for the tests of layouts."""

from collections.abc import Callable

import pytest
import torch

SAME = "Expected all tensors to be on the same device, but "
FLOAT = "torch.cuda.FloatTensor"


def accused(argument: str, device: str, reference: str, method: str) -> str:
    return (
        f"{SAME}got {argument} is on {device}, different from other tensors on {reference} "
        f"(when checking argument in method wrapper_{method})"
    )


def found(first: str, second: str) -> str:
    return f"{SAME}found at least two devices, {first} and {second}!"


def not_equal(expression: str) -> str:
    return (
        f"Expected cuda::check_device({{{expression}}}) to be true, but got false.  (Could this error message be "
        "improved?  If so, please report an enhancement request to PyTorch.)"
    )


def g(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="cuda:0")


def h(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="cuda:1")


def c(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def coo(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to_sparse()


def csr(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to_sparse_csr()


def nested(tensor: torch.Tensor) -> torch.Tensor:
    return torch.nested.nested_tensor([tensor, tensor[:1]])


def refused(compute: Callable[[], object], text: str) -> None:
    """Fail unless this is refused with this text."""
    with pytest.raises((RuntimeError, TypeError)) as caught:
        compute()
    assert str(caught.value) == text
