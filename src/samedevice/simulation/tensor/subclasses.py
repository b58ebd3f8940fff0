"""Tensors made into another class: nn.Parameter(x), x.as_subclass(C), Tensor._make_subclass(C, x)."""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch.nested._internal import nested_tensor

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.tensor.classes import is_jagged, original_of, refuse_class, twin_of
from samedevice.simulation.tensor.dispatch import refuse_gradients_of_nested
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import meet_jagged, unwrap

_new_parameter = torch.nn.Parameter.__new__
_make_subclass = torch.Tensor._make_subclass
_make_wrapper_subclass = torch.Tensor._make_wrapper_subclass
_as_subclass = torch.Tensor.as_subclass
_new_masked_tensor = torch.masked.MaskedTensor.__new__
_DEVICE = 6  # where the device stands among the arguments of _make_wrapper_subclass


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    yield torch.nn.Parameter, "__new__", staticmethod(new_parameter)
    yield torch.Tensor, "_make_subclass", staticmethod(make_subclass)
    yield torch.Tensor, "_make_wrapper_subclass", staticmethod(make_wrapper_subclass)
    yield torch.Tensor, "as_subclass", as_subclass
    yield nested_tensor.NestedTensor, "_samedevice_device", property(lambda jagged: device_of(jagged._values))
    yield torch.masked.MaskedTensor, "__new__", staticmethod(new_masked_tensor)


@functools.wraps(_new_parameter)  # its name stands in what Python says of a wrong argument
def new_parameter(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
    """nn.Parameter.__new__: a tensor of torch's own classes becomes `cls`; another keeps its class, and is wrapped."""
    if data is None:
        data = torch.empty(0)
    if original_of(type(data)) in (torch.Tensor, torch.nn.Parameter):
        return make_subclass(cls, data, requires_grad)
    return _new_parameter(cls, data, requires_grad)


@functools.wraps(_make_subclass)
def make_subclass(cls: Any, data: Any, require_grad: bool = False, **options: Any) -> Any:
    """The same memory, detached, as a `cls`."""
    if not isinstance(data, SimulatedTensor):
        return _make_subclass(original_of(cls), data, require_grad, **options)
    if require_grad:
        refuse_gradients_of_nested([data])
    made: Any = _make_subclass(SimulatedTensor, unwrap(data), require_grad)
    made._samedevice_device = data.device
    made.__class__ = twin_of(cls)
    return made


@functools.wraps(_make_wrapper_subclass)
def make_wrapper_subclass(cls: Any, *args: Any, **kwargs: Any) -> Any:
    if is_jagged(cls):
        meet_jagged()
    if is_jagged(cls) and args[_DEVICE].type == "cuda":  # with this device in C++, autograd would end the process
        return _make_wrapper_subclass(cls, *args[:_DEVICE], CPU, *args[_DEVICE + 1 :], **kwargs)
    if torch.device(kwargs.get("device") or "cpu").type == "cuda":  # autograd would end the process
        refuse_class(cls)
    return _make_wrapper_subclass(original_of(cls), *args, **kwargs)


@functools.wraps(_new_masked_tensor)
def new_masked_tensor(cls: Any, data: Any, mask: Any, requires_grad: bool = False) -> Any:
    if isinstance(data, SimulatedTensor) or isinstance(mask, SimulatedTensor):
        refuse_class(original_of(cls))
    return _new_masked_tensor(cls, data, mask, requires_grad)


def as_subclass(self: torch.Tensor, cls: Any) -> Any:
    """The same memory and history as a `cls`."""
    if not isinstance(self, SimulatedTensor):
        return _as_subclass(self, original_of(cls))
    with torch._C.DisableTorchFunctionSubclass():
        made: Any = torch.ops.aten.alias(self)
    made.__class__ = twin_of(cls)
    return made
