"""Operators whose derivatives compute with a number on the CPU that joined a GPU's tensor, and so may be refused.

Most operators let a CPU tensor of no dimensions join. Autograd saves it, and a few formulas make a mask of it, which is
on the CPU too and which their next operator refuses (torch/csrc/autograd/FunctionsManual.cpp, pow_backward_exponent and
copysign_tensor_self_backward). C++ alone holds the mask, so it would be taken for a tensor that C++ made on the GPU
(Note [Made inside]). That is why a kernel in front of these operators has autograd save the number as one of the
program's (ownership.py). Such a number is always the first argument: as the second one it is computed with on the GPU.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch.autograd.function import _SingleLevelFunction

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.kernels import registering
from samedevice.simulation.tensor.ownership import is_plain, owned
from samedevice.simulation.tensor.wrapping import wrap

_KEY = "AutogradCPU"
_OPERATORS = (torch.ops.aten.pow.Tensor_Tensor, torch.ops.aten.copysign.Tensor)

# PyTorch's own kernels, looked up before others stand in front of them
_kernels = [(operator, torch.library.get_kernel(operator, _KEY).call_boxed) for operator in _OPERATORS]


def start() -> None:
    """Put the kernels in place."""
    with registering() as register:
        for operator, kernel in _kernels:
            register(operator.name(), _KEY, _saving(kernel), True)


def _saving(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, which saves a number on the CPU as one of the program's."""

    def compute(keys: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
        if first.dim() == 0 and device_of(second).type == "cuda" and is_plain(first):
            first = _owned(first)
        return kernel(keys, first, second)

    return compute


def _owned(number: torch.Tensor) -> Any:
    """`owned`, also where torch.func has come to the kernel of one of its levels, and a Function would begin anew."""
    if not torch._C._are_functorch_transforms_active():
        return owned(number)
    with enable_single_level_autograd_function():
        return _Owned.apply(number)


class _Owned(_SingleLevelFunction):
    """`owned` at one level of torch.func."""

    @staticmethod
    def forward(ctx: Any, number: torch.Tensor) -> torch.Tensor:
        return wrap(number, CPU)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
        return tangent
