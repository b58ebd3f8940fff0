"""What the simulation is handed at each call of an operator, by name; mypy does not read torch, so it is for readers.

An `Overload` is what PyTorch calls: torch.ops.aten.add.Tensor. Its `Arguments` are those by position, its `Keywords`
those by name, as `__torch_dispatch__` is given them. An `Operand` (rules/tensor_iterator.py) is one tensor of a call,
with the device where it is.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch

Overload: TypeAlias = torch._ops.OpOverload
Arguments: TypeAlias = Sequence[Any]
Keywords: TypeAlias = dict[str, Any]
Types: TypeAlias = Sequence[type]  # the classes of its tensors that dispatch operators themselves

# Runs an operator below the Python key, like torch._C._disabled_torch_dispatch_impl(function, types, args, kwargs).
Compute: TypeAlias = Callable[[Callable[..., Any], Types, Arguments, Keywords], Any]
