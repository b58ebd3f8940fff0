"""From one device to another: Tensor.to, .cuda, .cpu, .type, and the `.data` setter through which modules move.

A move is a copy with a gradient that flows back to where the tensor came from. A parameter moves in place: the object
stays, what it holds is exchanged (Module.to does `param.data = moved`).
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import devices
from samedevice.simulation.devices import CPU, device_of, resolve
from samedevice.simulation.tensor import SimulatedTensor, mark, unmark

_to = torch.Tensor.to
_type = torch.Tensor.type
_pin_memory = torch.Tensor.pin_memory
_data = torch.Tensor.data
_grad = torch.Tensor.grad
_parse_to = torch._C._nn._parse_to
_materialize = torch.nn.parameter.UninitializedTensorMixin.materialize

# Set on a gradient whose tensor moved without it.
LEFT_BEHIND = "_samedevice_left_behind"


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    for name, function in (
        ("to", to), ("cuda", cuda), ("cpu", cpu), ("type", type_), ("type_as", type_as),
        ("pin_memory", pin_memory), ("is_pinned", is_pinned), ("data", property(_get_data, _set_data)),
    ):  # fmt: skip
        yield torch.Tensor, name, function
    yield torch._C._nn, "_parse_to", parse_to
    yield torch.nn.parameter.UninitializedTensorMixin, "materialize", materialize


class _Copy(torch.autograd.Function):
    """The copy between devices; its gradient returns to the source device."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        return _place(unmark(tensor).clone(), device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.source = device_of(inputs[0])
        ctx.target = inputs[1]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return move(gradient, ctx.source), None

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor, _: None) -> torch.Tensor:
        return move(tangent, ctx.target)


def _place(plain: torch.Tensor, device: torch.device) -> torch.Tensor:
    return mark(plain, device) if device.type == "cuda" else plain


