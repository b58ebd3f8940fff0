"""Operators whose derivatives compute with a number on the CPU that joined a GPU's tensor, and so may be refused.

Most operators let a CPU tensor of no dimensions join. Autograd saves it, and a few formulas make a mask of it, which is
on the CPU too and which their next operator refuses (torch/csrc/autograd/FunctionsManual.cpp, pow_backward_exponent and
copysign_tensor_self_backward). C++ alone holds the mask, so it would be taken for a tensor that C++ made on the GPU
(made_inside.py). That is why a kernel in front of these operators has autograd save the number as one of the program's
(ownership.py). Such a number is always the first argument: as the second one it is computed with on the GPU.
"""

from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.tensor.ownership import owned
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_KEY = "AutogradCPU"
_OPERATORS = (torch.ops.aten.pow.Tensor_Tensor, torch.ops.aten.copysign.Tensor)

# PyTorch's own kernels, looked up before others stand in front of them
_kernels = [(operator, torch.library.get_kernel(operator, _KEY).call_boxed) for operator in _OPERATORS]


def start() -> None:
    """Put the kernels in place."""
    library = torch.library.Library("aten", "IMPL")
    state.now.libraries.append(library)
    register: Any = library.m.impl  # without the bookkeeping of Library.impl
    for operator, kernel in _kernels:
        register(operator.name(), _KEY, _saving(kernel), True)


def _saving(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, which saves a number on the CPU as one of the program's."""

    def compute(keys: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
        if first.dim() == 0 and isinstance(second, SimulatedTensor) and second.is_cuda:
            first = owned(first)
        return kernel(keys, first, second)

    return compute
