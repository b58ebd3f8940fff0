"""What a compiled function says of tensors on several devices: TorchDynamo's own error, not the operator's.

torch.compile runs each operator on fake tensors first, which have a device and no memory, and they refuse to meet. So
where a function runs eagerly and fails, TorchDynamo is asked what it says to the same call: of copies of the arguments
and of the module, whose tensors are fake ones on the devices of the simulated.

TorchDynamo reads programs only inside `tracing()`. tests/simulation/every_trace.py tries each way to trace and each
higher-order operator: a new one goes there.
"""

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.types import Device
from torch.utils._pytree import tree_leaves

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.device.devices import device_of, resolve
from samedevice.simulation.tensor import fake
from samedevice.simulation.tensor.classes import Twin

# After a call with other shapes TorchDynamo takes sizes for variables, and says the same in other words.
_AS_AT_FIRST = {"automatic_dynamic_shapes": False}


def refusal(function: Callable[..., Any], args: Arguments, kwargs: Keywords) -> Exception | None:
    """What TorchDynamo raises where it traces this call, or None where it raises nothing, or cannot follow."""
    from torch._dynamo import exc

    try:
        with torch.no_grad():
            read(function, args, kwargs, backend="eager")
    except (exc.TorchRuntimeError, exc.UncapturedHigherOrderOpError) as error:
        return error.with_traceback(None)
    except Exception:  # what cannot be copied, or not be traced
        return None
    return None


def read(function: Callable[..., Any], args: Arguments, kwargs: Keywords, **options: Any) -> None:
    """Let TorchDynamo read a call of a function, with copies of what is given to it, and run what it made of it."""
    from torch._dynamo import config, eval_frame

    with _Faked() as faked:
        function, args, kwargs = faked.copy(function), faked.copy(args), faked.copy(kwargs)
    with tracing(), config.patch(_AS_AT_FIRST):
        eval_frame.optimize(**options)(function)(*args, **kwargs)


def traced(args: Arguments, kwargs: Keywords) -> bool:
    """Whether each tensor of a call is fake, as where PyTorch traces it: TorchDynamo can compile that as on CUDA."""
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    return bool(tensors) and all(fake.is_fake(x) for x in tensors)


def explain(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch._dynamo.explain of a function that is called with tensors on simulated GPUs."""

    @functools.wraps(function)
    def explained(*args: Any, **kwargs: Any) -> Any:
        from torch._dynamo import eval_frame

        with _Faked() as faked:
            copied, args, kwargs = faked.copy(function), faked.copy(args), faked.copy(kwargs)
        with tracing(), faked.mode:  # what the function makes, when it then runs, is fake too
            return eval_frame.explain(copied)(*args, **kwargs)

    return explained


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Inside, functions are compiled, and torch is what it is without a simulation, but for fake tensors on its GPUs.

    TorchDynamo knows PyTorch's functions by their identity, and notes some for good.
    """
    from torch._dynamo import eval_frame
    from torch._dynamo.variables import builder

    def clone_input(value: Any, *args: Any) -> Any:
        """What torch._dynamo.export keeps of an input, to look values up in: it only reads it."""
        return value if isinstance(type(value), Twin) else clone(value, *args)

    session = state.now.session
    with contextlib.nullcontext() if session is None else session.lifted(), fake.alone():
        before, eval_frame._stance = eval_frame._stance, eval_frame.DynamoStance("default")
        FakeTensor.to, FakeTensor.cuda = _to, _cuda
        clone, builder._clone_input = builder._clone_input, clone_input
        try:
            yield
        finally:
            eval_frame._stance = before
            del FakeTensor.to, FakeTensor.cuda
            builder._clone_input = clone


def _to(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Tensor.to of a fake tensor: "cuda" is given its number, which PyTorch's C++ code would ask the GPU for."""
    args = tuple(_with_number(x) for x in args)
    return torch.Tensor.to(self, *args, **{name: _with_number(x) for name, x in kwargs.items()})


def _cuda(self: torch.Tensor, device: Device = None, non_blocking: bool = False, **kwargs: Any) -> torch.Tensor:
    return torch.Tensor.cuda(self, _with_number("cuda" if device is None else device), non_blocking, **kwargs)


def _with_number(argument: Any) -> Any:
    if type(argument) is int:
        return torch.device("cuda", argument)
    return resolve(argument) if argument in ("cuda", torch.device("cuda")) else argument


class _Faked(TorchFunctionMode):
    """Inside, copies of tensors are fake."""

    def __init__(self) -> None:
        super().__init__()
        self.mode = FakeTensorMode()
        self._memo: dict[int, Any] = {}

    def copy(self, value: Any) -> Any:
        """A deep copy, in which each tensor is a fake one on the same device."""
        holder = getattr(value, "__self__", value)
        leaves = holder.parameters() if isinstance(holder, torch.nn.Module) else tree_leaves(value)
        for parameter in leaves:
            if isinstance(parameter, torch.nn.Parameter):  # whose own __deepcopy__ asks no mode
                self._memo[id(parameter)] = torch.nn.Parameter(self._fake(parameter), requires_grad=False)
        return copy.deepcopy(value, self._memo)

    def _fake(self, tensor: torch.Tensor) -> torch.Tensor:
        with torch._C.DisableTorchFunction():
            shape = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
            fake: torch.Tensor = FakeTensor(self.mode, shape, device_of(tensor))
        return fake

    def __torch_function__(
        self, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None
    ) -> Any:
        if func != torch.Tensor.__deepcopy__:  # which a tensor on a simulated GPU has one in the place of
            return func(*args, **(kwargs or {}))
        tensor, memo = args
        if id(tensor) not in memo:
            memo[id(tensor)] = self._fake(tensor)
        return memo[id(tensor)]
