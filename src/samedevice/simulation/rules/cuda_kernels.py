"""Which dtypes CUDA's kernels compute, and what each calls itself: "mul_cuda" not implemented for 'UInt32'.

A kernel chooses its code by the dtype, in a macro of ATen/Dispatch.h or Dispatch_v2.h that names the kernel and lists
its dtypes: AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, self.scalar_type(), "mish_cuda", ...). The groups below
are those of the macros, and a row says which kernel an operator comes to. The kernels are in native/cuda, those of
linear algebra in native/cuda/linalg. A CPU's kernels have other names and other lists, so they are never asked.

An operator that takes integers for floating-point numbers (`sqrt`) has them in its list, since it computes them.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

BOOL = frozenset({torch.bool})
INTEGERS = frozenset({torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64})
FLOATING = frozenset({torch.float32, torch.float64})
HALVES = frozenset({torch.float16, torch.bfloat16})
COMPLEX = frozenset({torch.complex64, torch.complex128})
COMPLEX32 = frozenset({torch.complex32})
UNSIGNED = frozenset({torch.uint16, torch.uint32, torch.uint64})  # AT_BAREBONES_UNSIGNED_TYPES
FLOAT8 = frozenset({torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz})

USUAL = BOOL | INTEGERS | FLOATING | HALVES | COMPLEX
_REAL = FLOATING | HALVES
_NUMBERS = INTEGERS | _REAL
_ORDERED = _NUMBERS | BOOL
_ANY = USUAL | COMPLEX32 | UNSIGNED | FLOAT8
_AS_FLOATING = BOOL | INTEGERS | UNSIGNED  # what is converted to floating-point numbers first


class Kernel(NamedTuple):
    """A kernel's name in its refusals, and the dtypes that it computes."""

    name: str
    dtypes: frozenset[torch.dtype]


def _rows(dtypes: frozenset[torch.dtype], **packets: str) -> dict[str, Kernel]:
    """A row for each operator of `packets`, a kernel's name with its operators, separated by blanks."""
    return {packet: Kernel(name, dtypes) for name, listed in packets.items() for packet in listed.split()}


