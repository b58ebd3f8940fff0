"""Find the CUDA kernel that an operator calls, and the dtype that the kernel checks.

Most have one kernel, which has a row in cuda_kernels.py. For the others the arguments decide here, as in the C++ code
that each function names: the mode of a division, the shape of a matrix, whether a dimension is given.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.rules.cuda_kernels import KERNELS, Kernel
from samedevice.simulation.rules.dtypes import (
    ANY,
    AS_FLOATING,
    COMPLEX,
    COMPLEX32,
    FLOAT8,
    FLOATING,
    NUMBERS,
    ORDERED,
    REAL,
    UNSIGNED,
    USUAL,
)


def _extremum(which: str, args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """MaxMinElementwiseKernel.cu: integers and floating-point numbers use different kernels."""
    name = {"max": "max_elementwise_cuda", "min": "min_elementwise_cuda"}[which]
    if which == "min" and not dtype.is_floating_point and not dtype.is_complex:
        name = "minimum_cuda"
    return Kernel(name, ORDERED)


def _nan_passing(which: str, args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """MaxMinElementwiseKernel.cu, fmax_kernel_cuda: it calls maximum for integers."""
    if dtype.is_floating_point:
        return Kernel(f"f{which}_cuda", REAL)
    return _extremum(which, args, kwargs, dtype)


def _clamp(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """TensorCompare.cpp and TensorCompare.cu: the bounds are two tensors, one tensor, or numbers."""
    low, high = (*args[1:3], None, None)[:2]
    if isinstance(low, torch.Tensor) and isinstance(high, torch.Tensor):
        return Kernel("clamp_cuda", NUMBERS)
    if isinstance(low, torch.Tensor):
        return _extremum("max", args, kwargs, dtype)
    if isinstance(high, torch.Tensor):
        return _extremum("min", args, kwargs, dtype)
    return Kernel("clamp_scalar_cuda", ORDERED)


def _division(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """Binary Div*Kernel.cu: a kernel for each mode of rounding."""
    mode = kwargs.get("rounding_mode")
    if mode is None:
        return Kernel("div_true_cuda", AS_FLOATING | REAL | COMPLEX | COMPLEX32)
    return Kernel(f"div_{mode}_cuda", NUMBERS)


def _sorted(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """Sort.cpp, sort_cuda_kernel: it returns early for a single number, and SortStable.cu sorts long rows."""
    dim = kwargs.get("dim", args[1] if len(args) > 1 and isinstance(args[1], int) else -1)
    length = args[0].size(dim) if args[0].dim() else 1
    return _sorting(length)


def _sorting(length: int) -> Kernel:
    if length < 2:
        return Kernel("sort", ANY)
    return Kernel("sortKeyValueInplace" if length <= 4096 else "sort", USUAL | COMPLEX32)


def _scattered(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """ScatterGatherKernel.cu: a number and a tensor use different kernels, and only real numbers are multiplied."""
    reduce = kwargs.get("reduce", args[4] if len(args) > 4 else None)
    dtypes = NUMBERS if reduce == "multiply" else USUAL
    if isinstance(args[3], torch.Tensor):
        return Kernel("cuda_scatter_gather_base_kernel_func", dtypes if reduce else ANY)
    return Kernel(f"cuda_scatter_fill_base_kernel_{'reduce_multiply' if reduce == 'multiply' else 'func'}", dtypes)


def _reduced_into(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """ScatterGatherKernel.cu and TensorAdvancedIndexing.cpp, scatter_reduce_two: only "sum" accepts all numbers."""
    include_self = kwargs.get("include_self", args[5] if len(args) > 5 else True)
    if not include_self and args[0].dtype not in USUAL:
        return Kernel("scatter_reduce_exclude_input_init", USUAL)
    return Kernel("cuda_scatter_gather_base_kernel_func", USUAL if args[4] == "sum" else NUMBERS)


def _negative_log_likelihood(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """Choose as Loss.cu does: by the number of dimensions and by the reduction."""
    if args[0].dim() < 2:
        return Kernel("nll_loss_forward_reduce_cuda_kernel_1d", REAL)
    name = "nll_loss_forward_reduce_cuda_kernel_2d" if args[3] else "nll_loss_forward_no_reduce_cuda_kernel"
    return Kernel(name, REAL)


def _polygamma(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """UnaryGammaKernels.cu: orders 0 and 1 have kernels of their own."""
    order = next(x for x in args[:2] if isinstance(x, int))
    name = {0: "digamma_cuda", 1: "trigamma_cuda"}.get(order, "polygamma_cuda")
    return Kernel(name, AS_FLOATING | REAL)


def _all_or_one_dimension(name: str, args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """TensorCompare.cu: max, min and aminmax of all elements, or along a dimension."""
    of_all = kwargs.get("dim") is None if name == "aminmax" else len(args) < 2
    return Kernel(f"{name}_all_cuda" if of_all else f"{name}_cuda", ORDERED)


def _median(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """Sorting.cpp: the median of all elements sorts them; along a dimension there is a kernel."""
    return _sorting(args[0].numel()) if len(args) < 2 else Kernel("median_out_impl", NUMBERS)


def _sign(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """UnarySignKernels.cu: complex numbers use another kernel."""
    return Kernel("sgn_cuda" if args[0].is_complex() else "sign_cuda", USUAL | COMPLEX32)


def _cholesky(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """linalg/BatchLinearAlgebra.cpp: cuSOLVER solves one matrix; a batch is solved as two triangular systems."""
    batch = max(x.dim() for x in args[:2] if isinstance(x, torch.Tensor)) > 2
    return Kernel("triangular_solve_cuda" if batch else "cholesky_cuda_potrs", FLOATING | COMPLEX)


def _factorized(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """linalg/BatchLinearAlgebra.cpp, lu_factor: cuSOLVER takes one square matrix, cuBLAS many small ones."""
    *batch, rows, columns = args[0].shape
    if rows != columns:
        name = "lu_factor_magma_batched"
    elif math.prod(batch) == 1:
        name = "lu_factor_cusolver"
    else:
        name = "lu_factor_cublas" if rows <= 128 else "lu_factor_magma_batched"
    return Kernel(name, FLOATING | COMPLEX)


def _power(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """PowKernel.cu: an exponent of 0.5 calls the square root of UnaryOpsKernel.cu."""
    if len(args) > 1 and isinstance(args[1], float) and args[1] == 0.5 and args[0].is_floating_point():
        return Kernel("sqrt_cuda", REAL)
    return Kernel("pow_cuda", NUMBERS | COMPLEX | COMPLEX32)


def _vdot(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """Blas.cpp: it calls dot for real numbers."""
    return Kernel("vdot" if args[0].is_complex() else "dot", REAL | COMPLEX)


def _unique_consecutive(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """UniqueCub.cu and Unique.cu: the kernel depends on whether a dimension is given."""
    along = kwargs.get("dim", args[3] if len(args) > 3 else None) is not None
    return Kernel("unique_dim" if along else "unique", ORDERED | UNSIGNED)


def _softmax_backward(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """native/cuda/SoftMax.cu, softmax_backward_cuda_out: it multiplies first, and the product refuses rare dtypes."""
    is_rare = args[0].dtype in UNSIGNED | FLOAT8
    return Kernel("mul_cuda" if is_rare else "host_softmax_backward", REAL)


def _normal(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """native/DistributionTemplates.h, normal_impl_: if the deviations are a tensor, it first looks for the smallest."""
    if len(args) > 1 and isinstance(args[1], torch.Tensor) and args[1].dtype not in USUAL | COMPLEX32:
        return Kernel("min_all_cuda", USUAL | COMPLEX32)
    return Kernel("normal_kernel_cuda", REAL | COMPLEX | COMPLEX32)


def _nan_to_num(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """UnaryOpsKernel.cu, nan_to_num_kernel_cuda: complex numbers use another kernel."""
    return Kernel("nan_to_num" if args[0].is_complex() else "nan_to_num_cuda", AS_FLOATING | REAL | COMPLEX)


def _round(args: Arguments, kwargs: Keywords, dtype: torch.dtype) -> Kernel:
    """UnaryFractionKernels.cu, round_kernel_cuda and round_decimals_kernel_cuda."""
    return Kernel("round_cuda", REAL if "decimals" in kwargs else NUMBERS | UNSIGNED)


_OF_LU = ("linalg_lu", "linalg_lu_factor_ex", "_linalg_det", "_linalg_slogdet", "_linalg_solve_ex")
_CHOSEN: dict[str, Callable[[Arguments, Keywords, torch.dtype], Kernel]] = {
    "clamp": _clamp,
    **dict.fromkeys(("maximum", "clamp_min"), functools.partial(_extremum, "max")),
    **dict.fromkeys(("minimum", "clamp_max"), functools.partial(_extremum, "min")),
    "fmax": functools.partial(_nan_passing, "max"),
    "fmin": functools.partial(_nan_passing, "min"),
    "aminmax": functools.partial(_all_or_one_dimension, "aminmax"),
    "max": functools.partial(_all_or_one_dimension, "max"),
    "min": functools.partial(_all_or_one_dimension, "min"),
    **dict.fromkeys(("cholesky_inverse", "cholesky_solve"), _cholesky),
    "div": _division,
    "median": _median,
    "nanmedian": _median,
    "nll_loss_forward": _negative_log_likelihood,
    **dict.fromkeys(_OF_LU, _factorized),
    "polygamma": _polygamma,
    "pow": _power,
    "_softmax_backward_data": _softmax_backward,
    "normal": _normal,
    "nan_to_num": _nan_to_num,
    "round": _round,
    "scatter": _scattered,
    "scatter_reduce": _reduced_into,
    **dict.fromkeys(("sgn", "sign"), _sign),
    **dict.fromkeys(("sort", "msort", "argsort"), _sorted),
    "unique_consecutive": _unique_consecutive,
    "vdot": _vdot,
}


def _packets(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Operators that add or multiply integers as int64.
_SUMS = frozenset(("sum", "nansum", "prod", "cumsum", "cumprod", "trace"))
# A tensor without dimensions has nothing to look along, so they return early: native/ReduceOps.cpp, TensorCompare.cpp.
_ALONG = frozenset(("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin", "max", "min"))
# These return early if the tensor has no elements. Other operators still check the dtype.
_RETURN_EARLY = _packets(
    "reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d "
    "_adaptive_avg_pool3d rrelu_with_noise linalg_lu linalg_lu_factor_ex _linalg_det _linalg_slogdet _linalg_solve_ex"
)
# Operators that bring their tensors and numbers to one dtype, which the kernel then looks at (TensorIterator).
_OF_ONE_DTYPE = _packets(
    "add sub rsub mul div true_divide floor_divide fmod remainder pow maximum minimum fmax fmin clamp clamp_min "
    "clamp_max atan2 copysign hypot nextafter igamma igammac gcd lcm heaviside lerp logaddexp logaddexp2 xlogy "
    "special_xlog1py special_zeta addcmul addcdiv bitwise_and bitwise_or bitwise_xor bitwise_left_shift "
    "bitwise_right_shift ge gt le lt logical_and logical_or logical_xor huber_loss mse_loss smooth_l1_loss linalg_cross"
)


def base(packet: str) -> str:
    """Return the operator's name without the underscore of the in-place form."""
    return packet[:-1] if packet.endswith("_") and not packet.endswith("__") else packet


