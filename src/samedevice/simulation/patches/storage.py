"""Storages that know which simulated GPU they are on: what torch.save, torch.load, deepcopy and pickle look at.

With these few answers torch's own serialization does the rest: files hold the location "cuda:0", map_location works,
and loading such a file outside the simulation raises PyTorch's own error.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch.types import Device

from samedevice.simulation.device import pinned_memory, sync_debug
from samedevice.simulation.device.devices import CPU, resolve
from samedevice.simulation.device.memory import expect, made, resized
from samedevice.simulation.stand_ins import overridden

_device = torch.UntypedStorage.device
_new = torch.UntypedStorage.__new__
_resize = torch.UntypedStorage.resize_
_is_shared = torch.UntypedStorage.is_shared
_set = torch.Tensor.set_


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch.UntypedStorage, "__new__", staticmethod(new)
    yield torch.UntypedStorage, "device", property(device)
    yield torch.UntypedStorage, "is_cuda", property(lambda self: device(self).type == "cuda")
    for name, method in (("to", to), ("cpu", cpu), ("clone", clone)):
        yield torch.storage._StorageBase, name, method  # where PyTorch has them
    yield torch.UntypedStorage, "new", new_like
    yield torch.UntypedStorage, "resize_", resize_
    yield torch.UntypedStorage, "is_shared", is_shared
    yield torch.Tensor, "set_", set_


def new(cls: type, *args: Any, device: Device = None, **kwargs: Any) -> torch.UntypedStorage:
    target = CPU if device is None else resolve(device)
    if target.type != "cuda":
        return _new(cls, *args, **({} if device is None else {"device": device}), **kwargs)
    size = args[0] if args else kwargs.get("size", 0)
    if type(size) is int:
        expect(size, target.index)
    return _on(target, _new(cls, *args, device=CPU, **kwargs))


def _on(target: torch.device, storage: torch.UntypedStorage) -> torch.UntypedStorage:
    storage._samedevice_device = target
    made(storage, target.index)
    return storage


def device(self: torch.UntypedStorage) -> torch.device:
    here: torch.device = self.__dict__.get("_samedevice_device") or _device.__get__(self)
    return here


@functools.wraps(torch.UntypedStorage.to)
def to(self: torch.UntypedStorage, *, device: Device, non_blocking: bool = False) -> torch.UntypedStorage:
    asked = device if isinstance(device, torch.device) else torch.device(device)
    if asked == self.device:  # torch/_utils.py, _to: "cuda" equals no GPU's name, so this makes a copy
        return self
    copy = _copy(self, resolve(asked), non_blocking)
    if non_blocking and asked.type == "cpu" and self.device.type == "cuda":
        pinned_memory.pin_storage(copy)
    return copy


def _copy(self: torch.UntypedStorage, target: torch.device, non_blocking: bool = False) -> torch.UntypedStorage:
    if {target.type, device(self).type} == {"cpu", "cuda"} and self.nbytes() and not non_blocking:
        sync_debug.wait()
    if target.type == "cuda":
        expect(self.nbytes(), target.index)
    copy = torch.UntypedStorage(self.nbytes(), device="cpu" if target.type == "cuda" else target)
    copy.copy_(self)
    return _on(target, copy) if target.type == "cuda" else copy


@functools.wraps(torch.UntypedStorage.clone)
def clone(self: torch.UntypedStorage) -> torch.UntypedStorage:
    return _copy(self, device(self))


def resize_(self: torch.UntypedStorage, *args: Any, **kwargs: Any) -> torch.UntypedStorage:
    home = device(self)
    if home.type == "cuda" and args and type(args[0]) is int and args[0] > self.nbytes():
        expect(args[0], home.index)
    result: torch.UntypedStorage = _resize(self, *args, **kwargs)
    if home.type == "cuda":
        resized(self, home.index)
    return result


@functools.wraps(torch.UntypedStorage.new)
def new_like(self: torch.UntypedStorage) -> torch.UntypedStorage:
    return torch.UntypedStorage(0, device=device(self))  # torch/csrc/StorageMethods.cpp, THPStorage_new


@functools.wraps(torch.UntypedStorage.cpu)
def cpu(self: torch.UntypedStorage) -> torch.UntypedStorage:
    return to(self, device=CPU)


def is_shared(self: torch.UntypedStorage) -> bool:
    return device(self).type == "cuda" or _is_shared(self)  # torch/csrc/StorageSharing.cpp, THPStorage_isShared


@functools.wraps(_set)
def set_(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Tensor.set_, which adopts the memory of a storage or of a tensor: it must be where the tensor is."""
    if overridden(self):
        return _set(self, *args, **kwargs)
    source = args[0] if args else kwargs.get("source")
    if self.requires_grad and self.is_leaf and torch.is_grad_enabled():
        return _set(self, *args, **kwargs)  # PyTorch refuses this, as another dtype is
    fits = source.dtype is self.dtype if isinstance(source, torch.Tensor) else torch.is_storage(source)
    if source is not None and self.layout is torch.strided and fits:
        check_place(getattr(self, "_samedevice_device", CPU), source)
    return _set(self, *args, **kwargs)


def check_place(here: torch.device, source: Any) -> None:
    """native/Resize.h, checkSetStorage: what a tensor on this device is to hold has to be there."""
    storage = source._untyped_storage if isinstance(source, torch.TypedStorage) else source
    there = getattr(storage, "_samedevice_device", CPU)
    if here != there:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{here}" to a storage on different device "{there}".  '
            "This is no longer allowed; the devices must match."
        )
