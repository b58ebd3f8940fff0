"""Tensors made into another class: nn.Parameter(x), x.as_subclass(C), Tensor._make_subclass(C, x)."""

import functools
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.nested._internal import nested_tensor
from torch.types import Device

from samedevice.simulation.device.devices import CPU, device_of, resolve
from samedevice.simulation.device.in_cpp import for_cpp
from samedevice.simulation.tensor import classes, dtensor
from samedevice.simulation.tensor.classes import (
    assign,
    dispatches_itself,
    holds_tensors,
    is_of_program,
    original_of,
    refuse_class,
    twin_of,
)
from samedevice.simulation.tensor.dispatch import refuse_gradients_of_nested
from samedevice.simulation.tensor.dispatching_classes import become, follow, made_of
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import detached, meet_holder, pass_on, unwrap

_new_parameter = torch.nn.Parameter.__new__
_make_subclass = torch.Tensor._make_subclass
_make_wrapper_subclass = torch.Tensor._make_wrapper_subclass
_as_subclass = torch.Tensor.as_subclass
_nt_view_dummy = nested_tensor._nt_view_dummy
_get_obj_state = torch._utils._get_obj_state
_validate_members = torch.masked.MaskedTensor._validate_members
_OURS = {"_samedevice_device", "_samedevice_met"}  # what we note of a tensor of a program's class
_DEVICE = 6  # where the device stands among the arguments of _make_wrapper_subclass


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch.nn.Parameter, "__new__", staticmethod(new_parameter)
    yield torch.Tensor, "_make_subclass", staticmethod(make_subclass)
    yield torch.Tensor, "_make_wrapper_subclass", staticmethod(make_wrapper_subclass)
    yield torch.Tensor, "as_subclass", as_subclass
    yield nested_tensor.NestedTensor, "_samedevice_device", property(lambda jagged: device_of(jagged._values))
    yield nested_tensor, "_nt_view_dummy", nt_view_dummy
    yield torch._utils, "_get_obj_state", get_obj_state
    yield torch.masked.MaskedTensor, "_validate_members", validate_members
    yield torch.masked.MaskedTensor, "_samedevice_device", property(lambda masked: device_of(masked._masked_data))
    yield torch.masked.MaskedTensor, "device", property(device_of)
    yield torch.masked.MaskedTensor, "is_cuda", property(lambda masked: device_of(masked).type == "cuda")
    yield torch.masked.MaskedTensor, "is_cpu", property(lambda masked: device_of(masked) is CPU)


@functools.wraps(_new_parameter)  # its name stands in what Python says of a wrong argument
def new_parameter(cls: type, data: Any = None, requires_grad: bool = True) -> Any:
    """nn.Parameter.__new__: a tensor of torch's own classes becomes `cls`; another keeps its class, and is wrapped."""
    if data is None:
        data = torch.empty(0)
    if original_of(type(data)) in (torch.Tensor, torch.nn.Parameter):
        return make_subclass(cls, data, requires_grad)
    return _new_parameter(cls, data, requires_grad)


@functools.wraps(_make_subclass)
def make_subclass(cls: type, data: Any, require_grad: bool = False, **options: Any) -> Any:
    """The same memory, detached, as a `cls`."""
    if not isinstance(data, SimulatedTensor):
        follow(cls)
        return _make_subclass(original_of(cls), data, require_grad, **options)
    if is_of_program(cls):
        made = made_of(data, cls, data.device, require_grad)
        pass_on(data, made)
        return made
    with torch._C.DisableTorchFunction():  # a mode hears nothing of it
        if require_grad:
            refuse_gradients_of_nested([data])
        made = _make_subclass(classes.simulated, detached(data), require_grad)
        made._samedevice_device = data.device
        pass_on(data, made)
    assign(made, twin_of(cls))
    return made


@functools.wraps(_make_wrapper_subclass)
def make_wrapper_subclass(cls: type, *args: Any, **kwargs: Any) -> Any:
    device = args[_DEVICE] if len(args) > _DEVICE else kwargs.get("device")
    is_on_gpu = torch.device(device or "cpu").type == "cuda" and dispatches_itself(cls)  # PyTorch refuses others
    follow(cls, has_memory=False)
    if is_on_gpu and len(args) > _DEVICE:
        args = (*args[:_DEVICE], _device_in_cpp(cls, device), *args[_DEVICE + 1 :])
    elif is_on_gpu:
        kwargs = kwargs | {"device": _device_in_cpp(cls, device)}
    made = _make_wrapper_subclass(original_of(cls), *args, **kwargs)
    if holds_tensors(cls):
        meet_holder(made)
    if is_on_gpu and is_of_program(cls):
        made._samedevice_device = resolve(device)
        with torch._C.DisableTorchFunctionSubclass():  # nobody but us asks for it
            storage = made.untyped_storage()
        storage._samedevice_device = made._samedevice_device
    return made


def _device_in_cpp(cls: type, device: Device) -> torch.device:
    """The device of a tensor of this class in C++: with a GPU's there, autograd would end the process."""
    if issubclass(cls, FakeTensor | FunctionalTensor):
        return for_cpp(resolve(device))
    if holds_tensors(cls) or dtensor.is_one(cls):
        return CPU
    refuse_class(cls)


@functools.wraps(_nt_view_dummy)
def nt_view_dummy() -> torch.Tensor:
    """nested_tensor._nt_view_dummy, a jagged tensor that PyTorch makes once and keeps: the next simulation may not."""
    dummy = _nt_view_dummy()
    meet_holder(dummy)
    del dummy._samedevice_met
    return dummy


@functools.wraps(_get_obj_state)
def get_obj_state(obj: Any) -> Any:
    """torch._utils._get_obj_state, what a file holds of a tensor's attributes: those of the program, without ours."""
    state = _get_obj_state(obj)
    if isinstance(state, dict) and not _OURS.isdisjoint(state):
        return {name: value for name, value in state.items() if name not in _OURS}
    return state


@functools.wraps(_validate_members)
def validate_members(self: Any) -> None:
    """MaskedTensor._validate_members, for which data and mask are of one class on whichever devices they are."""
    data, mask = self._masked_data, self._masked_mask
    if isinstance(data, SimulatedTensor) != isinstance(mask, SimulatedTensor):
        data, mask = (unwrap(x) if isinstance(x, SimulatedTensor) else x for x in (data, mask))
        self = types.SimpleNamespace(_masked_data=data, get_mask=lambda: mask)  # all that it looks at
    _validate_members(self)


def as_subclass(self: torch.Tensor, cls: type) -> Any:
    """The same memory and history as a `cls`."""
    if not isinstance(self, SimulatedTensor):
        follow(cls)
        return _as_subclass(self, original_of(cls))
    with torch._C.DisableTorchFunctionSubclass():
        made: Any = torch.ops.aten.alias(self)
    if dispatches_itself(type(self)):
        return _of_class(made, original_of(cls))
    if is_of_program(cls):
        become(made, cls)
    else:
        assign(made, twin_of(cls))
    return made


def _of_class(made: Any, cls: type) -> Any:
    """What a class gave that dispatches operators itself: torch/csrc/autograd/python_variable.cpp, THPVariable_Wrap."""
    kind = original_of(type(made))
    if issubclass(kind, cls):
        return made
    raise RuntimeError(
        f"Creating a new Tensor subclass {cls.__name__} but the raw Tensor object is already associated to a python "
        f"object of type {kind.__name__} which is not a subclass of the requested type"
    )
