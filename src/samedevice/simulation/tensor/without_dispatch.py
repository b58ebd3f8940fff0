"""torch._C._DisableTorchDispatch as programs use it: a class switches its own __torch_dispatch__ off, and computes.

PyTorch's guard switches the Python key off, and with it the simulation, for which a tensor on a GPU would be one on the
CPU. So the program's guard is a mode, to which each operator comes before all other modes and classes. With an operator
on no simulated tensor, it does what PyTorch's guard does. PyTorch's own code gets PyTorch's guard, and so does ours.
"""

import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.class_stand_ins import Face, face
from samedevice.simulation.rules import judgement
from samedevice.simulation.tensor import classes, dispatch
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import below

_length = torch._C._len_torch_dispatch_stack
_push, _pop = torch._C._push_on_torch_dispatch_stack, torch._C._pop_torch_dispatch_stack


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch._C, "_DisableTorchDispatch", face(_GuardType, below)


class _GuardType(Face):
    def __call__(self, *args: Any) -> Any:
        asks = sys._getframe(1).f_globals.get("__name__", "")
        return below(*args) if args or asks.partition(".")[0] in ("torch", "samedevice") else _Guard()


class _Guard:
    """Holds from when it is made until it is deleted, or until the end of its `with` block."""

    def __init__(self) -> None:
        self._mode: Any = _Below()
        _push(self._mode)

    def __enter__(self) -> "_Guard":
        return self

    def __exit__(self, *exception: object) -> None:
        self.__del__()

    def __del__(self) -> None:
        mode, self._mode = self._mode, None
        above: list[Any] = []
        while mode is not None and _length():
            last = _pop(None)
            if last is mode:
                break
            above.append(last)
        for other in reversed(above):
            _push(other)


class _Below(TorchDispatchMode):
    def __torch_dispatch__(
        self, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None
    ) -> Any:
        if any(isinstance(x, SimulatedTensor) for x in judgement.tensors_of(args, kwargs or {})):
            return dispatch.dispatch(classes.simulated, func, (), args, kwargs)
        with below():
            return func(*args, **(kwargs or {}))
