"""DTensors whose parts are on simulated GPUs: they say so too.

C++ makes a DTensor, and reads the device of its part, which is the CPU there. PyTorch imports the class at the first
operator on a simulated tensor, often after the simulation began; `started_later` then says what to replace.
"""

import sys
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device.devices import CPU, device_of


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    module = sys.modules.get("torch.distributed.tensor")
    if module is not None:
        yield module.DTensor, "device", property(_device)
        yield module.DTensor, "is_cuda", property(lambda self: _device(self).type == "cuda")
        yield module.DTensor, "is_cpu", property(lambda self: _device(self) is CPU)
        yield module.DTensor, "get_device", lambda self: -1 if (index := _device(self).index) is None else index


def started_later() -> None:
    """Replace what is there now, and was not when the simulation began."""
    if state.now.session is not None:
        state.now.session.replace(replacements())


def _device(self: Any) -> torch.device:
    return device_of(self._local_tensor)
