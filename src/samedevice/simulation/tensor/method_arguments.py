"""The order in which a method of torch.Tensor reads its arguments: subclasses come first, then the call is checked.

PyTorch's own method refuses, in its own words, what it does not take.
"""

import functools
from typing import Any

import torch

from samedevice.simulation.stand_ins import overridden
from samedevice.simulation.tensor.subclasses import as_subclass


def arguments_first(function: Any) -> Any:
    """Let PyTorch's own method refuse, in its own words, what it does not take."""
    original = getattr(torch.Tensor, function.__name__)

    @functools.wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if not _is_of_the_call(error):
                raise
        return original(*args, **kwargs)

    return method


def _is_of_the_call(error: TypeError) -> bool:
    """Whether the function that was called has not begun: its arguments are too many, too few or misnamed."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def subclasses_first(function: Any, original: Any = None) -> Any:
    """Ask a subclass with a __torch_function__ of its own first, as every method of torch.Tensor does.

    The function bears the name of the `original` unless that is given.
    """
    if original is None:
        original = getattr(torch.Tensor, function.__name__.rstrip("_"))

    @functools.wraps(original)
    def method(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not overridden(self):
            try:
                return function(self, *args, **kwargs)
            except TypeError as error:
                if not _is_of_the_call(error):
                    raise
            return original(self, *args, **kwargs)  # PyTorch refuses this
        if not torch.nn.parameter.is_lazy(self):
            if torch.overrides.has_torch_function_unary(self):
                tensors = (self, *(arg for arg in args if isinstance(arg, torch.Tensor) and overridden(arg)))
                called = getattr(torch.Tensor, original.__name__)
                return torch.overrides.handle_torch_function(called, tensors, self, *args, **kwargs)
            with torch._C.DisableTorchFunctionSubclass():  # after redispatch_function
                return function(self, *args, **kwargs)
        with torch._C.DisableTorchFunctionSubclass():  # it allows PyTorch's own functions only, this one not
            result = function(self, *args, **kwargs)
        return result if isinstance(self, torch.nn.Parameter) else as_subclass(result, type(self))

    return method
