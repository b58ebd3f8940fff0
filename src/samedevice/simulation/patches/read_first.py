"""A higher-order operator's functions are read before they run: torch.cond refuses a branch that it does not take.

PyTorch compiles each call of such an operator, in eager code too, and its compiler checks the functions: whether both
branches of a condition return the same kind of tensors on the same device, whether a function returns or changes what
it is given, and whether its tensors may meet. Here TorchDynamo reads copies of what is given (dynamo.py), once for each
kind of call, and the call itself runs eagerly (higher_order.py).
"""

import threading
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.device import devices, dispatch_modes
from samedevice.simulation.device.devices import device_of
from samedevice.simulation.patches import dynamo

_level = torch._C._functorch.peek_interpreter_stack

_TORCH = Path(torch.__file__).parent
# Where a higher-order operator's own checks are, and those of fake tensors, which know devices.
_CHECKS = tuple(
    str(_TORCH.joinpath(*path))
    for path in (("_higher_order_ops",), ("_dynamo", "variables", "higher_order_ops.py"), ("_subclasses",))
)
# What raises for others: unimplemented and torch._check.
_RAISING = str(_TORCH / "_dynamo" / "exc.py"), str(_TORCH / "__init__.py")


def refusal(function: Callable[..., Any], args: Arguments, kwargs: Keywords) -> Exception | None:
    """What PyTorch's compiler raises where it reads this call, or None."""
    if not devices.installed() or dispatch_modes.entered() or _level() is not None:
        return None  # what traces calls the functions with tensors of its own
    if threading.current_thread() is not threading.main_thread():
        return None  # TorchDynamo reads torch as it is without a simulation, and other threads would compute with that
    kind = torch.is_grad_enabled(), _kind(function), _kind(args), _kind(kwargs)
    if kind in state.now.read:
        return None
    said = reading(function, args, kwargs)
    if said is None:
        state.now.read.add(kind)
    return said


def reading(function: Callable[..., Any], args: Arguments, kwargs: Keywords) -> Exception | None:
    """What a check of TorchDynamo raises; what else it raises does not count.

    It may stop for other reasons here than on CUDA, since it reads where there is no GPU.
    """
    from torch._dynamo import exc

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the call itself is to come
            dynamo.read(function, args, kwargs, backend=_run_nothing, nopython=True)
    except (exc.TorchRuntimeError, exc.UncapturedHigherOrderOpError) as error:
        return error.with_traceback(None) if _is_a_check(error) else None
    except Exception:  # _run_nothing's, too
        return None
    return None


def _run_nothing(graph: Any, inputs: Any) -> Any:
    raise RuntimeError("read to the end")


def _is_a_check(error: BaseException) -> bool:
    """Whether a higher-order operator refuses its functions, or fake tensors refuse to meet."""
    from torch._dynamo.exc import UncapturedHigherOrderOpError

    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    if isinstance(error, UncapturedHigherOrderOpError):
        return True
    raised = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    while raised and raised[-1] in _RAISING:
        raised.pop()
    return bool(raised) and raised[-1].startswith(_CHECKS)


def _kind(value: Any) -> Any:
    """What the compiler would compile anew for, as something that can be hashed."""
    if isinstance(value, torch.Tensor):
        return type(value).__name__, tuple(value.shape), value.dtype, device_of(value), value.requires_grad
    if isinstance(value, torch.nn.Module):
        return type(value), value.training, *(_kind(x) for x in (*value.parameters(), *value.buffers()))
    if isinstance(value, FunctionType):
        return value.__code__, _kind(value.__defaults__), *(_kind(x) for x in _in_cells(value))
    if isinstance(value, MethodType):
        return _kind(value.__func__), _kind(value.__self__)
    if isinstance(value, partial):
        return _kind(value.func), _kind(value.args), _kind(value.keywords)
    if isinstance(value, dict):
        return tuple((_kind(name), _kind(item)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return type(value), *(_kind(item) for item in value)
    if isinstance(value, str | int | float | type | torch.device | torch.dtype | BuiltinFunctionType | CodeType):
        return value
    return type(value)


def _in_cells(function: FunctionType, deeper: bool = True) -> list[Any]:
    """What a function knows of those around it, and what the functions among that know, which may lead back to it."""
    found: list[Any] = []
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # it is still empty
            continue
        if not isinstance(content, FunctionType):
            found.append(content)
        else:
            found += [content.__code__, *(_in_cells(content, deeper=False) if deeper else ())]
    return found
