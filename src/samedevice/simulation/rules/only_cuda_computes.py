"""Compute what CUDA's kernels compute and the CPU's do not: more dtypes, and a division of integers by 0.

`compute` runs an operator on the CPU in what follows.
"""

from typing import Any

import torch

from samedevice.simulation.calls import Arguments, Compute, Keywords, Overload

# The dtype in which the CPU computes instead. It holds every number of the original dtype.
_LARGER = {
    torch.bool: torch.uint8,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
    torch.uint16: torch.int32,
    torch.uint32: torch.int64,
    torch.uint64: torch.int64,  # with the same bits, so only moving and comparing are exact
    torch.float8_e4m3fn: torch.float32,
    torch.float8_e5m2: torch.float32,
    torch.float8_e4m3fnuz: torch.float32,
    torch.float8_e5m2fnuz: torch.float32,
    **dict.fromkeys((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64), torch.float64),
}
# Derivatives that CUDA computes in float16 and bfloat16, and the CPU in one of them or in neither.
_DERIVATIVES = {
    "avg_pool3d_backward", "multi_margin_loss_backward", "multilabel_margin_loss_backward", "rrelu_with_noise_backward",
    "_upsample_bilinear2d_aa_backward", "_upsample_bicubic2d_aa_backward", "_pdist_backward", "_cdist_backward",
}  # fmt: skip
# The dtype of the real numbers that `abs` and `angle` return.
_REAL_PART = {torch.complex32: torch.float16}


def is_derivative_of_halves(packet: str, args: Arguments) -> bool:
    """Tell whether only CUDA computes this derivative in 16 bits."""
    return packet in _DERIVATIVES and args[0].dtype in (torch.float16, torch.bfloat16)


def _nansum(args: Arguments, kwargs: Keywords, compute: Compute) -> Any:
    """native/ReduceOps.cpp, nansum: compute it for complex numbers, which the CPU refuses."""
    aten: Any = torch.ops.aten
    numbers, small = args[0], args[0].dtype
    if small is torch.complex32:
        numbers = compute(aten._to_copy.default._op, (), (numbers,), {"dtype": torch.complex64})
    is_nan = compute(aten.isnan.default._op, (), (numbers,), {})
    numbers = compute(aten.masked_fill.Scalar._op, (), (numbers, is_nan, 0), {})
    dims = args[1] if len(args) > 1 and args[1] is not None else []
    result = compute(aten.sum.dim_IntList._op, (), (numbers, dims, *args[2:]), kwargs)
    if small is torch.complex32 and kwargs.get("dtype") is None:
        result = compute(aten._to_copy.default._op, (), (result,), {"dtype": small})
    return result


_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm")  # products that take an `out_dtype`


def by_other_operators(operator: Overload, args: Arguments, kwargs: Keywords, text: str, compute: Compute) -> Any:
    """Compute an operator that failed on the CPU with this text by other operators, or return NotImplemented."""
    packet = operator._schema.name.partition("::")[2]
    if _divides_by_zero(operator, args, text):
        return _divided_by_zero(operator, args, kwargs, compute)
    if packet in _PRODUCTS and operator._overloadname in ("dtype", "dtype_out"):
        return _with_an_output_dtype(operator, args, kwargs, compute)
    if packet == "record_stream":  # of a class that passes it on; nothing is asynchronous here
        return None
    if text.startswith("nansum on CPU does not support complex"):
        return _nansum(args, kwargs, compute)
    return NotImplemented


_SUMMED_IN_FLOAT = ((torch.float16, torch.float32), (torch.bfloat16, torch.float32))


def _with_an_output_dtype(operator: Overload, args: Arguments, kwargs: Keywords, compute: Compute) -> Any:
    """native/cuda/Blas.cpp: multiply halves, and sum and return them in float32 (`out_dtype=`)."""
    convert: Any = torch.ops.aten._to_copy.default._op
    *factors, out_dtype = args[: 1 + next(i for i, x in enumerate(args) if isinstance(x, torch.dtype))]
    if out_dtype is not factors[0].dtype and (factors[0].dtype, out_dtype) not in _SUMMED_IN_FLOAT:
        raise RuntimeError("out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs")
    larger = [compute(convert, (), (x,), {"dtype": out_dtype}) for x in factors]
    product: Any = getattr(torch.ops.aten, operator._schema.name.partition("::")[2]).default
    result = compute(product._op, (), tuple(larger), {})
    if "out" in kwargs:
        return compute(torch.ops.aten.copy_.default._op, (), (kwargs["out"], result), {})
    return result