def _packets(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def _named_after(dtypes: frozenset[torch.dtype], packets: str) -> dict[str, Kernel]:
    """A row for each operator whose kernel has its name: `mish` and "mish_cuda"."""
    return {packet: Kernel(f"{packet.removeprefix('special_')}_cuda", dtypes) for packet in packets.split()}


KERNELS: dict[str, Kernel] = {
    # Layers and losses: Activation*Kernel.cu, *Pool*.cu, UpSample*.cu, Loss*.cu, *Norm*.cu
    **_named_after(
        _REAL,
        "adaptive_max_pool2d adaptive_max_pool3d elu frac glu hardshrink hardsigmoid hardswish hypot leaky_relu "
        "logaddexp2 mish multi_margin_loss nextafter softplus grid_sampler_2d grid_sampler_3d",
    ),
    **_rows(
        _REAL,
        GeluCUDAKernelImpl="gelu",
        GeluCUDABackwardKernelImpl="gelu_backward",
        GroupNormKernelImpl="native_group_norm",
        adaptive_avg_pool2d_cuda="_adaptive_avg_pool2d",
        adaptive_avg_pool3d_cuda="_adaptive_avg_pool3d",
        avg_pool2d_out_cuda_frame="avg_pool2d",
        avg_pool3d_out_cuda="avg_pool3d",
        binary_cross_entropy_out_cuda="binary_cross_entropy",
        elu_cuda="celu",
        fractional_max_pool2d_out_cuda_frame="fractional_max_pool2d",
        fractional_max_pool3d_out_frame="fractional_max_pool3d",
        embedding_bag_cuda="_embedding_bag _embedding_bag_forward_only",
        huber_cuda="huber_loss",
        log_normal_cuda="log_normal",
        log_sigmoid_forward_cuda="log_sigmoid_forward binary_cross_entropy_with_logits",
        masked_scale="native_dropout_backward",
        max_pool2d_with_indices_out_cuda_frame="max_pool2d_with_indices",
        max_pool3d_with_indices_out_frame="max_pool3d_with_indices",
        mse_cuda="mse_loss",
        multilabel_margin_loss_forward_kernel="multilabel_margin_loss_forward",
        prelu_cuda="_prelu_kernel",
        rrelu_with_noise_out_cuda="rrelu_with_noise",
        segment_reduce_cuda="segment_reduce",
        smooth_l1_cuda="smooth_l1_loss",
        softshrink_check="softshrink",
        upsample_bicubic2d_out_frame="upsample_bicubic2d",
        upsample_bilinear2d_out_frame="upsample_bilinear2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa",
        upsample_linear1d_out_frame="upsample_linear1d",
        upsample_trilinear3d_out_frame="upsample_trilinear3d",
    ),
    **_rows(_REAL, host_softmax="_softmax _log_softmax _safe_softmax"),
    **_rows(_REAL, host_softmax_backward="_log_softmax_backward_data"),
    **_rows(
        _REAL | {torch.uint8},
        upsample_nearest1d_out_frame="upsample_nearest1d _upsample_nearest_exact1d",
        upsample_nearest2d_out_frame="upsample_nearest2d _upsample_nearest_exact2d",
        upsample_nearest3d_out_frame="upsample_nearest3d _upsample_nearest_exact3d",
    ),
    **_rows(FLOATING, ctc_loss_cuda="_ctc_loss", igamma_cuda="igamma", igammac_cuda="igammac"),
    **_named_after(_REAL | COMPLEX, "silu"),
    **_named_after(_NUMBERS, "fmod remainder threshold geometric"),
    **_rows(_REAL | COMPLEX | BOOL, im2col_out_cuda="im2col", col2im_out_cuda="col2im"),
    **_rows(_NUMBERS | COMPLEX, reflection_pad1d_out="reflection_pad1d"),
    **_rows(_NUMBERS | COMPLEX, reflection_pad2d_out_template="reflection_pad2d"),
    **_rows(_NUMBERS | COMPLEX, reflection_pad3d_out_cuda="reflection_pad3d"),
    **_rows(_NUMBERS | COMPLEX, replication_pad1d_cuda="replication_pad1d", replication_pad2d_cuda="replication_pad2d"),
    **_rows(_NUMBERS | COMPLEX, replication_pad3d_cuda="replication_pad3d"),
    **_rows(
        _NUMBERS, max_unpooling2d_forward_kernel="max_unpool2d", max_unpooling3d_forward_kernel="max_unpool3d"
    ),
    **_rows(_AS_FLOATING | FLOATING, cdist_cuda="_cdist_forward", pdist_cuda="_pdist_forward"),
    **_rows(FLOATING | {torch.bfloat16}, polar_cuda="polar"),
    # Products: Blas.cpp. cuBLAS multiplies no integers.
    **_rows(
        _REAL | COMPLEX,
        addmm_cuda="mm addmm addbmm",
        addmv_impl_cuda="mv addmv",
        baddbmm_cuda="bmm baddbmm _trilinear",
        dot="dot",
        logcumsumexp_cuda="logcumsumexp",
    ),
    # Integers: Binary*Kernel*.cu, SummaryOps.cu
    **_named_after(INTEGERS, "gcd lcm bincount"),
    **_rows(INTEGERS, lshift_cuda="bitwise_left_shift", rshift_cuda="bitwise_right_shift"),
    **_named_after(INTEGERS | BOOL, "bitwise_and bitwise_or bitwise_xor bitwise_not"),
    # Order: Sorting.cu, TensorModeKernel.cu, Reduce*.cu, CompareKernels.cu, ScanKernels.cpp
    **_rows(
        _ORDERED,
        compare_cuda="ge gt le lt",
        cuda_mode="mode",
        xor_sum_cuda="hash_tensor",
        min_values_cuda="amin",
        max_values_cuda="amax",
    ),
    **_named_after(_ORDERED, "cummax cummin"),
    **_named_after(_NUMBERS, "kthvalue argmax argmin"),
    **_rows(_NUMBERS, searchsorted_out_cuda="bucketize searchsorted", topk_out_cuda="topk"),
    # Functions of one number: Unary*Kernels.cu. Integers become floating-point numbers.
    **_named_after(
        _AS_FLOATING | _REAL | COMPLEX | COMPLEX32,
        "acos acosh asin asinh atan atanh cos cosh exp log rsqrt sigmoid sin sinh sqrt tan tanh",
    ),
    **_named_after(
        _AS_FLOATING | _REAL | COMPLEX, "exp2 expm1 log10 log1p log2 reciprocal sinc"
    ),
    **_named_after(
        _AS_FLOATING | _REAL,
        "atan2 copysign digamma erf erfc erfinv i0 lgamma logit special_entr special_i0e special_i1 special_i1e "
        "special_xlog1py xlogy",
    ),
    **_named_after(
        _AS_FLOATING | FLOATING,
        "special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
        "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
        "special_chebyshev_polynomial_w special_erfcx special_hermite_polynomial_h special_hermite_polynomial_he "
        "special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr special_modified_bessel_i0 "
        "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_ndtri "
        "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t "
        "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
        "special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_zeta",
    ),
    **_named_after(_AS_FLOATING | FLOATING | COMPLEX | COMPLEX32, "angle"),
    **_named_after(_REAL | COMPLEX | COMPLEX32, "sigmoid_backward tanh_backward"),
    **_named_after(_NUMBERS | UNSIGNED, "ceil floor trunc"),
    **_named_after(_AS_FLOATING | _REAL | COMPLEX | COMPLEX32, "frexp signbit"),
    **_named_after(BOOL | _NUMBERS | COMPLEX | COMPLEX32, "abs heaviside neg"),
    # Arithmetic: Binary*Kernel.cu, ufunc_add_CUDA.cu (generated), PointwiseOpsKernel.cu, Lerp.cu
    **_rows(USUAL | COMPLEX32, mul_cuda="mul", ufunc_add_CUDA="add sub rsub dist"),
    **_rows(USUAL | COMPLEX32 | UNSIGNED, mul_cuda="deg2rad rad2deg allclose"),
    **_rows(_NUMBERS | COMPLEX, addcmul_cuda="addcmul", addcdiv_cuda="addcdiv", cross_cuda="linalg_cross"),
    **_named_after(USUAL, "addr put take logical_and logical_or logical_xor logical_not"),
    **_rows(_REAL | COMPLEX | COMPLEX32, lerp_cuda="lerp", logaddexp_cuda="logaddexp"),
    # Sums: ReduceSumProdKernel.cu, ReduceMomentKernel.cu, CumsumKernel.cu
    **_rows(USUAL | COMPLEX32, sum_cuda="sum trace", nansum_cuda="nansum", prod_cuda="prod"),
    **_rows(USUAL | COMPLEX32 | UNSIGNED, std_cuda="std std_mean var var_mean", norm_cuda="linalg_vector_norm"),
    **_rows(USUAL, mean_cuda="mean", or_cuda="any", and_cuda="all"),
    **_rows(_AS_FLOATING | _REAL | COMPLEX | COMPLEX32, max_values_cuda="logsumexp"),
    **_named_after(_NUMBERS | COMPLEX, "cumsum cumprod"),
    # Places: IndexKernel.cu, Indexing.cu, ScatterGatherKernel.cu, TensorTransformations.cu, TriangularOps.cu
    **_rows(USUAL | COMPLEX32 | FLOAT8, index_cuda="index masked_select", index_put="index_put _index_put_impl"),
    **_rows(
        USUAL | COMPLEX32,
        index_fill_cuda="index_fill",
        index_copy_cuda="index_copy",
        index_add="index_add",
        nonzero_cuda="nonzero nonzero_static _to_sparse",
        roll_cuda="roll",
        triu_tril_cuda_template="tril triu lu_unpack",
        masked_fill_="masked_fill _unsafe_masked_index_put_accumulate",
    ),
    **_rows(USUAL, masked_scatter_="masked_scatter"),
    **_rows(_NUMBERS, index_reduce="index_reduce"),
    **_rows(_ANY, cuda_scatter_gather_base_kernel_func="gather"),
    **_rows(USUAL | UNSIGNED, unfold_backward_cuda="unfold_backward"),
    **_rows(_ANY, channel_shuffle="channel_shuffle", pixel_shuffle="pixel_shuffle", pixel_unshuffle="pixel_unshuffle"),
    **_rows(_ANY, isin="isin", count_nonzero="count_nonzero", equal="equal"),
    **_rows(_ANY, flip_cuda="flip", index_select_cuda="index_select", index_cuda="take_along_dim"),
    **_rows(USUAL, cuda_scatter_gather_base_kernel_func="scatter_add"),
    **_rows(_ORDERED | UNSIGNED, unique="_unique2 _unique", unique_dim="unique_dim"),
    **_rows(_AS_FLOATING | _REAL | COMPLEX | COMPLEX32, embedding_backward="embedding_dense_backward"),
    # Fourier transforms: SpectralOps.cpp, by cuFFT
    **_rows(FLOATING | COMPLEX | COMPLEX32 | {torch.float16}, cuFFT="_fft_c2c _fft_c2r _fft_r2c"),
    # Random numbers: Distribution*.cu
    **_rows(
        _REAL | COMPLEX | COMPLEX32, normal_kernel_cuda="normal_", check_uniform_bounds="uniform"
    ),
    "bernoulli_": Kernel("bernoulli_scalar_cuda_", _ORDERED),
    **_named_after(_AS_FLOATING | _REAL | COMPLEX | COMPLEX32, "cauchy exponential"),
    # Linear algebra: linalg/BatchLinearAlgebra*.cpp
    **_rows(
        FLOATING | COMPLEX,
        cholesky_cusolver="cholesky linalg_cholesky_ex",
        geqrf_cuda="geqrf linalg_qr",
        ldl_factor_looped_cusolver="linalg_ldl_factor_ex",
        ldl_solve_looped_cusolver="linalg_ldl_solve",
        linalg_eig_cuda="linalg_eig",
        linalg_eigh_cuda="_linalg_eigh",
        lu_solve_cublas="linalg_lu_solve",
        orgmr_cuda="ormqr",  # as linalg/BatchLinearAlgebraLib.cpp spells it
        orgqr_cuda="linalg_householder_product",
        svd_cuda_gesvdjBatched="_linalg_svd",
        triangular_solve_cuda="triangular_solve linalg_solve_triangular",
    ),
}  # fmt: skip


def _extremum(which: str, args: Any, dtype: torch.dtype) -> Kernel:
    """MaxMinElementwiseKernel.cu: integers and floating-point numbers have a kernel of their own each."""
    name = {"max": "max_elementwise_cuda", "min": "min_elementwise_cuda"}[which]
    if which == "min" and not dtype.is_floating_point and not dtype.is_complex:
        name = "minimum_cuda"
    return Kernel(name, _ORDERED)


def _nan_passing(which: str, args: Any, dtype: torch.dtype) -> Kernel:
    """MaxMinElementwiseKernel.cu, fmax_kernel_cuda: integers go to maximum."""
    if dtype.is_floating_point:
        return Kernel(f"f{which}_cuda", _REAL)
    return _extremum(which, args, dtype)


def _clamp(args: Any, dtype: torch.dtype) -> Kernel:
    """TensorCompare.cpp and TensorCompare.cu: by tensors, by one of two tensors, or by numbers."""
    low, high = (*args[1:3], None, None)[:2]
    if isinstance(low, torch.Tensor) and isinstance(high, torch.Tensor):
        return Kernel("clamp_cuda", _NUMBERS)
    if isinstance(low, torch.Tensor):
        return _extremum("max", args, dtype)
    if isinstance(high, torch.Tensor):
        return _extremum("min", args, dtype)
    return Kernel("clamp_scalar_cuda", _ORDERED)


def _division(args: Any, kwargs: Any) -> Kernel:
    """Binary Div*Kernel.cu: a kernel for each mode of rounding."""
    mode = kwargs.get("rounding_mode")
    if mode is None:
        return Kernel("div_true_cuda", _AS_FLOATING | _REAL | COMPLEX | COMPLEX32)
    return Kernel(f"div_{mode}_cuda", _NUMBERS)


def _sorted(args: Any, kwargs: Any) -> Kernel:
    """Sort.cpp, sort_cuda_kernel: of one number there is nothing to sort; SortStable.cu sorts long rows."""
    dim = kwargs.get("dim", args[1] if len(args) > 1 and isinstance(args[1], int) else -1)
    length = args[0].size(dim) if args[0].dim() else 1
    return _sorting(length)


def _sorting(length: int) -> Kernel:
    if length < 2:
        return Kernel("sort", _ANY)
    return Kernel("sortKeyValueInplace" if length <= 4096 else "sort", USUAL | COMPLEX32)


def _scattered(args: Any, kwargs: Any) -> Kernel:
    """ScatterGatherKernel.cu: a number is filled in, a tensor gathered; numbers alone are multiplied."""
    reduce = kwargs.get("reduce", args[4] if len(args) > 4 else None)
    dtypes = _NUMBERS if reduce == "multiply" else USUAL
    if isinstance(args[3], torch.Tensor):
        return Kernel("cuda_scatter_gather_base_kernel_func", dtypes if reduce else _ANY)
    return Kernel(f"cuda_scatter_fill_base_kernel_{'reduce_multiply' if reduce == 'multiply' else 'func'}", dtypes)


def _reduced_into(args: Any, kwargs: Any) -> Kernel:
    """ScatterGatherKernel.cu and TensorAdvancedIndexing.cpp, scatter_reduce_two: only a sum takes all numbers."""
    include_self = kwargs.get("include_self", args[5] if len(args) > 5 else True)
    if not include_self and args[0].dtype not in USUAL:
        return Kernel("scatter_reduce_exclude_input_init", USUAL)
    return Kernel("cuda_scatter_gather_base_kernel_func", USUAL if args[4] == "sum" else _NUMBERS)


def _negative_log_likelihood(args: Any, kwargs: Any) -> Kernel:
    """Loss.cu."""
    if args[0].dim() < 2:
        return Kernel("nll_loss_forward_reduce_cuda_kernel_1d", _REAL)
    name = "nll_loss_forward_reduce_cuda_kernel_2d" if args[3] else "nll_loss_forward_no_reduce_cuda_kernel"
    return Kernel(name, _REAL)


def _histogram(args: Any, kwargs: Any) -> Kernel:
    """SummaryOps.cu, _histc_cuda."""
    return Kernel("histc", INTEGERS | FLOATING | {torch.float16})  # float16 has a text of its own


def _polygamma(args: Any, kwargs: Any) -> Kernel:
    """UnaryGammaKernels.cu: a kernel for each of the first two orders."""
    order = next(x for x in args[:2] if isinstance(x, int))
    name = {0: "digamma_cuda", 1: "trigamma_cuda"}.get(order, "polygamma_cuda")
    return Kernel(name, _AS_FLOATING | _REAL)


def _all_or_one_dimension(name: str, args: Any, kwargs: Any) -> Kernel:
    """TensorCompare.cu: max, min and aminmax of all elements, or along a dimension."""
    whole = kwargs.get("dim") is None if name == "aminmax" else len(args) < 2
    along = f"{name}_cuda"
    if name == "aminmax" or whole:
        return Kernel(f"{name}_all_cuda" if whole else along, _ORDERED)
    return Kernel(along, _ORDERED)


def _median(args: Any, kwargs: Any) -> Kernel:
    """Sorting.cpp: of all elements it sorts, along a dimension it has a kernel."""
    return _sorting(args[0].numel()) if len(args) < 2 else Kernel("median_out_impl", _NUMBERS)


def _sign(args: Any, kwargs: Any) -> Kernel:
    """UnarySignKernels.cu."""
    return Kernel("sgn_cuda" if args[0].is_complex() else "sign_cuda", USUAL | COMPLEX32)


def _cholesky(args: Any, kwargs: Any) -> Kernel:
    """linalg/BatchLinearAlgebra.cpp: cuSOLVER's for one matrix, two triangular systems for a batch."""
    batch = max(x.dim() for x in args[:2] if isinstance(x, torch.Tensor)) > 2
    return Kernel("triangular_solve_cuda" if batch else "cholesky_cuda_potrs", FLOATING | COMPLEX)


def _factorized(args: Any, kwargs: Any) -> Kernel:
    """linalg/BatchLinearAlgebra.cpp, lu_factor: cuSOLVER's for one square matrix, cuBLAS's for many small ones."""
    *batch, rows, columns = args[0].shape
    if rows != columns:
        name = "lu_factor_magma_batched"
    elif math.prod(batch) == 1:
        name = "lu_factor_cusolver"
    else:
        name = "lu_factor_cublas" if rows <= 128 else "lu_factor_magma_batched"
    return Kernel(name, FLOATING | COMPLEX)


def _power(args: Any, kwargs: Any) -> Kernel:
    """PowKernel.cu: of a root it makes that of UnaryOpsKernel.cu."""
    if len(args) > 1 and isinstance(args[1], float) and args[1] == 0.5 and args[0].is_floating_point():
        return Kernel("sqrt_cuda", _REAL)
    return Kernel("pow_cuda", _NUMBERS | COMPLEX | COMPLEX32)


def _vdot(args: Any, kwargs: Any) -> Kernel:
    """Blas.cpp: real numbers go to dot."""
    return Kernel("vdot" if args[0].is_complex() else "dot", _REAL | COMPLEX)


def _unique_consecutive(args: Any, kwargs: Any) -> Kernel:
    """UniqueCub.cu and Unique.cu."""
    along = kwargs.get("dim", args[3] if len(args) > 3 else None) is not None
    return Kernel("unique_dim" if along else "unique", _ORDERED | UNSIGNED)


def _softmax_backward(args: Any, kwargs: Any) -> Kernel:
    """native/cuda/SoftMax.cu, softmax_backward_cuda_out: a product first."""
    is_rare = args[0].dtype in UNSIGNED | FLOAT8
    return Kernel("mul_cuda" if is_rare else "host_softmax_backward", _REAL)


def _normal(args: Any, kwargs: Any) -> Kernel:
    """native/DistributionTemplates.h, normal_impl_: deviations that are a tensor are compared with 0 first."""
    if len(args) > 1 and isinstance(args[1], torch.Tensor) and args[1].dtype not in USUAL | COMPLEX32:
        return Kernel("min_all_cuda", USUAL | COMPLEX32)
    return Kernel("normal_kernel_cuda", _REAL | COMPLEX | COMPLEX32)


def _nan_to_num(args: Any, kwargs: Any) -> Kernel:
    """UnaryOpsKernel.cu, nan_to_num_kernel_cuda: complex numbers have a kernel of their own."""
    return Kernel("nan_to_num" if args[0].is_complex() else "nan_to_num_cuda", _AS_FLOATING | _REAL | COMPLEX)


def _round(args: Any, kwargs: Any) -> Kernel:
    """UnaryFractionKernels.cu, round_kernel_cuda and round_decimals_kernel_cuda."""
    return Kernel("round_cuda", _REAL if "decimals" in kwargs else _NUMBERS | UNSIGNED)


def _layer_norm(args: Any, kwargs: Any) -> Kernel:
    """layer_norm_kernel.cu."""
    return Kernel("LayerNormKernelImpl", _REAL)


_OF_LU = ("linalg_lu", "linalg_lu_factor_ex", "_linalg_det", "_linalg_slogdet", "_linalg_solve_ex")
_BY_ARGUMENTS: dict[str, Callable[[Any, Any], Kernel]] = {
    "aminmax": functools.partial(_all_or_one_dimension, "aminmax"),
    "max": functools.partial(_all_or_one_dimension, "max"),
    "min": functools.partial(_all_or_one_dimension, "min"),
    **dict.fromkeys(("cholesky_inverse", "cholesky_solve"), _cholesky),
    "div": _division,
    "true_divide": lambda args, kwargs: _division(args, {}),
    "floor_divide": lambda args, kwargs: Kernel("div_floor_cuda", _NUMBERS),
    "histc": _histogram,
    "median": _median,
    "nanmedian": _median,
    "native_layer_norm": _layer_norm,
    "_fused_rms_norm": _layer_norm,
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
_BY_DTYPE: dict[str, Callable[[Any, torch.dtype], Kernel]] = {
    "clamp": _clamp,
    "relu": lambda args, dtype: Kernel("clamp_scalar_cuda", _NUMBERS),
    "hardtanh": lambda args, dtype: Kernel("clamp_scalar_cuda", _NUMBERS),
    **dict.fromkeys(("maximum", "clamp_min"), functools.partial(_extremum, "max")),
    **dict.fromkeys(("minimum", "clamp_max"), functools.partial(_extremum, "min")),
    "fmax": functools.partial(_nan_passing, "max"),
    "fmin": functools.partial(_nan_passing, "min"),
}
# Of operators that have no row of their own. What is not listed computes numbers with a point.
_ALWAYS = {
    **dict.fromkeys(("max", "min", "aminmax", "unique_consecutive", "polygamma"), _ORDERED),
    **dict.fromkeys(("maximum", "minimum", "clamp_min", "clamp_max", "fmax", "fmin"), _ORDERED),
    **dict.fromkeys(("div", "floor_divide", "scatter", "scatter_reduce", "clamp", "relu", "hardtanh"), _NUMBERS),
    **dict.fromkeys(("true_divide", "sgn", "sign", "sort"), USUAL),
    **dict.fromkeys(("cholesky_inverse", "cholesky_solve"), FLOATING | COMPLEX),
    **dict.fromkeys(_OF_LU, FLOATING | COMPLEX),
    "nan_to_num": _NUMBERS | COMPLEX,
    "pow": _NUMBERS | COMPLEX,
    "vdot": _REAL | COMPLEX,
}
# Operators that add or multiply integers as int64.
_SUMS = frozenset(("sum", "nansum", "prod", "cumsum", "cumprod", "trace"))
# A single number has no dimension to look along, so no kernel is asked: native/ReduceOps.cpp, TensorCompare.cpp.
_ALONG = frozenset(("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin", "max", "min"))
# Without an element these return at once. All others ask the kernel, which then finds nothing to do.
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
    """The operator without the underscore of its in-place form."""
    return packet[:-1] if packet.endswith("_") and not packet.endswith("__") else packet


def has_one(packet: str) -> bool:
    return packet in KERNELS or any(base(packet) in rows for rows in (KERNELS, _BY_ARGUMENTS, _BY_DTYPE))


def always_computes(packet: str) -> frozenset[torch.dtype]:
    """The dtypes that an operator computes whatever its arguments are, so that nobody has to look at these."""
    row = KERNELS.get(packet) or KERNELS.get(base(packet))
    return row.dtypes if row is not None else _ALWAYS.get(base(packet), _REAL)


def asks_none(packet: str, args: Any) -> bool:
    """Whether an operator returns before it comes to a kernel."""
    name = base(packet)
    if name in _ALONG:
        return len(args) > 1 and args[0].dim() == 0
    if name in ("any", "all"):
        return args[0].numel() < 2
    return name in _RETURN_EARLY and args[0].numel() == 0


def of(packet: str, args: Any, kwargs: Any) -> tuple[Kernel, torch.dtype] | None:
    """The kernel that an operator comes to, and the dtype that it asks of it; None where no row says."""
    name = packet if packet in KERNELS else base(packet)
    dtype = _asked(name, args, kwargs)
    if dtype not in _ANY:  # quantized tensors, among others, have kernels of their own
        return None
    if name in KERNELS:
        return KERNELS[name], dtype
    if name in _BY_ARGUMENTS:
        return _BY_ARGUMENTS[name](args, kwargs), dtype
    return (_BY_DTYPE[name](args, dtype), dtype) if name in _BY_DTYPE else None


def _asked(name: str, args: Any, kwargs: Any) -> torch.dtype | None:
    """The dtype that the kernel looks at: the one that is asked for, the common one, or that of the first tensor."""
    given = kwargs.get("dtype")
    if isinstance(given, torch.dtype):
        return given
    if name in _SUMS:
        return torch.int64 if args[0].dtype in _AS_FLOATING else args[0].dtype
    if name in _OF_ONE_DTYPE:
        terms = [x for x in args if isinstance(x, torch.Tensor)]
        return _common(terms, [x for x in args[:2] if isinstance(x, (int, float, complex))])
    first = next((x for x in args if isinstance(x, torch.Tensor)), None)
    return None if first is None else first.dtype


def _common(tensors: list[torch.Tensor], numbers: list[Any]) -> torch.dtype | None:
    """The dtype to which TensorIterator brings tensors and numbers; None where PyTorch knows none."""
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
