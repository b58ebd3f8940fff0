"""`x[index] = value`: of which operator C++ makes it where the index, the value and the tensor are not together.

C++ takes all simulated tensors for the CPU's, so it would choose as if they were on one device.
"""

import functools
import re
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device import dispatch_modes
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules.tensor_iterator import NUMBERS
from samedevice.simulation.stand_ins import modes_are_asked, overridden
from samedevice.simulation.tensor import classes
from samedevice.simulation.tensor.at_once import nobody_watches
from samedevice.simulation.tensor.moving import move
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import below

_setitem = torch.Tensor.__setitem__
_requires_grad = torch.Tensor.requires_grad.__get__


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch.Tensor, "__setitem__", setitem


@functools.wraps(_setitem)
def setitem(self: torch.Tensor, index: Any, value: Any) -> None:
    is_of_a_view = type(index) is int or _is_of_a_view(index)
    if is_of_a_view and _are_of_the_cpu(self, value):
        return _setitem(self, index, value)
    if is_of_a_view and _copies_at_once(self, value):
        try:
            with below():  # not by call_below, which lets nobody count versions
                return _setitem(self, index, value)
        except (IndexError, RuntimeError, TypeError, ValueError):
            pass  # below, for what CUDA says
    if overridden(self) or (isinstance(value, torch.Tensor) and overridden(value)):
        return _setitem(self, index, value)
    if is_of_a_view and isinstance(value, torch.Tensor) and value.requires_grad:
        # A copy into a view; by tensors it is another operator. ATen/TensorIndexing.h, copy_to, has a third for a
        # number, fill_, if it is on the CPU: there a GPU's is given a dimension, which is cut again.
        number = value.dim() == 0 and isinstance(value, SimulatedTensor)
        value = move(value, device_of(self))
        value = value.unsqueeze(0) if number else value
    if not is_of_a_view:
        index, value = _apart(self, index, value)
    try:
        _setitem(self, index, value)
    except TypeError as error:  # torch/csrc/autograd/python_variable_indexing.cpp, valueToTensor, names the type
        refused = re.fullmatch(r"(can't assign a .* to a )torch\.(\w+Tensor)", str(error))
        if refused and isinstance(self, SimulatedTensor):
            raise TypeError(f"{refused[1]}torch.cuda.{refused[2]}") from None
        raise


def _are_of_the_cpu(self: torch.Tensor, value: Any) -> bool:
    """Whether these are a tensor of the CPU and what is beside it, of which nobody overrides a function."""
    kind = type(value)
    return bool(
        type(self) is torch.Tensor
        and (kind is torch.Tensor or kind in NUMBERS)
        and state.now.before_wrapped
        and not modes_are_asked()
    )


def _copies_at_once(self: torch.Tensor, value: Any) -> bool:
    """Whether nobody sees by which operators `value`, wherever it is, is copied into a view of `self`."""
    now = state.now
    if not nobody_watches(now):
        return False
    has_gradient = torch.is_grad_enabled()
    for tensor in (self, value):
        kind = type(tensor)
        if kind is classes.simulated:
            if tensor._samedevice_device not in now.present or (has_gradient and _requires_grad(tensor)):
                return False
        elif kind is torch.Tensor:
            if has_gradient and tensor.requires_grad:
                return False
        elif tensor is self or kind not in NUMBERS:
            return False
    return True


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _is_of_a_view(index: Any) -> bool:
    return all(part is None or part is ... or type(part) in (int, slice) for part in _parts(index))


def _apart(self: torch.Tensor, index: Any, value: Any) -> tuple[Any, Any]:
    """The index and the value such that C++ takes what is not beside `self` for what it is.

    A mask beside its tensor goes to masked_fill_ if the value is one number of the CPU
    (native/TensorAdvancedIndexingUtils.h, canDispatchToMaskedFill), which refuses uint8: any other uint8 mask is an
    index, with a warning. From torch 2.15 on, a Python number beside one mask or index goes to masked_fill_ or
    index_fill_ at once (torch/csrc/autograd/python_variable_indexing.cpp); a number as a tensor goes to index_put_.
    """
    if not any(isinstance(x, SimulatedTensor) for x in (self, value, *_parts(index))):
        return index, value
    place = device_of(self)
    parts = tuple(torch.tensor(part, device=place) if _is_mask(part) else part for part in _parts(index))
    tensors = [part for part in parts if isinstance(part, torch.Tensor)]
    # C++ makes of lists, of bool and of masks without dimensions indices beside `self`, which is the CPU here.
    beside = all(
        device_of(part) == place and part.dim() if isinstance(part, torch.Tensor) else _is_of_a_view(part)
        for part in parts
    )
    number = type(value) in (bool, float, complex) or (type(value) is int and abs(value) < 2**63)
    masks = [x for x in tensors if x.dtype is torch.uint8]
    fills = number or (isinstance(value, torch.Tensor) and value.numel() == 1 and device_of(value) is CPU)
    if masks and not (fills and len(masks) == 1 and device_of(masks[0]) == place):
        torch.empty(0)[torch.empty(0, dtype=torch.uint8)]  # PyTorch's own warning
        parts = tuple(part.bool() if any(part is mask for mask in masks) else part for part in parts)
    if number and not beside:
        with dispatch_modes.unseen():  # but for the last step, as in C++ (valueToTensor)
            value = torch.scalar_tensor(value, dtype=self.dtype, device=CPU)
        value = torch.ops.aten.lift_fresh.default(value)
    return parts if isinstance(index, tuple) else parts[0], value


def _is_mask(part: Any) -> bool:
    """Whether a part of an index is a mask as a list."""
    return type(part) is list and bool(part) and all(type(x) is bool for x in part)
