"""Moves from one device to another: Tensor.to, .cuda, .cpu, .type, and the `.data` setter through which modules move.

What they share, the copy and its gradient, is in moving.py. A parameter moves in place: the object stays, what it holds
is exchanged (Module.to does `param.data = moved`).
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch.types import Device

from samedevice.simulation import state
from samedevice.simulation.device import dispatch_modes, pinned_memory, streams
from samedevice.simulation.device.devices import CPU, device_of, is_index, resolve
from samedevice.simulation.rules import layout_errors
from samedevice.simulation.stand_ins import ABSENT, modes_are_asked, overridden
from samedevice.simulation.tensor import (
    batched_gradients,
    classes,
    dtensor,
    fake,
)
from samedevice.simulation.tensor.classes import (
    Twin,
    dispatches_itself,
    holds_tensors,
    is_jagged,
    is_of_program,
)
from samedevice.simulation.tensor.method_arguments import arguments_first, subclasses_first
from samedevice.simulation.tensor.moving import move
from samedevice.simulation.tensor.set_data import exchange, moved_after
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import pass_on, unwrap

_to, _cpu = torch.Tensor.to, torch.Tensor.cpu
_type = torch.Tensor.type
_copy = torch.Tensor.copy_
_type_as = torch.Tensor.type_as
_record_stream = torch.Tensor.record_stream
_data = torch.Tensor.data
_parse_to = torch._C._nn._parse_to
_device = type(CPU)  # in a simulation another class stands for torch.device
_Tensor, _Parameter = torch.Tensor, torch.nn.Parameter
_CPU, _NO_MORE = (CPU, "cpu"), (None, False)


def replacements() -> Iterator[tuple[object, str, object]]:
    for name, function in (
        ("to", to), ("cuda", cuda), ("cpu", cpu), ("type", type_), ("type_as", type_as),
        ("copy_", copy_), ("record_stream", record_stream),
        ("data", property(_get_data, _set_data, _delete_data)),
    ):  # fmt: skip
        yield torch.Tensor, name, function
    for name in AFTERWARDS:
        yield SimulatedTensor, name, ABSENT  # what torch.Tensor, or a user's class, has
    yield torch._C._nn, "_parse_to", parse_to
    yield torch.nn.parameter.UninitializedTensorMixin, "materialize", materialize


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether PyTorch's own functions know where a tensor is: it is of one of its classes, and nothing was wrapped."""
    kind = type(tensor)
    return bool((kind is torch.Tensor or kind is torch.nn.Parameter) and state.now.before_wrapped)


@functools.wraps(_parse_to)
def parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """torch._C._nn._parse_to, which reads the arguments of Tensor.to and Module.to, with simulated devices."""
    like = args[0] if args else kwargs.get("tensor")  # as python_nn_functions.cpp names it
    if isinstance(like, torch.Tensor):
        return (device_of(like), like.dtype, *_parse_to(*args, **kwargs)[2:])
    if args and is_index(args[0]):
        args = (torch.device("cuda", int(args[0])), *args[1:])
    if "device" in kwargs and is_index(kwargs["device"]):
        kwargs = kwargs | {"device": torch.device("cuda", int(kwargs["device"]))}
    return _parse_to(*args, **kwargs)


@functools.wraps(_to)
def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    # Of usual tensors most are where they are wanted. As Module.to calls it, too: to(device, None, False).
    if not kwargs and args and type(args[0]) is _device and (len(args) == 1 or args[1:] == _NO_MORE):
        kind, wanted, now = type(self), args[0], state.now
        if kind is _Tensor or kind is _Parameter:
            if now.before_wrapped and wanted == CPU:
                return _to(self, wanted)  # which asks modes
        elif (
            kind is classes.simulated
            and wanted is self._samedevice_device
            and wanted in now.present
            and not modes_are_asked()
            and not torch.is_inference_mode_enabled()
        ):
            return self
    return _to_anywhere(self, *args, **kwargs)


