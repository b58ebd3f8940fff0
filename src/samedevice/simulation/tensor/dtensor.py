"""DTensors and what collectives bring, whose parts are on simulated GPUs: they say so too.

C++ makes these wrappers, and reads the device of their part, which is the CPU there. What a functional collective
returns is an AsyncCollectiveTensor, which waits when somebody computes with it. PyTorch imports these classes at the
first operator on a simulated tensor, often after the simulation began; `started_later` then says what to replace.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device.devices import CPU, device_of

# The classes: the module where one is found, its name, and what it calls its part.
_WRAPPERS = (
    ("torch.distributed.tensor", "DTensor", "_local_tensor"),
    ("torch.distributed._functional_collectives", "AsyncCollectiveTensor", "elem"),
)


def replacements() -> Iterator[tuple[object, str, object]]:
    for module, name, part in _WRAPPERS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None:
            yield kind, "device", property(_asking(part, lambda device: device))
            yield kind, "is_cuda", property(_asking(part, lambda device: device.type == "cuda"))
            yield kind, "is_cpu", property(_asking(part, lambda device: device is CPU))
            yield kind, "get_device", _asking(part, lambda device: -1 if device.index is None else device.index)


def started_later() -> None:
    """Replace what is there now, and was not when the simulation began."""
    if state.now.session is not None:
        state.now.session.replace(replacements())


def is_one(kind: type) -> bool:
    """Whether this is one of these classes."""
    return kind.__name__ in ("DTensor", "AsyncCollectiveTensor") and kind.__module__.startswith("torch.distributed.")


def _asking(part: str, question: Callable[[torch.device], Any]) -> Callable[[Any], Any]:
    """What answers a question about the device of a wrapper's part."""
    return lambda self: question(device_of(getattr(self, part)))
