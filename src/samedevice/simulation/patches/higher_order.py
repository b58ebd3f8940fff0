"""Higher-order operators, which take functions (torch.cond, flex_attention, map, scan): they compute here as on CUDA.

PyTorch compiles the call first and then looks for a rule of the tensor's class; a simulated tensor's has none. Here
the compiler only reads the call (read_first.py), unless all of its tensors are fake: then it compiles as ever. A tensor
on a GPU gets the kernel that CUDA's gets, which is written in Python: it calls the functions, whose operators come to
dispatch.py one by one. For the operators with a gradient, autograd looks on then. So it also meets the tensors that a
function has not been given but knows, which the compiler would have passed to it.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils._pytree import tree_flatten, tree_unflatten

from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.tensor.classes import Twin

_dispatch = HigherOrderOperator.dispatch
_PYTHON, _CUDA = torch._C.DispatchKey.Python, torch._C.DispatchKey.CUDA
_AUTOGRAD = torch._C._to_functionality_key(torch._C.DispatchKey.AutogradCPU)
_IN_FUNC = torch._C.DispatchKey.FuncTorchDynamicLayerFrontMode
_VMAP = torch._C._functorch.TransformType.Vmap

# Those whose kernel on CUDA calls the functions, with what they are given, one after the other.
_WITH_A_GRADIENT = ("cond", "map_impl", "scan", "while_loop", "associative_scan", "foreach_map", "flex_attention")


_Cond = type(torch.ops.higher_order.cond)
_cond = _Cond.__call__


def replacements() -> Iterator[tuple[object, str, object]]:
    yield HigherOrderOperator, "dispatch", dispatch
    yield _Cond, "__call__", cond


def _of_classes(args: Arguments, kwargs: Keywords) -> list[torch.Tensor]:
    """The tensors whose classes have a __torch_dispatch__, found as by HigherOrderOperator.dispatch (torch/_ops.py)."""
    given = [x for arg in (*args, *kwargs.values()) for x in (arg if isinstance(arg, (list, tuple)) else (arg,))]
    return [x for x in given if isinstance(x, torch.Tensor) and torch._C._dispatch_keys(x).has("Python")]


@functools.wraps(_dispatch)
def dispatch(self: Any, /, dispatch_key: Any, *args: Any, **kwargs: Any) -> Any:
    overloaded = _of_classes(args, kwargs)
    if _get_current_dispatch_mode() is not None or not all(isinstance(type(x), Twin) for x in overloaded):
        return _dispatch(self, dispatch_key, *args, **kwargs)
    if dispatch_key == _IN_FUNC and self.name() in _WITH_A_GRADIENT:
        if retrieve_current_functorch_interpreter().key() != _VMAP:
            return _with_gradient(self, args, kwargs)
        if self.name() == "cond":
            return _cond_in_vmap(self, *args)
    if torch._C._to_functionality_key(dispatch_key) == _AUTOGRAD and self.name() in _WITH_A_GRADIENT:
        return _with_gradient(self, args, kwargs)
    if dispatch_key == _PYTHON:
        dispatch_key = _CUDA
    return _in_the_form_of(self, args, _dispatch(self, dispatch_key, *args, **kwargs))


@functools.wraps(_cond)
def cond(self: Any, pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    """CondOp.__call__: the compiler takes operands out of dictionaries and lists, and its kernel knows of none."""
    if not any(isinstance(operand, list | tuple | dict) for operand in operands):
        return _cond(self, pred, true_fn, false_fn, operands)
    leaves, form = tree_flatten(operands)

    def with_leaves(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: function(*tree_unflatten(given, form))

    return _cond(self, pred, with_leaves(true_fn), with_leaves(false_fn), tuple(leaves))


def _in_the_form_of(operator: Overload, args: Arguments, result: Any) -> Any:
    """What the compiler makes of a kernel's list: associative_scan returns a tensor for a tensor, a dictionary for one.

    torch/_higher_order_ops/associative_scan.py hands the form to the function that it wraps.
    """
    form = getattr(args[0], "keywords", {}).get("spec") if operator.name() == "associative_scan" else None
    return result if form is None else tree_unflatten(result, form)


def _with_gradient(operator: Overload, args: Arguments, kwargs: Keywords) -> Any:
    """Compute as the operator's kernel does, while autograd looks on."""
    return _in_the_form_of(operator, args, _dispatch(operator, _CUDA, *args, **kwargs))


def _cond_in_vmap(operator: Overload, pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    """torch.cond under torch.vmap, whose rule takes functions as the compiler makes them: these return a tuple."""
    result = _dispatch(operator, _IN_FUNC, pred, _in_a_tuple(true_fn), _in_a_tuple(false_fn), operands)
    return result[0]


def _in_a_tuple(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: (function(*args),)