def has_one(packet: str) -> bool:
    return packet in KERNELS or base(packet) in KERNELS or base(packet) in _CHOSEN


def always_computes(packet: str) -> frozenset[torch.dtype]:
    """Return the dtypes that an operator computes whatever its other arguments are."""
    row = KERNELS.get(packet) or KERNELS.get(base(packet))
    return FLOATING if row is None else row.dtypes


def asks_none(packet: str, args: Arguments) -> bool:
    """Tell whether an operator returns before it calls a kernel."""
    name = base(packet)
    if name in _ALONG:
        return len(args) > 1 and args[0].dim() == 0
    if name in ("any", "all"):
        return args[0].numel() < 2
    return name in _RETURN_EARLY and args[0].numel() == 0


def of(packet: str, args: Arguments, kwargs: Keywords) -> tuple[Kernel, torch.dtype] | None:
    """Return the kernel that an operator calls and the dtype it checks, or None if neither is known."""
    name = packet if packet in KERNELS else base(packet)
    dtype = _asked(name, args, kwargs)
    if dtype not in ANY:  # quantized tensors, among others, have kernels of their own
        return None
    if name in KERNELS:
        return KERNELS[name], dtype
    return (_CHOSEN[name](args, kwargs, dtype), dtype) if name in _CHOSEN else None


def _asked(name: str, args: Arguments, kwargs: Keywords) -> torch.dtype | None:
    """Return the dtype that the kernel checks: the one asked for, the common one, or the first tensor's."""
    given = kwargs.get("dtype")
    if isinstance(given, torch.dtype):
        return given
    if name in _SUMS:
        return torch.int64 if args[0].dtype in AS_FLOATING else args[0].dtype
    if name in _OF_ONE_DTYPE:
        terms = [x for x in args if isinstance(x, torch.Tensor)]
        return _common(terms, [x for x in args[:2] if isinstance(x, (int, float, complex))])
    first = next((x for x in args if isinstance(x, torch.Tensor)), None)
    return None if first is None else first.dtype


def _common(tensors: list[torch.Tensor], numbers: list[Any]) -> torch.dtype | None:
    """Return the dtype to which TensorIterator converts tensors and numbers, or None if there is no such dtype."""
    try:
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunctionSubclass():
            found = tensors[0].dtype
            if len(tensors) == 1 and numbers:
                return torch.result_type(tensors[0], numbers[0])
            for other in tensors[1:]:
                both = len(tensors) == 2
                found = torch.result_type(tensors[0], other) if both else torch.promote_types(found, other.dtype)
            return found
    except RuntimeError:
        return None
