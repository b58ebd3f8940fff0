"""PyTorch's functions that others take the place of: a program compares, pickles and overrides them as it did before.

A class overrides functions by `__torch_function__`, a TorchFunctionMode too. Both are told which function was called,
and compare it, or look it up in a table of their own, which they may have filled before the simulation began. So each
function that takes the place of one of PyTorch's C functions equals it, and is looked for where that is.

What overrides a function is asked before anything else happens, as in PyTorch (`overridden`): PyTorch's own function
asks it, and may call back, with nothing to override any more. So what stands in for a method or a function that
`__torch_function__` overrides begins with `if overridden(self): return original(...)`, before it reads anything of the
tensor (tests/simulation/test_cpu_programs.py compares what classes and modes are told). PyTorch's name, signature and
documentation come by themselves; what torch._dynamo knows needs the signature, or `functools.wraps` of the original.
"""

import functools
import inspect
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch

ABSENT: Any = object()  # put in place of an attribute of a class or module: it has none of its own

modes_are_asked = torch._C._is_torch_function_mode_enabled
_classes_are_asked = torch._C._is_torch_function_enabled
_asks_nothing = torch._C._disabled_torch_function_impl


def overridden(argument: Any) -> bool:
    """Whether a mode, or the class of this argument, overrides PyTorch's functions.

    torch.overrides.has_torch_function answers no once after `redispatch_function`, and would be asked too early here:
    that answer is for PyTorch's own function, which computes then.
    """
    kind = type(argument)
    if kind is torch.Tensor or kind is _simulated or kind is torch.nn.Parameter:
        return bool(modes_are_asked())
    asks = getattr(kind, "__torch_function__", _asks_nothing) is not _asks_nothing
    return bool(modes_are_asked() or (asks and _classes_are_asked()))


_simulated: Any = None


def register(simulated: type) -> None:
    """Note the class of simulated tensors, which overrides nothing, so that it is known at once."""
    global _simulated
    _simulated = simulated


class StandIn(functools.partial[Any]):
    """A function in the place of one of PyTorch's C functions, which it equals.

    A `partial`, because that is called as fast as a function is.
    """

    __wrapped__: Any
    __qualname__: str

    def __eq__(self, other: object) -> bool:
        return self is other or self.__wrapped__ is other

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> Any:
        return self.__qualname__


_stand_ins: dict[Any, StandIn] = {}  # the last of each of PyTorch's functions, which outlives a simulation


def stand_in(original: Any, function: Any) -> StandIn:
    """One for each, in every simulation; a function that a simulation makes anew takes the place of the earlier one."""
    partial = _stand_ins.get(original)
    if partial is None or partial.func is not function:
        partial = _stand_ins[original] = StandIn(function)
        functools.update_wrapper(partial, original)
    return partial


def in_place_of(owner: Any, name: str, original: Any, replacement: Any) -> Any:
    """The replacement for `owner.name` as programs are to see it; pickle finds it by its module and name."""
    if isinstance(owner, type):
        if original is None:  # inherited, or none at all
            original = inspect.getattr_static(owner, name, None)
        return _member(owner, name, original, replacement)
    if owner is torch._C and name.startswith("_accelerator_") and isinstance(original, BuiltinFunctionType):
        return _read_by_pybind(original, replacement)
    if owner in (torch, torch.fft) and isinstance(original, BuiltinFunctionType):
        replacement = stand_in(original, replacement)
        replacement.__module__, replacement.__qualname__ = owner.__name__, name
    return replacement


def _read_by_pybind(original: Any, replacement: Any) -> Any:
    """The replacement for a function of torch.accelerator, whose arguments pybind11 refuses in its words.

    PyTorch's own reads them before it looks for an accelerator.
    """

    def function(*args: Any) -> Any:
        try:
            return replacement(*args)
        except TypeError as error:
            try:
                original(*args)
            except TypeError as refused:
                raise refused.with_traceback(None) from None
            except RuntimeError:  # it found nothing to refuse, and no accelerator
                pass
            raise error

    return function


def _member(owner: type, name: str, original: Any, replacement: Any) -> Any:
    """The replacement for an attribute of a class, with the name, the signature and the documentation of PyTorch's."""
    if isinstance(replacement, property):
        doc = replacement.__doc__ if original is None else original.__doc__
        # What cannot be written or deleted, PyTorch's own refuses in its words.
        setter = replacement.fset or getattr(original, "__set__", None)
        return property(replacement.fget, setter, replacement.fdel or getattr(original, "__delete__", None), doc)
    if isinstance(replacement, (staticmethod, classmethod)):
        original = getattr(original, "__func__", original)
        return type(replacement)(_member(owner, name, original, replacement.__func__))
    if isinstance(replacement, FunctionType) and callable(original):
        if not hasattr(replacement, "__wrapped__"):
            # A copy: some take the place of several. One that wraps already may be looked for by its identity.
            own = replacement
            replacement = FunctionType(own.__code__, own.__globals__, name, own.__defaults__, own.__closure__)
            replacement.__kwdefaults__ = own.__kwdefaults__
            functools.update_wrapper(replacement, original)
        replacement.__name__ = getattr(original, "__name__", name)  # of a wrapper, its own
        replacement.__module__ = owner.__module__
        replacement.__qualname__ = f"{owner.__qualname__}.{name}"
    return replacement
