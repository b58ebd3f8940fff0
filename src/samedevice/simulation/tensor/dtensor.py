"""DTensors whose parts are on simulated GPUs: they say so too, and what others send is waited for at once.

C++ makes a DTensor, and reads the device of its part, which is the CPU there. What a collective brings a DTensor is an
AsyncCollectiveTensor, which waits when somebody computes with it; here, as where PyTorch traces, it has been waited
for. PyTorch imports these classes at the first operator on a simulated tensor, often after the simulation began;
`started_later` then says what to replace.
"""

import functools
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
    collectives = sys.modules.get("torch.distributed._functional_collectives")
    if collectives is not None:
        yield collectives, "_maybe_wrap_tensor", _waited_for(collectives._maybe_wrap_tensor)


def started_later() -> None:
    """Replace what is there now, and was not when the simulation began."""
    if state.now.session is not None:
        state.now.session.replace(replacements())


def is_dtensor(kind: type) -> bool:
    """Whether this is PyTorch's class of tensors that are distributed over a mesh of devices."""
    return kind.__name__ == "DTensor" and kind.__module__.startswith("torch.distributed.")


def _device(self: Any) -> torch.device:
    return device_of(self._local_tensor)


def _waited_for(wrap: Any) -> Any:
    @functools.wraps(wrap)
    def maybe_wrap_tensor(self: torch.Tensor) -> torch.Tensor:
        if device_of(self).type == "cuda":
            return torch.ops._c10d_functional.wait_tensor(self)
        return wrap(self)

    return maybe_wrap_tensor
