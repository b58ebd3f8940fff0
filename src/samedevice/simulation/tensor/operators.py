"""What is the same at each call of an operator, looked up once, because PyTorch answers such questions slowly."""

import re
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.rules import dtypes

# Views that make up half of the operators of a training step, by methods that do the same and are called faster.
_FASTER = {
    torch.ops.aten.detach.default: torch.Tensor.detach,
    torch.ops.aten.t.default: torch.Tensor.t,
    torch.ops.aten.view.default: torch.Tensor.view,
}

# Views of a tensor as one of another kind.
_OTHER_KIND = re.compile("nested|complex")


class Operator:
    """What dispatch asks of an operator of PyTorch's (an OpOverload) at every call."""

    __slots__ = ("counts_versions", "draws", "function", "is_plain", "is_view", "overload", "refusal_of")

    def __init__(self, overload: Any) -> None:
        name = overload._schema.name
        arguments = {argument.name for argument in overload._schema.arguments}
        self.overload = overload
        # What computes it on the CPU: PyTorch's own function, where another stands in for what a program calls.
        own = getattr(overload._op, "__wrapped__", overload._op)
        self.function: Callable[..., Any] = _FASTER.get(overload, own)
        # Whether its result is a view of the kind of tensor that it is given.
        self.is_view = bool(overload.is_view) and "dtype" not in arguments and not _OTHER_KIND.search(name)
        # Whether it draws random numbers. Operators of a program's own classes do not tell.
        self.draws = bool(getattr(overload, "_nondeterministic_seeded", False))
        # Tells of its arguments what CUDA may say of their dtypes.
        self.refusal_of = dtypes.refusal_of(overload)
        # Whether it has to count the versions of tensors, which autograd does for all other operators.
        self.counts_versions = name.startswith("aten::_foreach_") and "zero" not in name
        # Whether nothing but its tensors decides where, and with what numbers, it is computed.
        self.is_plain = not self.draws and "device" not in arguments


# By the address of the overload, which is found faster than the overload itself. An address that is held here is not
# given to another one.
known: dict[int, Operator] = {}


def of(overload: Any) -> Operator:
    """What is known of this operator."""
    operator = known.get(id(overload))
    if operator is None:
        operator = known[id(overload)] = Operator(overload)
    return operator
