"""Tensor.reshape, reshape_as and flatten, which make a view that is not contiguous by an operator of its own.

native/TensorShape.cpp, reshape_symint, calls `_reshape_alias` there, and `view` for a tensor with the Python key. The
two differ in what autograd says of the result: in `grad_fn`, in refusals of writes, and to a TorchDispatchMode.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch

from samedevice.simulation.stand_ins import overridden

_reshape, _reshape_as, _flatten = torch.Tensor.reshape, torch.Tensor.reshape_as, torch.Tensor.flatten
_reshape_alias = torch.ops.aten._reshape_alias.default


def reshape(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Tensor.reshape, of a simulated tensor."""
    if _is_plain(self):
        return _reshape(self, *args, **kwargs)
    given = kwargs.get("shape", args[0] if len(args) == 1 else args)
    view = _alias(self, [given] if isinstance(given, int) else given)
    return _reshape(self, *args, **kwargs) if view is None else view


def reshape_as(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Tensor.reshape_as, of a simulated tensor."""
    if _is_plain(self) or not isinstance(other, torch.Tensor) or overridden(other):
        return _reshape_as(self, other)
    view = _alias(self, other.shape)
    return _reshape_as(self, other) if view is None else view


def flatten(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Tensor.flatten, of a simulated tensor."""
    if _is_plain(self):
        return _flatten(self, *args, **kwargs)
    given = dict(zip(("start_dim", "end_dim"), args, strict=False)) | kwargs
    first, last = given.pop("start_dim", 0), given.pop("end_dim", -1)
    view = None
    if isinstance(first, int) and isinstance(last, int) and not given:
        first, last = (place + self.dim() if place < 0 else place for place in (first, last))
        if 0 <= first < last < self.dim():
            shape = self.shape
            view = _alias(self, [*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]])
    return _flatten(self, *args, **kwargs) if view is None else view


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether PyTorch's own function does what it would do on CUDA."""
    return overridden(tensor) or tensor.layout is not torch.strided or tensor.is_nested or tensor.is_contiguous()


def _alias(tensor: torch.Tensor, shape: Any) -> torch.Tensor | None:
    """A view of this shape, or None if no view has it: PyTorch copies then, or refuses the shape."""
    if not isinstance(shape, list | tuple) or not all(type(size) is int for size in shape):
        return None
    shape = list(shape)
    if shape.count(-1) == 1:
        others = -math.prod(shape)
        shape[shape.index(-1)] = tensor.numel() // others if others > 0 else 0
    if math.prod(shape) != tensor.numel() or min(shape, default=0) < 0:
        return None
    strides = _strides(list(tensor.shape), tensor.stride(), shape)
    return None if strides is None else _reshape_alias(tensor, shape, strides)


def _strides(old: Sequence[int], old_strides: Sequence[int], new: Sequence[int]) -> list[int] | None:
    """aten/src/ATen/TensorUtils.cpp, computeStride_impl: the strides of a view of this shape, if there may be one.

    Dimensions that lie in memory one after the other are a chunk, and each new dimension has to be within one. A tensor
    without elements is contiguous, so it does not come here.
    """
    strides = [0] * len(new)
    place = len(new) - 1
    elements = in_view = 1
    step = old_strides[-1]
    for dimension in reversed(range(len(old))):
        elements *= old[dimension]
        before = dimension - 1
        if dimension == 0 or (old[before] != 1 and old_strides[before] != elements * step):
            while place >= 0 and (in_view < elements or new[place] == 1):
                strides[place] = in_view * step
                in_view *= new[place]
                place -= 1
            if in_view != elements:
                return None
            if dimension:
                step, elements, in_view = old_strides[before], 1, 1
    return strides if place == -1 else None
