"""The device checks of autograd, which sees only CPU tensors here and so cannot make them itself."""

import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

from samedevice.simulation import placement
from samedevice.simulation.devices import device_of
from samedevice.simulation.moves import LEFT_BEHIND, move, type_
from samedevice.simulation.tensor import SimulatedTensor, mark

_grad = torch.Tensor.grad
_register_hook = torch.Tensor.register_hook
_engine_run_backward = torch.autograd._engine_run_backward
_apply = torch.autograd.Function.__dict__["apply"]
_backward = BackwardCFunction.apply


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    yield torch.Tensor, "grad", property(_get_grad, _set_grad, _grad.__delete__)
    yield torch.Tensor, "register_hook", register_hook
    yield torch.autograd, "_engine_run_backward", _run_backward
    yield torch.autograd.Function, "apply", classmethod(_apply_function)
    yield BackwardCFunction, "apply", _apply_backward


def _get_grad(self: torch.Tensor) -> torch.Tensor | None:
    gradient: torch.Tensor | None = _grad.__get__(self)
    if gradient is None:
        return None
    if type(self) is SimulatedTensor and type(gradient) is torch.Tensor and not hasattr(gradient, LEFT_BEHIND):
        gradient = mark(gradient, self.device)  # made in C++ by backward, on what it took for this device
        _grad.__set__(self, gradient)
    gradient._samedevice_owner = weakref.ref(self)  # moves.py puts it back when `x.grad.data = y` moves it
    return gradient


def _set_grad(self: torch.Tensor, gradient: torch.Tensor | None) -> None:
    """torch/csrc/autograd/python_variable.cpp, THPVariable_set_grad."""
    if isinstance(gradient, torch.Tensor) and gradient is not self:
        given, here = device_of(gradient), device_of(self)
        if given.type != here.type:
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{given.type}' to a tensor with device type "
                f"'{here.type}'. Please ensure that the gradient and the tensor are on the same device"
            )
        if given != here:
            # Printed as PyTorch prints it: an index is an int8, hence a character, and the first zero ends the text.
            text = (
                f"attempting to assign a gradient located on device with index '{chr(given.index)}' to a tensor "
                f"located on device with index '{chr(here.index)}'. Please ensure that the gradient and the tensor are "
                "on the same device"
            )
            raise RuntimeError(text.partition("\0")[0])
    _grad.__set__(self, gradient)


def _fit(gradient: Any, device: torch.device, index: int, function: str = "") -> Any:
    """torch/csrc/autograd/engine.cpp, validate_outputs: a 0-dim gradient is moved, another is refused."""
    if not isinstance(gradient, torch.Tensor) or device_of(gradient) == device:
        return gradient
    if gradient.dim() == 0:
        return move(gradient, device)
    raise RuntimeError(
        f"{function}invalid gradient at index {index} - expected device {device} but got {device_of(gradient)}"
    )


def _run_backward(outputs: Any, gradients: Any, *args: Any, **kwargs: Any) -> Any:
    fitted = tuple(
        _fit(gradient, device_of(output), index) if isinstance(output, torch.Tensor) else gradient
        for index, (output, gradient) in enumerate(zip(outputs, gradients, strict=True))
    )
    with placement.composing():
        results = _engine_run_backward(outputs, fitted, *args, **kwargs)
    if not results:
        return results  # of Tensor.backward
    return tuple(
        gradient if gradient is None else move(gradient, device_of(tensor))
        for gradient, tensor in zip(results, args[2], strict=True)
    )


def _apply_function(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Function.apply, which also notes where its inputs were: the backward of the same call is held to it."""
    result = _apply.__get__(None, cls)(*args, **kwargs)
    for output in result if isinstance(result, tuple) else (result,):
        node = output.grad_fn if isinstance(output, torch.Tensor) else None
        if isinstance(node, BackwardCFunction):
            node._samedevice_inputs = [device_of(x) if isinstance(x, torch.Tensor) else None for x in args]
            break
    return result


def _apply_backward(self: Any, *gradients: Any) -> Any:
    result = _backward(self, *gradients)
    inputs = getattr(self, "_samedevice_inputs", None)
    if inputs is None:
        return result
    single = not isinstance(result, tuple)
    given = (result,) if single else result
    tensors = -1
    fitted = []
    for gradient, device in zip(given, inputs, strict=False):
        tensors += device is not None
        if device is not None:
            gradient = _fit(gradient, device, tensors, f"Function {self.name()} returned an ")
        fitted.append(gradient)
    fitted.extend(given[len(fitted) :])
    return fitted[0] if single else tuple(fitted)


def register_hook(self: torch.Tensor, hook: Any) -> Any:
    """Tensor.register_hook; what the hook returns must stay where it was (autograd/custom_function.cpp)."""

    def checked(gradient: torch.Tensor) -> Any:
        result = hook(gradient)
        if isinstance(result, torch.Tensor) and device_of(result).type != device_of(gradient).type:
            raise RuntimeError(
                f"hook '{getattr(hook, '__name__', hook)}' has changed the type of value "
                f"(was {type_(gradient)} got {type_(result)})"
            )
        return result

    return _register_hook(self, checked)
