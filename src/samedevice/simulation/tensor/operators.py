"""What is the same at each call of an operator, looked up once, because PyTorch answers such questions slowly."""

import re
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.calls import Overload
from samedevice.simulation.rules import dtype_refusals, growth, half_products

_aten = torch.ops.aten

# The operators that training is made of, by functions of PyTorch's Python that do the same with the same arguments and
# are called faster: a method or function is bound to its operator when PyTorch is built, an overload looks for it.
_FASTER: dict[Any, Callable[..., Any]] = {
    _aten._log_softmax.default: torch._log_softmax,
    _aten._log_softmax_backward_data.default: torch._log_softmax_backward_data,
    _aten._softmax.default: torch._softmax,
    _aten._softmax_backward_data.default: torch._softmax_backward_data,
    _aten._foreach_mul_.Tensor: lambda tensors, other: torch._foreach_mul_(tensors, other) and None,
    _aten.add.Tensor: torch.add,
    _aten.addmm.default: torch.addmm,
    _aten._foreach_norm.Scalar: torch._foreach_norm,
    _aten.bmm.default: torch.bmm,
    _aten.cat.default: torch.cat,
    _aten.clamp.default: torch.clamp,
    _aten.clone.default: torch.clone,
    _aten.detach.default: torch.Tensor.detach,
    _aten.div.Tensor: torch.div,
    _aten.expand.default: torch.Tensor.expand,
    _aten.linalg_vector_norm.default: torch.linalg.vector_norm,
    _aten.mm.default: torch.mm,
    _aten.mul.Tensor: torch.mul,
    _aten.reciprocal.default: torch.reciprocal,
    _aten.relu.default: torch.relu,
    _aten.stack.default: torch.stack,
    _aten.sub.Tensor: torch.sub,
    _aten.sum.dim_IntList: torch.sum,
    _aten.t.default: torch.Tensor.t,
    _aten.transpose.int: torch.transpose,
    _aten.unsqueeze.default: torch.unsqueeze,
    _aten.view.default: torch.Tensor.view,
}

# Views of a tensor as one of another kind.
_OTHER_KIND = re.compile("nested|complex")

# Operators that make a tensor of another layout.
_OTHER_LAYOUT = re.compile("nested|sparse|mkldnn|coo|cs[rc]|bs[rc]")

_RESIZES = re.compile("aten::(_?resize|set_)")


class Operator:
    """What dispatch asks of an operator of PyTorch's (an OpOverload) at every call."""

    __slots__ = (
        "computed_at_once", "counts_versions", "draws", "expands", "function", "grows", "growth_by_shapes",
        "is_collective", "is_plain", "is_view", "keeps_kind", "overload", "refusal_of", "refusal_of_rare", "resizes",
    )  # fmt: skip

    def __init__(self, overload: Overload) -> None:
        name = overload._schema.name
        arguments = {argument.name for argument in overload._schema.arguments}
        self.overload = overload
        # What computes it on the CPU: PyTorch's own function, where another stands in for what a program calls.
        own = getattr(overload._op, "__wrapped__", overload._op)
        function: Callable[..., Any] = _FASTER.get(overload, own)
        self.function = half_products.in_float32(function) if overload in half_products.PRODUCTS else function
        # Whether its result is a view of the kind of tensor that it is given.
        self.is_view = bool(overload.is_view) and "dtype" not in arguments and not _OTHER_KIND.search(name)
        # Whether its result is strided and not nested if its tensors are so.
        # An argument of the name `sparse` asks for another layout, as the one of _embedding_bag_backward does.
        self.keeps_kind = (
            name.startswith("aten::") and not arguments & {"layout", "sparse"} and not _OTHER_LAYOUT.search(name)
        )
        # Whether it draws random numbers. Operators of a program's own classes do not tell.
        self.draws = bool(getattr(overload, "_nondeterministic_seeded", False))
        # Tells of its arguments what CUDA may say of their dtypes: of any, and of all but the rare ones (wrapping.py).
        self.refusal_of_rare = dtype_refusals.refusal_of(overload)
        self.refusal_of = None if dtype_refusals.computes_usual_dtypes(overload) else self.refusal_of_rare
        # With which dtypes of its first tensor the CPU may be asked first.
        self.computed_at_once = dtype_refusals.computed_at_once(overload)
        # Whether it has to count the versions of tensors, which autograd does for all other operators.
        self.counts_versions = name.startswith("aten::_foreach_") and "zero" not in name
        # Whether it may give a tensor that it is given another size: where it writes its result, or by its purpose.
        self.resizes = bool(_RESIZES.match(name)) or any(argument.is_out for argument in overload._schema.arguments)
        # How its result may grow (rules/growth.py): dispatch asks whether there is memory for it.
        self.grows = growth.growth(overload)
        self.growth_by_shapes = growth.by_shapes(overload)
        self.expands = growth.expands(overload)
        # Whether processes compute it together, so that a group decides how.
        self.is_collective = "c10d" in overload.namespace
        # Whether nothing but its tensors decides where, and with what numbers, it is computed.
        self.is_plain = not (self.draws or self.is_collective or "device" in arguments)


# By the address of the overload, which is found faster than the overload itself. An address that is held here is not
# given to another one.
known: dict[int, Operator] = {}


def of(overload: Overload) -> Operator:
    """What is known of this operator."""
    operator = known.get(id(overload))
    if operator is None:
        operator = known[id(overload)] = Operator(overload)
    return operator
