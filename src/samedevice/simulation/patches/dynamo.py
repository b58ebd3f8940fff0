"""What a compiled function says of tensors on several devices: TorchDynamo's own error, not the operator's.

torch.compile runs each operator on fake tensors first, which have a device and no memory, and they refuse to meet. So
where a function runs eagerly and fails, TorchDynamo is asked what it says to the same call: of copies of the arguments
and of the module, whose tensors are fake ones on the devices of the simulated.
"""

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from samedevice.simulation import state
from samedevice.simulation.device.devices import device_of


def refusal(function: Callable[..., Any], args: Any, kwargs: Any) -> Exception | None:
    """What TorchDynamo raises where it traces this call, or None where it raises nothing, or cannot follow."""
    from torch._dynamo import eval_frame, exc

    try:
        with _Faked() as faked:
            function, args, kwargs = faked.copy(function), faked.copy(args), faked.copy(kwargs)
        with _without_simulation(), _compiling(eval_frame), torch.no_grad():
            eval_frame.optimize(backend="eager")(function)(*args, **kwargs)
    except exc.TorchRuntimeError as error:
        return error.with_traceback(None)
    except Exception:  # what cannot be copied, or not be traced
        return None
    return None


def _without_simulation() -> contextlib.AbstractContextManager[None]:
    """Return a context in which torch is what it is without a simulation.

    TorchDynamo knows PyTorch's functions by their identity, and notes some for good.
    """
    session = state.now.session
    return contextlib.nullcontext() if session is None else session.lifted()


@contextlib.contextmanager
def _compiling(eval_frame: Any) -> Iterator[None]:
    """Inside, functions are compiled, which a simulation switches off."""
    before, eval_frame._stance = eval_frame._stance, eval_frame.DynamoStance("default")
    try:
        yield
    finally:
        eval_frame._stance = before


class _Faked(TorchFunctionMode):
    """Inside, copies of tensors are fake."""

    def __init__(self) -> None:
        super().__init__()
        from torch._subclasses.fake_tensor import FakeTensorMode

        self._mode = FakeTensorMode()
        self._memo: dict[int, Any] = {}

    def copy(self, value: Any) -> Any:
        """A deep copy, in which each tensor is a fake one on the same device."""
        module = getattr(value, "__self__", value)
        if isinstance(module, torch.nn.Module):
            for parameter in module.parameters():  # whose own __deepcopy__ asks no mode
                self._memo[id(parameter)] = torch.nn.Parameter(self._fake(parameter), requires_grad=False)
        return copy.deepcopy(value, self._memo)

    def _fake(self, tensor: torch.Tensor) -> torch.Tensor:
        from torch._subclasses.fake_tensor import FakeTensor

        with torch._C.DisableTorchFunction():
            shape = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
            fake: torch.Tensor = FakeTensor(self._mode, shape, device_of(tensor))
        return fake

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not torch.Tensor.__deepcopy__:
            return func(*args, **(kwargs or {}))
        tensor, memo = args
        if id(tensor) not in memo:
            memo[id(tensor)] = self._fake(tensor)
        return memo[id(tensor)]
