"""What a TorchDispatchMode is given, and so DebugMode and FlopCounterMode: what it would be given on CUDA.

C++ takes a simulated tensor for one on the CPU, of a class that dispatches operators itself; so a mode would be told
(torch/csrc/utils/python_arg_parser.cpp, handle_torch_function_no_python_arg_parser). While a mode is on, its
__torch_dispatch__ is called through `_dispatch`. Modes of PyTorch's own infrastructure (is_infra_mode) are left alone.
"""

from collections.abc import Iterator
from types import MethodType
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.device import dispatch_modes, in_backward
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import judgement
from samedevice.simulation.tensor.classes import Twin, as_on_cuda, is_of_program
from samedevice.simulation.tensor.dispatching_classes import as_on_gpu

_enter = TorchDispatchMode.__enter__
_exit = TorchDispatchMode.__exit__


def replacements() -> Iterator[tuple[object, str, object]]:
    yield TorchDispatchMode, "__enter__", enter
    yield TorchDispatchMode, "__exit__", exit_


def enter(self: Any) -> Any:
    """TorchDispatchMode.__enter__: from now on the mode is called through `_dispatch`."""
    if "__torch_dispatch__" not in vars(self) and not self.is_infra_mode():
        vars(self)["__torch_dispatch__"] = MethodType(_dispatch, self)
        self._samedevice_entered = 0
    if hasattr(self, "_samedevice_entered"):
        self._samedevice_entered += 1
    dispatch_modes.enter()
    return _enter(self)


def exit_(self: Any, *exception: Any) -> None:
    """TorchDispatchMode.__exit__."""
    dispatch_modes.leave()
    _exit(self, *exception)
    if hasattr(self, "_samedevice_entered"):
        self._samedevice_entered -= 1
        if not self._samedevice_entered:
            del self._samedevice_entered, vars(self)["__torch_dispatch__"]


def _dispatch(mode: Any, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
    """What a mode is given: C++ takes a tensor on a GPU for one on the CPU, of a class that dispatches operators."""
    kwargs = kwargs or {}
    tensors = judgement.tensors_of(args, kwargs)
    home = next((device_of(x) for x in tensors if isinstance(type(x), Twin) or is_of_program(type(x))), None)
    del tensors  # it would hold the last one
    if home is not None and not dispatch_modes.asked():
        args, kwargs = as_on_gpu(home, args, kwargs)
    with in_backward.running(home or CPU):
        return type(mode).__torch_dispatch__(mode, func, as_on_cuda(types), args, kwargs)
