"""What PyTorch computes in one go below the key, where nobody could see a difference: numbers read, elements written.

`x.item()` and `x[0] = y` are operators or several, each of which comes to dispatch.py, although none of them could be
refused. So they are called below the key as one (Note [Below the key] in dispatch.py), unless something watches
operators, or a tensor needs more work (Note [Latches] in wrapping.py). Where that raises, the program's call is made
once more in the usual way, which says what CUDA says.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad

from samedevice.simulation import state
from samedevice.simulation.stand_ins import modes_are_asked
from samedevice.simulation.tensor.wrapping import call_below

_transforms_are_active = torch._C._are_functorch_transforms_active
_how_many_modes = torch._C._len_torch_dispatch_stack
_NOTHING: dict[str, Any] = {}


def nobody_watches(now: state.State) -> bool:
    """Whether operators of this thread have no observer, and only usual tensors were met."""
    return not (
        now.met_unusual
        or now.before_operators
        or now.on_copy
        or forward_ad._current_level >= 0
        or modes_are_asked()
        or _how_many_modes()
        or _transforms_are_active()
    )


def reading(name: str) -> Callable[[Any], Any]:
    """The method of torch.Tensor of this name, which makes a number of a tensor."""
    original = getattr(torch.Tensor, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any) -> Any:
        now = state.now
        if not args and self._samedevice_device in now.present and nobody_watches(now):
            try:
                return call_below(original, (), (self,), _NOTHING)
            except RuntimeError:  # of several elements
                pass
        return original(self, *args)

    return method
