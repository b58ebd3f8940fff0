"""Storages that know which simulated GPU they are on: what torch.save, torch.load, deepcopy and pickle look at.

With these few answers torch's own serialization does the rest: files hold the location "cuda:0", map_location works,
and loading such a file outside the simulation raises PyTorch's own error.
"""

from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation.devices import CPU, resolve

_device = torch.UntypedStorage.device


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    yield torch.UntypedStorage, "device", property(device)
    yield torch.UntypedStorage, "is_cuda", property(lambda self: device(self).type == "cuda")
    yield torch.UntypedStorage, "to", to
    yield torch.UntypedStorage, "cuda", cuda
    yield torch.UntypedStorage, "cpu", cpu
    yield torch.UntypedStorage, "clone", clone


def device(self: torch.UntypedStorage) -> torch.device:
    here: torch.device = self.__dict__.get("_samedevice_device") or _device.__get__(self)
    return here


def to(self: torch.UntypedStorage, *, device: Any, non_blocking: bool = False) -> torch.UntypedStorage:
    target = resolve(device)
    if target == self.device:
        return self
    return _copy(self, target)


def _copy(self: torch.UntypedStorage, target: torch.device) -> torch.UntypedStorage:
    copy = torch.UntypedStorage(self.nbytes(), device="cpu" if target.type == "cuda" else target)
    copy.copy_(self)
    if target.type == "cuda":
        copy._samedevice_device = target
    return copy


def clone(self: torch.UntypedStorage) -> torch.UntypedStorage:
    return _copy(self, device(self))


def cuda(self: torch.UntypedStorage, device: Any = None, non_blocking: bool = False) -> torch.UntypedStorage:
    return to(self, device="cuda" if device is None else device)


def cpu(self: torch.UntypedStorage) -> torch.UntypedStorage:
    return to(self, device=CPU)
