"""What CUDA's kernels compute and the CPU's do not: numbers of 16 bits, and a division of integers by 0.

`compute` runs an operator on the CPU in what follows.
"""

from collections.abc import Callable
from typing import Any

import torch

# Operators of which CUDA computes float16 and bfloat16, and the CPU one of them or neither.
COMPUTED_IN_FLOAT = {
    "avg_pool3d", "avg_pool3d_backward", "multi_margin_loss", "multi_margin_loss_backward",
    "multilabel_margin_loss_forward", "multilabel_margin_loss_backward", "rrelu_with_noise", "rrelu_with_noise_",
    "rrelu_with_noise_backward", "_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_backward",
    "_upsample_bicubic2d_aa", "_upsample_bicubic2d_aa_backward",
}  # fmt: skip


def in_float(operator: Any, args: Any, kwargs: Any, compute: Callable[..., Any]) -> Any:
    """Compute in float32 what the CPU does not compute in 16 bits; a CUDA kernel does so inside, too."""
    convert, copy = torch.ops.aten._to_copy.default._op, torch.ops.aten.copy_.default._op
    given: list[tuple[torch.Tensor, torch.Tensor]] = []

    def larger(x: torch.Tensor) -> torch.Tensor:
        if x.dtype not in (torch.float16, torch.bfloat16):
            return x
        given.append((x, compute(convert, (), (x,), {"dtype": torch.float32})))
        return given[-1][1]

    larger_args, larger_kwargs = torch.utils._pytree.tree_map_only(torch.Tensor, larger, (args, kwargs))
    result = compute(operator._op, (), larger_args, larger_kwargs)
    dtype = given[0][0].dtype
    if operator._schema.is_mutable:
        for before, after in given:
            compute(copy, (), (before, after), {})
    single = isinstance(result, torch.Tensor)
    smaller = []
    for x in (result,) if single else result:
        written = next((before for before, after in given if after is x), None)
        if written is None and x.dtype is torch.float32:
            written = compute(convert, (), (x,), {"dtype": dtype})
        smaller.append(x if written is None else written)
    return smaller[0] if single else tuple(smaller)


def divides_by_zero(operator: Any, args: Any, text: str) -> bool:
    """Whether integers were divided by 0, which the CPU refuses and CUDA's kernels do not look at."""
    return text == "ZeroDivisionError" and len(args) > 1 and not operator._schema.is_mutable


def divided_by_zero(operator: Any, args: Any, kwargs: Any, compute: Callable[..., Any]) -> Any:
    """The result of a division of integers; where the divisor is 0, CUDA leaves it open, and here all bits are set."""
    divisor = args[1]
    if isinstance(divisor, torch.Tensor):
        is_zero = compute(torch.ops.aten.eq.Scalar._op, (), (divisor, 0), {})
        divisor = compute(torch.ops.aten.masked_fill.Scalar._op, (), (divisor, is_zero, 1), {})
    else:
        is_zero, divisor = torch.ops.aten.ones.default([], dtype=torch.bool), 1
    result = compute(operator._op, (), (args[0], divisor), kwargs)
    zeros = compute(torch.ops.aten.zeros_like.default._op, (), (result,), {})
    ones: torch.Tensor = compute(torch.ops.aten.bitwise_not.default._op, (), (zeros,), {})
    return compute(torch.ops.aten.where.self._op, (), (is_zero, ones, result), {})
