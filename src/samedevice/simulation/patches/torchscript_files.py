"""TorchScript's modules that are loaded from a file: their tensors go to simulated GPUs, and their code runs there.

TorchScript's interpreter calls operators in C++, and so comes to a simulated tensor as any code does. What is below a
module is C++ too: it holds a tensor itself, so one that takes another's place has to be put into it.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from samedevice.simulation import state
from samedevice.simulation.device.devices import CPU, resolve
from samedevice.simulation.tensor.moving import move
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_apply = torch.jit.RecursiveScriptModule._apply
# What is left of an error of Python's that passes through the interpreter.
_WITHOUT_TEXT = "\nRuntimeError: \n"


def replacements() -> Iterator[tuple[object, str, object]]:
    for name in ("import_ir_module", "import_ir_module_from_buffer"):
        yield torch._C, name, _importing(getattr(torch._C, name))
    yield torch.jit.RecursiveScriptModule, "_apply", apply
    yield torch._C.ScriptMethod, "__call__", _calling(torch._C.ScriptMethod.__call__)


def _importing(original: Any) -> Callable[..., Any]:
    """A function of torch/csrc/jit/python/script_init.cpp that reads a module, as torch.jit.load does."""

    @functools.wraps(original)
    def read(unit: Any, file: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if getattr(map_location, "type", None) != "cuda":
            return original(unit, file, map_location, *args, **kwargs)
        home = resolve(map_location)
        module = original(unit, file, CPU, *args, **kwargs)
        _place(module, home)
        return module

    return read


def _place(module: Any, home: torch.device) -> None:
    """Put the tensors of a module, and of those in it, on a GPU."""
    for name, tensor in _tensors(module):
        with torch.no_grad():
            moved = move(tensor.detach(), home).requires_grad_(tensor.requires_grad)
        module.setattr(name, moved)
    for _, inner in torch._C.ModuleDict(module).items():
        _place(inner, home)


def _tensors(module: Any) -> list[tuple[str, torch.Tensor]]:
    return [*torch._C.ParameterDict(module).items(), *torch._C.BufferDict(module).items()]


@functools.wraps(_apply)
def apply(self: Any, fn: Any, recurse: bool = True) -> Any:
    """Module._apply, by which modules move: a parameter that has moved is another tensor in C++."""
    parameters = torch._C.ParameterDict(self._c).items()
    before = [isinstance(parameter, SimulatedTensor) for _, parameter in parameters]
    result = _apply(self, fn, recurse)
    for (name, parameter), was_simulated in zip(parameters, before, strict=True):
        if isinstance(parameter, SimulatedTensor) != was_simulated:
            self._c.setattr(name, parameter)
    return result


def _calling(original: Any) -> Callable[..., Any]:
    """ScriptMethod.__call__, which PyTorch's own tests may have wrapped."""

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a method; an error about devices that the interpreter meets ends with its text, as one of C++ does."""
        state.now.refusal = None
        try:
            return original(self, *args, **kwargs)
        except RuntimeError as error:
            if state.now.refusal is None or not str(error).endswith(_WITHOUT_TEXT):
                raise
            text, said = str(error).removesuffix("\n"), state.now.refusal
        _refuse(text, said)

    return call


def _refuse(text: str, said: str) -> NoReturn:
    raise RuntimeError(f"{text}{said}\n")