def in_another_dtype(operator: Overload, args: Arguments, kwargs: Keywords, compute: Compute) -> Any:
    """Compute in a larger dtype, because the CPU has no kernel for the given one. CUDA's kernels often do the same.

    Raises NotImplementedError if the CPU cannot compute it in the larger dtype either.
    """
    convert, copy = torch.ops.aten._to_copy.default._op, torch.ops.aten.copy_.default._op
    tensors = [x for x in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    small = tensors[0].dtype
    if small not in _LARGER:
        raise _not_simulated(operator, tensors)
    given: list[tuple[torch.Tensor, torch.Tensor]] = []

    def larger(x: Any) -> Any:
        if isinstance(x, torch.dtype):
            return _LARGER[small] if x is small else x
        if x.dtype is not small or (given and _LARGER[small] is torch.float64):  # the other integers are indices
            return x
        if (again := next((after for before, after in given if before is x), None)) is not None:
            return again  # x.add_(x) writes to what it reads
        given.append((x, compute(convert, (), (x,), {"dtype": _LARGER[small]})))
        return given[-1][1]

    kinds = (torch.Tensor, torch.dtype)
    larger_args, larger_kwargs = torch.utils._pytree.tree_map_only(kinds, larger, (args, kwargs))
    try:
        result = compute(operator._op, (), larger_args, larger_kwargs)
    except NotImplementedError:
        raise _not_simulated(operator, tensors) from None
    written_to = _written_to(operator, args, kwargs)
    for before, after in given:
        if any(before is x for x in written_to):
            compute(copy, (), (before, after), {})
    single = isinstance(result, torch.Tensor)
    if not single and not isinstance(result, (tuple, list)):
        return result  # a number, or whether two tensors are equal
    back = {_LARGER[small]: small, torch.float32: _REAL_PART.get(small, small)}
    if small is torch.bool:
        del back[torch.float32]
    smaller = []
    for x in (result,) if single else result:
        written = next((before for before, after in given if after is x), None)
        if written is None and isinstance(x, torch.Tensor) and x.dtype in back and not _is_place(operator, x):
            written = compute(convert, (), (x,), {"dtype": back[x.dtype]})
        smaller.append(x if written is None else written)
    return smaller[0] if single else tuple(smaller)


def _written_to(operator: Overload, args: Arguments, kwargs: Keywords) -> list[Any]:
    """Return the arguments that an operator writes to, by its schema."""
    arguments = operator._schema.arguments if operator._schema.is_mutable else ()
    is_written = {x.name: x.alias_info is not None and x.alias_info.is_write for x in arguments}
    named = dict(zip(is_written, args, strict=False)) | kwargs
    return [x for name, x in named.items() if is_written.get(name)]


def _is_place(operator: Overload, result: torch.Tensor) -> bool:
    """Tell whether a result is an index, a count or a sum. These stay int64, in which uint32 is computed, too."""
    counts = operator._schema.name in ("aten::trace", "aten::count_nonzero", "aten::sum", "aten::prod")
    return result.dtype is torch.int64 and (counts or len(operator._schema.returns) > 1)


def _not_simulated(operator: Overload, tensors: list[torch.Tensor]) -> Exception:
    names = ", ".join(dict.fromkeys(str(x.dtype) for x in tensors))
    return NotImplementedError(
        f"samedevice does not simulate {operator._schema.name.partition('::')[2]} of {names} on a GPU, which CUDA "
        "computes: convert the tensors to another dtype first"
    )


def _divides_by_zero(operator: Overload, args: Arguments, text: str) -> bool:
    """Whether integers were divided by 0, which the CPU refuses and CUDA's kernels do not look at."""
    return text == "ZeroDivisionError" and len(args) > 1 and not operator._schema.is_mutable


def _divided_by_zero(operator: Overload, args: Arguments, kwargs: Keywords, compute: Compute) -> Any:
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
