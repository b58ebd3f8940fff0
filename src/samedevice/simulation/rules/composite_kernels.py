"""Kernels in front of the operators that PyTorch composes of others in C++, so that the simulation sees them begin.

Such an operator (CompositeImplicitAutograd in native_functions.yaml) never reaches a tensor's `__torch_dispatch__`:
only the operators inside do. While a simulation runs, the dispatcher holds a Python kernel for each that matters. It is
met however the operator is called: as a method, by a name bound earlier, from C++. It stands where autograd would, and
where vmap composes the operator; plain CPU tensors pass through it too. In inference mode nothing is composed above the
dispatcher: what is judged there is then composed by the same kernel.

A part of the simulation contributes by a function `kernels()` that yields (operator, kernel), the operator as
native_functions.yaml names it ("quantile.scalar"). A kernel is called as kernel(compose, *args, **kwargs), with the
operator's own arguments, those at their default left out; compose(*args, **kwargs) runs what was there before: the
kernel of an earlier part, at last PyTorch's own composition.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from samedevice.simulation.calls import Overload
from samedevice.simulation.kernels import registering

Kernel = Callable[..., Any]

# Factories that take tensors begin below autograd (torch/csrc/autograd/generated/variable_factories.h).
_FACTORIES = ("linspace", "logspace")

# Where vmap composes operators itself: functorch/BatchRulesDecompositions.cpp, the first for those that may draw.
_VMAP = ("FuncTorchVmapMode", "FuncTorchBatchedDecomposition")

# Composed functions that nested tensors have too; for the others PyTorch has compositions of their own.
_TAKE_NESTED = ("scaled_dot_product_attention",)

_kernels: dict[Any, Kernel] = {}


def start(contributions: Iterable[tuple[str, Kernel]]) -> None:
    """Put the kernels in place. Operators that this torch does not have, or does not compose, are passed over."""
    if not _kernels:  # the same for every simulation of this process
        for name, kernel in contributions:
            operator, composition = _composed(name)
            if composition is not None:
                _kernels[operator] = functools.partial(kernel, _kernels.get(operator, composition))
    with registering() as register:
        for operator, kernel in _kernels.items():
            for key in ("Python",) if operator._opname in _FACTORIES else ("AutogradCPU", "AutogradMeta"):
                register(operator.name(), key, kernel, False)
            if operator._opname in _TAKE_NESTED:
                register(operator.name(), "AutogradNestedTensor", kernel, False)
        for operator, key in _composed_by_vmap():
            register(operator.name(), key, _kernels[operator], False)


def add(contributions: Iterable[tuple[str, Kernel]]) -> None:
    """Put kernels in place that matter only from now on, since each costs at every call of its operator."""
    with registering() as register:
        for name, kernel in contributions:
            operator, composition = _composed(name)
            if composition is not None:
                for key in ("AutogradCPU", "AutogradMeta"):
                    register(operator.name(), key, functools.partial(kernel, composition), False)


def replace(kernels: Iterable[tuple[str, Kernel]], key: str) -> None:
    """Put kernels in the place of PyTorch's own at a dispatch key; each is called with the operator's arguments."""
    with registering() as register:
        for name, kernel in kernels:
            register(name, key, kernel, False)


def of(operator: Overload) -> Kernel | None:
    """The kernel in front of `operator`, if there is one."""
    return _kernels.get(operator)


@functools.cache
def _composed_by_vmap() -> list[tuple[Any, str]]:
    """The operators with a kernel here that vmap composes by itself, and the dispatch keys at which it does."""
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return [(operator, key) for operator in _kernels for key in _VMAP if has_kernel(operator.name(), key)]


@functools.cache
def _composed(name: str) -> tuple[Any, Kernel | None]:
    """The operator of this name, and PyTorch's composition of it, if there are any."""
    packet_name, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet_name, None), overload or "default", None)
    keys = torch._C.DispatchKey
    key = keys.CompositeExplicitAutograd if packet_name in _FACTORIES else keys.CompositeImplicitAutograd
    if operator is None or not operator.has_kernel_for_dispatch_key(key):
        return operator, None
    return operator, functools.partial(operator._op_dk, key)
