"""Tensor.pin_memory and Tensor.is_pinned: which tensors can be in pinned memory."""

import warnings
from collections.abc import Iterator

import torch
from torch.types import Device

from samedevice.simulation.device import devices, pinned_memory
from samedevice.simulation.rules import layout_kinds
from samedevice.simulation.rules.errors import type_in_errors
from samedevice.simulation.stand_ins import overridden
from samedevice.simulation.tensor import dispatching_classes, sparse
from samedevice.simulation.tensor.classes import is_jagged, is_of_program
from samedevice.simulation.tensor.method_arguments import arguments_first
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.transfers import type_

_is_pinned = torch.Tensor.is_pinned
_pin_memory = torch.Tensor.pin_memory


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch.Tensor, "pin_memory", pin_memory
    yield torch.Tensor, "is_pinned", is_pinned


@arguments_first
def pin_memory(self: torch.Tensor, device: Device = None) -> torch.Tensor:
    if overridden(self):
        return _pin_memory(self) if device is None else _pin_memory(self, device)
    try:
        kind = "cuda" if device is None else torch.device(device).type
    except TypeError:
        return _pin_memory(self, device)  # PyTorch refuses this
    if self.is_meta or _asks_its_class(self):
        return _pin_memory(self) if device is None else _pin_memory(self, device)  # PyTorch refuses a meta tensor
    if device is not None:
        _warn_of_device("pin_memory", "is_pinned")
    if kind in ("cpu", "meta"):  # c10/core/DeviceType.h; native/Memory.cpp asks the context for its hooks
        raise RuntimeError(f"{kind.upper()} device type not an accelerator.")
    if is_jagged(type(self)) and self.is_cuda:
        return pin_memory(self._values)  # refused
    if isinstance(self, SimulatedTensor):
        if self.is_nested:
            _is_pinned(self)  # PyTorch refuses this
        # native/Memory.cpp; a compressed layout has no name of its own (c10/core/DispatchKey.cpp, toString)
        is_compressed = layout_kinds.kind_of([self]) == "SparseCsr"
        name = type_in_errors(type_(sparse.members(self)[-1] if is_compressed else self))
        prefix = "SparseCsr" if is_compressed else ""
        raise RuntimeError(f"cannot pin '{prefix}{name}' only dense CPU tensors can be pinned")
    devices.use()
    if is_pinned(self):
        return self
    if device is not None and self.layout is not torch.strided and not is_jagged(type(self)):
        for _ in sparse.members(self):  # each is pinned by itself, with the same argument
            _warn_of_device("pin_memory", "is_pinned")
    copy = self.clone()  # with a history, as PyTorch's _pin_memory has a derivative
    _pin(copy)
    return copy


def _asks_its_class(tensor: torch.Tensor) -> bool:
    """Whether PyTorch leaves it to a class of the program to pin what it holds: one without memory of its own."""
    return is_of_program(type(tensor)) and not dispatching_classes.has_memory(type(tensor))


def _pin(tensor: torch.Tensor) -> None:
    if is_jagged(type(tensor)):
        tensor = tensor._values
    for part in sparse.members(tensor) if tensor.layout is not torch.strided else [tensor]:
        pinned_memory.pin(part)


@arguments_first
def is_pinned(self: torch.Tensor, device: Device = None) -> bool:
    if overridden(self):
        return _is_pinned(self) if device is None else _is_pinned(self, device)
    if isinstance(device, bool):
        return _is_pinned(self, device)  # PyTorch refuses this
    if _asks_its_class(self):
        return _is_pinned(self) if device is None else _is_pinned(self, device)
    if device is not None:
        _warn_of_device("is_pinned")
    if is_jagged(type(self)):
        return is_pinned(self._values)
    if self.is_nested and isinstance(self, SimulatedTensor):
        return _is_pinned(self)  # PyTorch refuses this
    if self.is_meta or isinstance(self, SimulatedTensor):
        return False
    return pinned_memory.holds(self if self.layout is torch.strided else sparse.members(self)[-1])


def _warn_of_device(*methods: str) -> None:
    """native/Memory.cpp: pin_memory asks is_pinned, and hands on the device."""
    for name in methods:
        warnings.warn(
            f"The argument 'device' of Tensor.{name}() is deprecated. Please do not pass this argument.",
            DeprecationWarning,
            stacklevel=1,
        )
