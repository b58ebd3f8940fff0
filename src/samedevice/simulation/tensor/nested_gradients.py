"""Nested tensors of the strided layout that have a gradient on CUDA: a simulated one says so, and has no history.

Autograd asks what it notes for the size, which no nested tensor has with the Python dispatch key
(torch/csrc/autograd/input_metadata.cpp), and then the process ends. So a kernel stands where autograd would, in front
of each operator that nested tensors have. It computes without a history, and what is nested claims a gradient. A
gradient has to leave a nested tensor through a dense one, whose history ends there: backward is refused.
"""

import functools
from typing import Any, NoReturn

import torch
from torch.utils._pytree import tree_map_only

from samedevice.simulation.calls import Overload
from samedevice.simulation.kernels import registering
from samedevice.simulation.rules import judgement
from samedevice.simulation.tensor.classes import Twin, assign
from samedevice.simulation.tensor.dispatch import NO_GRADIENTS_OF_NESTED
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_KEY = "AutogradNestedTensor"
_OF_THEIR_OWN = (_KEY, "CompositeImplicitAutograd")  # other tensors are composed there
_ALONE = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradNestedTensor)


class _Claiming(SimulatedTensor, metaclass=Twin):
    """A nested tensor that requires a gradient."""

    original, knows = torch.Tensor, torch.Tensor.__instancecheck__
    __torch_function__ = torch._C._disabled_torch_function_impl
    requires_grad = True
    is_leaf = False


class _Refused(torch.autograd.Function):
    """What was taken out of a nested tensor: its gradient could not go on from here."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        return tensor.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        _refuse(*gradients)


def _refuse(gradient: torch.Tensor) -> NoReturn:
    raise NotImplementedError(NO_GRADIENTS_OF_NESTED)


for _name, _value in (("__name__", "Tensor"), ("__qualname__", "Tensor"), ("__module__", "torch")):
    type.__setattr__(_Claiming, _name, _value)  # of this class itself, and not of torch.Tensor


def start() -> None:
    """Put the kernels in place, in front of PyTorch's own, before the first nested tensor on a GPU is made."""
    with registering() as register:
        for operator, kernel in _kernels():
            register(operator.name(), _KEY, kernel, True)


def claimed(tensor: torch.Tensor, is_leaf: bool = False) -> torch.Tensor:
    """A tensor that has a gradient on CUDA: a nested one on a GPU claims it, any other refuses it when it comes."""
    if not tensor.is_nested:
        refusing: torch.Tensor = _Refused.apply(tensor, torch.ones((), device="cpu", requires_grad=True))
        return refusing
    if not isinstance(tensor, SimulatedTensor):  # on the CPU, where autograd knows nested tensors; no Function does
        tensor.requires_grad_().register_hook(_refuse)
        return tensor
    assign(tensor, _Claiming)
    if is_leaf:
        tensor.is_leaf = True
    return tensor


@functools.cache
def _kernels() -> list[tuple[Any, Any]]:
    has_kernel, names = torch._C._dispatch_has_kernel_for_dispatch_key, torch._C._dispatch_get_all_op_names()
    nested = [name for name in names if name.startswith("aten::") and has_kernel(name, "NestedTensorCPU")]
    parts = (name.removeprefix("aten::").partition(".") for name in nested if name != "aten::detach")
    operators = [getattr(getattr(torch.ops.aten, packet), overload or "default") for packet, _, overload in parts]
    return [(operator, functools.partial(_compute, operator, _before(operator))) for operator in operators]


def _before(operator: Overload) -> Any:
    """What autograd does by itself: some operators have a kernel there for nested tensors, the others one for all.

    That one is called by way of the dispatcher, which takes a number in a tensor's place.
    """
    if any(torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), key) for key in _OF_THEIR_OWN):
        return torch.library.get_kernel(operator, _KEY).call_boxed

    def as_for_all(keys: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_ALONE):
            return operator(*args, **kwargs)

    return as_for_all


def _compute(operator: Overload, before: Any, keys: Any, *args: Any, **kwargs: Any) -> Any:
    if not torch.is_grad_enabled() or not _needs_gradient(list(judgement.tensors_of(args, kwargs))):
        return before(keys, *args, **kwargs)
    with torch.no_grad():
        result = operator(*args, **kwargs)
    if not operator._opname.endswith("_like"):
        return tree_map_only(torch.Tensor, _claimed, result)
    return result


def _claimed(made: torch.Tensor) -> torch.Tensor:
    return claimed(made) if made.is_floating_point() or made.is_complex() else made


def _needs_gradient(tensors: list[torch.Tensor]) -> bool:
    is_simulated = any(isinstance(x, SimulatedTensor) and x.is_nested for x in tensors)
    return is_simulated and any(x.requires_grad for x in tensors)