def move(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """`tensor` on `device`: itself if it is there, else a copy that carries its gradient back."""
    if device_of(tensor) == device:
        return tensor
    if torch.nn.parameter.is_lazy(tensor):
        lazy = type(tensor)(tensor.requires_grad, CPU, tensor.dtype)
        lazy._samedevice_lazy = device  # where materialize will make it; there is nothing to copy yet
        return lazy
    if device.type not in ("cuda", "cpu"):
        return _to(unmark(tensor), device)
    if tensor.is_meta:
        return _to(tensor, CPU)  # refused, by PyTorch
    if torch.is_grad_enabled() and tensor.requires_grad:
        return _Copy.apply(tensor, device)
    return _Copy.forward(tensor, device)


def parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """torch._C._nn._parse_to, which reads the arguments of Tensor.to and Module.to, with simulated devices."""
    if args and isinstance(args[0], torch.Tensor):
        return (device_of(args[0]), args[0].dtype, *_parse_to(*args, **kwargs)[2:])
    if args and isinstance(args[0], int) and not isinstance(args[0], bool):
        args = (torch.device("cuda", args[0]), *args[1:])
    if isinstance(kwargs.get("device"), int):
        kwargs = kwargs | {"device": torch.device("cuda", kwargs["device"])}
    return _parse_to(*args, **kwargs)


@functools.wraps(_to)
def to(self: torch.Tensor, *args: Any, copy: bool = False, **kwargs: Any) -> torch.Tensor:
    if "other" in kwargs:
        args = (kwargs.pop("other"), *args)
    # By position, copy comes last: to(device, dtype, non_blocking, copy), to(dtype or tensor, non_blocking, copy).
    if args and len(args) == (3 if isinstance(args[0], torch.dtype | torch.Tensor) else 4):
        args, copy = args[:-1], args[-1]
    device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
    target = device_of(self) if device is None else resolve(device)
    layout = {} if memory_format is None else {"memory_format": memory_format}
    if target == device_of(self):
        return _to(self, self.dtype if dtype is None else dtype, non_blocking, copy, **layout)
    if torch.nn.parameter.is_lazy(self) or (dtype is None and not layout):
        return move(self, target)
    return _to(move(self, target), self.dtype if dtype is None else dtype, **layout)


@functools.wraps(torch.Tensor.cuda)
def cuda(
    self: torch.Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = torch.preserve_format
) -> torch.Tensor:
    return to(self, "cuda" if device is None else device, memory_format=memory_format)


@functools.wraps(torch.Tensor.cpu)
def cpu(self: torch.Tensor, memory_format: Any = torch.preserve_format) -> torch.Tensor:
    return to(self, CPU, memory_format=memory_format)


@functools.wraps(_type)
def type_(self: torch.Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    if dtype is None:
        name: str = _type(unmark(self))
        return name.replace("torch.", "torch.cuda.", 1) if isinstance(self, SimulatedTensor) else name
    if isinstance(dtype, torch.dtype):
        return to(self, dtype)
    name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
    plain = _type(torch.empty(0, device="cpu"), name.replace("torch.cuda.", "torch.", 1)).dtype
    return to(self, "cuda" if name.startswith("torch.cuda.") else CPU, plain)


@functools.wraps(torch.Tensor.type_as)
def type_as(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return to(self, other)


@functools.wraps(_pin_memory)
def pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
    if isinstance(self, SimulatedTensor):
        # native/Memory.cpp
        raise RuntimeError(f"cannot pin '{type_(self)}' only dense CPU tensors can be pinned")
    devices.use()
    if is_pinned(self):
        return self
    pinned = self.detach().clone()
    pinned.untyped_storage()._samedevice_pinned = True
    return pinned


@functools.wraps(torch.Tensor.is_pinned)
def is_pinned(self: torch.Tensor, device: Any = None) -> bool:
    return not self.is_meta and "_samedevice_pinned" in self.untyped_storage().__dict__


def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
    """Give a lazy parameter its memory, on the device that it was moved to before it had any."""
    target = resolve(device) if device is not None else self.__dict__.pop("_samedevice_lazy", CPU)
    _materialize(self, shape, CPU, dtype)
    _set_data(self, move(self.detach(), target))


def _get_data(self: torch.Tensor) -> torch.Tensor:
    return _data.__get__(self)


def _set_data(self: torch.Tensor, new: torch.Tensor) -> None:
    """`x.data = y` as on CUDA: the object stays and takes y's memory, device included."""
    if torch.nn.parameter.is_lazy(self) and torch.nn.parameter.is_lazy(new):
        self._samedevice_lazy = new._samedevice_lazy
    elif not isinstance(new, torch.Tensor) or not (
        isinstance(self, SimulatedTensor) or isinstance(new, SimulatedTensor)
    ):
        _data.__set__(self, new)
    elif isinstance(self, SimulatedTensor) and isinstance(new, SimulatedTensor):
        _data.__set__(self, new)
        self._samedevice_device = new._samedevice_device
    else:
        _exchange(self, new)


def _exchange(tensor: torch.Tensor, new: torch.Tensor) -> None:
    """Give `tensor` the memory of `new`, which is of the other class.

    The Python dispatch key of an existing tensor cannot be switched, so the C++ tensor under the Python object is
    exchanged for one that has it, or lacks it. What people attach to a leaf goes along: its gradient and its hooks.
    """
    before = device_of(tensor)
    gradient = _grad.__get__(tensor) if tensor.is_leaf else None
    hooks = tensor._backward_hooks, tensor._post_accumulate_grad_hooks
    body = mark(new, new._samedevice_device) if isinstance(new, SimulatedTensor) else unmark(new)
    body.requires_grad_(tensor.requires_grad)
    torch._C._swap_tensor_impl(tensor, body)
    if isinstance(new, SimulatedTensor):
        tensor._is_param = isinstance(tensor, torch.nn.Parameter)
        tensor._samedevice_class, tensor._samedevice_device = type(tensor), new._samedevice_device
        tensor.__class__, body.__class__ = SimulatedTensor, torch.Tensor
    else:
        was_parameter = isinstance(tensor, torch.nn.Parameter)
        plain = tensor.__dict__.pop("_samedevice_class", torch.nn.Parameter if was_parameter else torch.Tensor)
        del tensor._samedevice_device
        tensor.__class__, body.__class__, body._samedevice_device = plain, SimulatedTensor, before
    tensor._backward_hooks, tensor._post_accumulate_grad_hooks = hooks
    if gradient is not None:
        setattr(gradient, LEFT_BEHIND, True)  # Module.to moves it next; `x.data = y` by hand leaves it there
        _grad.__set__(tensor, gradient)
    owner = getattr(tensor, "_samedevice_owner", lambda: None)()
    if owner is not None and device_of(owner) == device_of(tensor):
        _grad.__set__(owner, tensor)  # `tensor` is the gradient of `owner`, which holds the C++ tensor