@functools.partial(subclasses_first, original=_to)
def _to_anywhere(self: torch.Tensor, *args: Any, copy: bool = False, **kwargs: Any) -> torch.Tensor:
    if copy is False and not kwargs and (len(args) == 1 or args[1:] == _NO_MORE):
        kind, wanted = type(args[0]), args[0]
        if kind is _device or kind is str:
            if wanted in _CPU and _is_plain(self):
                return _to(self, wanted)
            here = device_of(self)
            target = here if wanted is here and here in state.now.present else resolve(wanted)
            if target is here and not torch.is_inference_mode_enabled():
                return self  # PyTorch's own does nothing, of which only in inference mode a mode is told
            return _to(self, self.dtype) if target == here else move(self, target)
        if kind is torch.dtype and len(args) == 1:
            return _to(self, wanted)
    like = args[0] if args else kwargs.get("tensor")
    if isinstance(like, torch.Tensor) and overridden(like) and torch.overrides.has_torch_function_unary(like):
        named = {"copy": copy} if copy is not False else {}
        result: torch.Tensor = torch.overrides.handle_torch_function(to, (like,), self, *args, **named, **kwargs)
        return result
    # By position, copy comes last: to(device, dtype, non_blocking, copy), to(dtype or tensor, non_blocking, copy).
    if type(copy) is not bool:
        return _to(self, *args, copy=copy, **kwargs)  # PyTorch refuses this
    if args and len(args) == (3 if isinstance(args[0], torch.dtype | torch.Tensor) else 4):
        args, copy = args[:-1], args[-1]
    device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
    target = device_of(self) if device is None else resolve(device)
    if target == device_of(self):
        return _to(self, self.dtype if dtype is None else dtype, non_blocking, copy, memory_format=memory_format)
    moved = move(self, target, dtype, memory_format, non_blocking)
    if non_blocking and target is CPU:
        pinned_memory.pin(moved)  # native/TensorConversions.cpp, _to_copy: pin_out
    return moved


