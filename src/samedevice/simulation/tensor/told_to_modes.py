"""What SimulatedTensor does in the place of PyTorch's own methods, told to a TorchFunctionMode as these are.

A mode hears of `x.device` and `x.tolist()` as one call each, and may call back what it was given. It is
given a function that equals PyTorch's, so that it can look it up, and that does what the simulation does. So each
method in the place of one of PyTorch's C functions is decorated with `told`.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch

# Takes the innermost mode away while it is asked, as PyTorch does.
from torch.overrides import _pop_mode_temporarily

from samedevice.simulation.stand_ins import StandIn, modes_are_asked
from samedevice.simulation.tensor.classes import original_of


def told(method: Any) -> Any:
    """A method in the place of the one of torch.Tensor of the same name."""
    return _told(method, getattr(torch.Tensor, method.__name__))


def told_getter(name: str) -> Callable[[Any], Any]:
    """What asks a mode for the attribute of this name; the tensor's own class answers the mode."""
    return _told(lambda self: getattr(self, name), getattr(torch.Tensor, name).__get__)


def told_without_class(method: Any) -> Any:
    """Do what `told` does for a method whose arguments C++ reads: it names only classes that override functions."""
    return _told(method, getattr(torch.Tensor, method.__name__), names_class=False)


def _told(function: Callable[..., Any], original: Any, names_class: bool = True) -> Any:
    shown = StandIn(function)
    functools.update_wrapper(shown, original)

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not modes_are_asked():
            return function(self, *args, **kwargs)
        with _pop_mode_temporarily() as mode:
            types = (original_of(type(self)),) if names_class else ()
            result = mode.__torch_function__(shown, types, (self, *args), kwargs)
        if result is NotImplemented:
            raise TypeError(
                f"Multiple dispatch failed for 'torch.Tensor.{original.__name__}'; all __torch_function__ handlers "
                f"returned NotImplemented:\n\n  - mode object {mode}\n\nFor more information, try re-running with "
                "TORCH_LOGS=not_implemented"
            )
        return result

    return method
