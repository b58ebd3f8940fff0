"""Classes of tensors that a program may define, and what is compared of their tensors.

There are three kinds: one that holds tensors and dispatches operators to them, which is PyTorch's TwoTensor; one with
memory of its own that passes operators on; and one that only bears a name.
"""

from typing import Any

import torch
from torch.testing._internal.two_tensor import TwoTensor

__all__ = ["BY_NAME", "Named", "Passing", "TwoTensor", "memory", "plain"]


class Passing(torch.Tensor):
    """Has memory of its own, and passes each operator on."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented  # of a class without memory, which has to be asked
        return super().__torch_dispatch__(func, types, args, kwargs or {})


class Named(torch.Tensor):
    """Bears a name."""


BY_NAME: dict[str, type] = {"Named": Named, "Passing": Passing, "TwoTensor": TwoTensor}


def plain(tensor: Any) -> list[torch.Tensor]:
    """Return the tensors of torch's own class that make up a tensor, detached: itself, or those that it holds."""
    if isinstance(tensor, TwoTensor):
        return [part for held in (tensor.a, tensor.b) for part in plain(held)]
    with torch._C.DisableTorchFunctionSubclass():
        return [tensor.detach()]


def memory(tensor: Any) -> list[int]:
    """Return the addresses of the memory of a tensor."""
    return [part.untyped_storage().data_ptr() for part in plain(tensor)]