@subclasses_first
def cuda(
    self: torch.Tensor, device: Device = None, non_blocking: bool = False, *,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:  # fmt: skip
    # torch/csrc/autograd, python_variable_methods.cpp, THPVariable_cuda
    if not isinstance(device, str | torch.device | None) and not is_index(device):
        kind = "numpy." * (type(device).__module__ == "numpy") + type(device).__name__  # what C calls a type
        raise TypeError(f"cuda(): argument 'device' (position 1) must be torch.device, not {kind}")
    if not isinstance(non_blocking, bool) and type(non_blocking).__module__ != "numpy":
        kind = type(non_blocking).__name__
        raise TypeError(f"cuda(): argument 'non_blocking' (position 2) must be bool, not {kind}")
    _expect_memory_format("cuda", memory_format)
    target = resolve("cuda" if device is None else torch.device(device))
    if target.type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    return move(self, target, None, memory_format, non_blocking)


@functools.wraps(_cpu)
def cpu(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    if (type(self) is _Tensor or type(self) is _Parameter) and state.now.before_wrapped and not kwargs:
        return _cpu(self, *args)  # which asks modes
    return _cpu_from_anywhere(self, *args, **kwargs)


@functools.partial(subclasses_first, original=_cpu)
def _cpu_from_anywhere(
    self: torch.Tensor, *args: Any, memory_format: torch.memory_format | None = None
) -> torch.Tensor:
    if args or (memory_format is None and _is_plain(self)):
        return _cpu(self, *args)  # with arguments PyTorch refuses it
    _expect_memory_format("cpu", memory_format)
    return move(self, CPU, None, memory_format)


def _expect_memory_format(name: str, memory_format: torch.memory_format | None) -> None:
    if not isinstance(memory_format, torch.memory_format | None):  # torch/csrc/utils/python_arg_parser.cpp
        kind = type(memory_format).__name__
        raise TypeError(f"{name}(): argument 'memory_format' must be torch.memory_format, not {kind}")


@subclasses_first
def type_(self: torch.Tensor, dtype: torch.dtype | None = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    if kwargs:
        return _type(self, dtype, non_blocking, **kwargs)  # PyTorch refuses this
    if dtype is None:
        if is_of_program(type(self)):
            return _type(self).replace("torch.", "torch.cuda." if device_of(self).type == "cuda" else "torch.", 1)
        if holds_tensors(type(self)):
            return type_(self._values if is_jagged(type(self)) else self._masked_data)
        if not isinstance(self, SimulatedTensor):
            is_held = batched_gradients.is_batched(self) or dtensor.is_one(type(self))
            if is_held and device_of(self) is not CPU:
                return _type(self).replace("torch.", "torch.cuda.", 1)
            return _type(self).replace("torch.meta.", "torch.cuda.") if _is_fake_on_gpu(self) else _type(self)
        try:
            return _type(unwrap(self)).replace("torch.", "torch.cuda." if self.is_cuda else "torch.", 1)
        except RuntimeError as error:  # of a compressed layout: it has no name
            raise layout_errors.reworded(error) from None
    if isinstance(dtype, torch.dtype):
        return to(self, dtype)
    if not isinstance(dtype, str | type):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
    with dispatch_modes.unseen():
        try:
            plain = _type(torch.empty(0, device="cpu"), name.replace("torch.cuda.", "torch.", 1)).dtype
        except ValueError:  # torch/csrc/utils/tensor_types.cpp
            raise ValueError(f"invalid type: '{name}'") from None
    if not name.startswith("torch.cuda."):
        return move(self, CPU, plain)
    return move(self, device_of(self) if isinstance(self, SimulatedTensor) else resolve("cuda"), plain)


def _is_fake_on_gpu(tensor: torch.Tensor) -> bool:
    return dispatches_itself(type(tensor)) and fake.is_fake(tensor) and device_of(tensor).type == "cuda"


@arguments_first
def copy_(self: torch.Tensor, other: Any, non_blocking: bool = False) -> torch.Tensor:
    is_lazy = torch.nn.parameter.is_lazy(self) or torch.nn.parameter.is_lazy(other)
    if not is_lazy and (overridden(self) or (isinstance(other, torch.Tensor) and overridden(other))):
        return _copy(self, other, non_blocking)
    if isinstance(other, torch.Tensor) and other.requires_grad and device_of(self) != device_of(other):
        other = move(other, device_of(self))
    if is_lazy:
        with torch._C.DisableTorchFunctionSubclass():  # it allows PyTorch's own copy_ only, this one not
            return _copy(self, other, non_blocking)
    return _copy(self, other, non_blocking)


@arguments_first
def type_as(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    if not isinstance(other, torch.Tensor) or overridden(self) or overridden(other):
        return _type_as(self, other)
    if self.layout is not other.layout:
        return _type_as(self, other)  # PyTorch refuses this (native/TensorConversions.cpp, to)
    return to(self, other)


@arguments_first
def record_stream(self: torch.Tensor, s: Any) -> None:
    if isinstance(s, streams.AnyStream):
        s = streams.original(stream_id=s.stream_id, device_index=s.device_index, device_type=s.device_type)
    if is_jagged(type(self)):
        return self._values.record_stream(s)
    return _record_stream(self, s)  # asks a class that dispatches operators; PyTorch refuses a CPU stream


def materialize(self: Any, shape: Any, device: Device = None, dtype: torch.dtype | None = None) -> None:
    """UninitializedTensorMixin.materialize: give a lazy parameter its memory, where it was moved before it had any."""
    self.data = torch.empty(
        shape,
        device=self.data.device if device is None else device,
        dtype=self.data.dtype if dtype is None else dtype,
    )
    self.__class__ = self.cls_to_become


def _get_data(self: torch.Tensor) -> torch.Tensor:
    return _data.__get__(self)


def _delete_data(self: torch.Tensor) -> None:
    _data.__delete__(self)  # PyTorch refuses this


def _set_data(self: torch.Tensor, new: torch.Tensor) -> None:
    """`x.data = y` as on CUDA: the object stays and takes y's memory, device included."""
    if type(new) is torch.Tensor and _is_plain(self):
        _data.__set__(self, new)
        return moved_after(self)
    if isinstance(new, torch.Tensor) and isinstance(type(self), Twin) != isinstance(type(new), Twin):
        with torch._C.DisableTorchFunction():  # so it is faster, too
            may_be_set = not (new.is_meta or self.is_meta) and new.layout is self.layout
            fits = not self.requires_grad or new.is_floating_point() or new.is_complex()
            if may_be_set and fits:
                moved_after(self)
                exchange(self, new)
                return pass_on(new, self)
        if not may_be_set:
            _data.__set__(self, new)  # PyTorch refuses this
        # torch/csrc/autograd/variable.cpp, set_data
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    _data.__set__(self, new)
    if isinstance(type(self), Twin) or is_of_program(type(self)):
        self._samedevice_device = device_of(new)
    moved_after(self)
    pass_on(new, self)


# When the simulation has ended, these bring a tensor back to the CPU, and a module by `module.cpu()`.
AFTERWARDS = {"to": to, "cuda": cuda, "cpu": cpu, "data": property(_get_data, _set_data, _delete_data)}
for _name, _function in AFTERWARDS.items():
    setattr(SimulatedTensor, _name, _function)
