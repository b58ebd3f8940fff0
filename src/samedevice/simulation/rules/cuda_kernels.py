"""List the dtypes that CUDA's kernels compute, and how each is named: "mul_cuda" not implemented for 'UInt32'.

A kernel chooses its code by the dtype, in a macro of ATen/Dispatch.h or Dispatch_v2.h that names the kernel and lists
its dtypes: AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, self.scalar_type(), "mish_cuda", ...). The groups are
those of the macros (dtypes.py), and a row says which kernel an operator comes to. Where its arguments decide, that is
in kernel_choice.py. The kernels are in native/cuda, those of
linear algebra in native/cuda/linalg. A CPU's kernels have other names and other lists, so they are never asked.

An operator that takes integers for floating-point numbers (`sqrt`) has them in its list, since it computes them.
"""

from typing import NamedTuple

import torch

from samedevice.simulation.rules.dtypes import (
    ANY,
    AS_FLOATING,
    BOOL,
    COMPLEX,
    COMPLEX32,
    FLOAT8,
    FLOATING,
    INTEGERS,
    NUMBERS,
    ORDERED,
    REAL,
    UNSIGNED,
    USUAL,
)


class Kernel(NamedTuple):
    """Name a kernel as its errors do, and list the dtypes that it computes."""

    name: str
    dtypes: frozenset[torch.dtype]


def _rows(dtypes: frozenset[torch.dtype], **packets: str) -> dict[str, Kernel]:
    """Return a row for each operator. `packets` maps a kernel's name to its operators, separated by blanks."""
    return {packet: Kernel(name, dtypes) for name, listed in packets.items() for packet in listed.split()}


def _named_after(dtypes: frozenset[torch.dtype], packets: str) -> dict[str, Kernel]:
    """Return a row for each operator whose kernel is named after it: `mish` and "mish_cuda"."""
    return {packet: Kernel(f"{packet.removeprefix('special_')}_cuda", dtypes) for packet in packets.split()}


KERNELS: dict[str, Kernel] = {
    # Layers and losses: Activation*Kernel.cu, *Pool*.cu, UpSample*.cu, Loss*.cu, *Norm*.cu
    **_named_after(
        REAL,
        "adaptive_max_pool2d adaptive_max_pool3d elu frac glu hardshrink hardsigmoid hardswish hypot leaky_relu "
        "logaddexp2 mish multi_margin_loss nextafter softplus grid_sampler_2d grid_sampler_3d",
    ),
    **_rows(
        REAL,
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
    **_rows(REAL, host_softmax="_softmax _log_softmax _safe_softmax"),
    **_rows(REAL, host_softmax_backward="_log_softmax_backward_data"),
    **_rows(
        REAL | {torch.uint8},
        upsample_nearest1d_out_frame="upsample_nearest1d _upsample_nearest_exact1d",
        upsample_nearest2d_out_frame="upsample_nearest2d _upsample_nearest_exact2d",
        upsample_nearest3d_out_frame="upsample_nearest3d _upsample_nearest_exact3d",
    ),
    **_rows(FLOATING, ctc_loss_cuda="_ctc_loss", igamma_cuda="igamma", igammac_cuda="igammac"),
    **_named_after(REAL | COMPLEX, "silu"),
    **_named_after(NUMBERS, "fmod remainder threshold geometric"),
    **_rows(NUMBERS, clamp_scalar_cuda="relu hardtanh", div_floor_cuda="floor_divide"),
    **_rows(AS_FLOATING | REAL | COMPLEX | COMPLEX32, div_true_cuda="true_divide"),
    **_rows(REAL, LayerNormKernelImpl="native_layer_norm _fused_rms_norm"),
    **_rows(INTEGERS | FLOATING | {torch.float16}, histc="histc"),  # float16 gets another error (dtype_refusals.py)
    **_rows(REAL | COMPLEX | BOOL, im2col_out_cuda="im2col", col2im_out_cuda="col2im"),
    **_rows(NUMBERS | COMPLEX, reflection_pad1d_out="reflection_pad1d"),
    **_rows(NUMBERS | COMPLEX, reflection_pad2d_out_template="reflection_pad2d"),
    **_rows(NUMBERS | COMPLEX, reflection_pad3d_out_cuda="reflection_pad3d"),
    **_rows(NUMBERS | COMPLEX, replication_pad1d_cuda="replication_pad1d", replication_pad2d_cuda="replication_pad2d"),
    **_rows(NUMBERS | COMPLEX, replication_pad3d_cuda="replication_pad3d"),
    **_rows(
        NUMBERS, max_unpooling2d_forward_kernel="max_unpool2d", max_unpooling3d_forward_kernel="max_unpool3d"
    ),
    **_rows(AS_FLOATING | FLOATING, cdist_cuda="_cdist_forward", pdist_cuda="_pdist_forward"),
    **_rows(FLOATING | {torch.bfloat16}, polar_cuda="polar"),
    # Products: Blas.cpp. cuBLAS multiplies no integers.
    **_rows(
        REAL | COMPLEX,
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
        ORDERED,
        compare_cuda="ge gt le lt",
        cuda_mode="mode",
        xor_sum_cuda="hash_tensor",
        min_values_cuda="amin",
        max_values_cuda="amax",
    ),
    **_named_after(ORDERED, "cummax cummin"),
    **_named_after(NUMBERS, "kthvalue argmax argmin"),
    **_rows(NUMBERS, searchsorted_out_cuda="bucketize searchsorted", topk_out_cuda="topk"),
    # Functions of one number: Unary*Kernels.cu. Integers become floating-point numbers.
    **_named_after(
        AS_FLOATING | REAL | COMPLEX | COMPLEX32,
        "acos acosh asin asinh atan atanh cos cosh exp log rsqrt sigmoid sin sinh sqrt tan tanh",
    ),
    **_named_after(
        AS_FLOATING | REAL | COMPLEX, "exp2 expm1 log10 log1p log2 reciprocal sinc"
    ),
    **_named_after(
        AS_FLOATING | REAL,
        "atan2 copysign digamma erf erfc erfinv i0 lgamma logit special_entr special_i0e special_i1 special_i1e "
        "special_xlog1py xlogy",
    ),
    **_named_after(
        AS_FLOATING | FLOATING,
        "special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
        "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
        "special_chebyshev_polynomial_w special_erfcx special_hermite_polynomial_h special_hermite_polynomial_he "
        "special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr special_modified_bessel_i0 "
        "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_ndtri "
        "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t "
        "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
        "special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_zeta",
    ),
    **_named_after(AS_FLOATING | FLOATING | COMPLEX | COMPLEX32, "angle"),
    **_named_after(REAL | COMPLEX | COMPLEX32, "sigmoid_backward tanh_backward"),
    **_named_after(NUMBERS | UNSIGNED, "ceil floor trunc"),
    **_named_after(AS_FLOATING | REAL | COMPLEX | COMPLEX32, "frexp signbit"),
    **_named_after(BOOL | NUMBERS | COMPLEX | COMPLEX32, "abs heaviside neg"),
    # Arithmetic: Binary*Kernel.cu, ufunc_add_CUDA.cu (generated), PointwiseOpsKernel.cu, Lerp.cu
    **_rows(USUAL | COMPLEX32, mul_cuda="mul", ufunc_add_CUDA="add sub rsub dist"),
    **_rows(USUAL | COMPLEX32 | UNSIGNED, mul_cuda="deg2rad rad2deg allclose"),
    **_rows(NUMBERS | COMPLEX, addcmul_cuda="addcmul", addcdiv_cuda="addcdiv", cross_cuda="linalg_cross"),
    **_named_after(USUAL, "addr put take logical_and logical_or logical_xor logical_not"),
    **_rows(REAL | COMPLEX | COMPLEX32, lerp_cuda="lerp", logaddexp_cuda="logaddexp"),
    # Sums: ReduceSumProdKernel.cu, ReduceMomentKernel.cu, CumsumKernel.cu
    **_rows(USUAL | COMPLEX32, sum_cuda="sum trace", nansum_cuda="nansum", prod_cuda="prod"),
    **_rows(USUAL | COMPLEX32 | UNSIGNED, std_cuda="std std_mean var var_mean", norm_cuda="linalg_vector_norm"),
    **_rows(USUAL, mean_cuda="mean", or_cuda="any", and_cuda="all"),
    **_rows(AS_FLOATING | REAL | COMPLEX | COMPLEX32, max_values_cuda="logsumexp"),
    **_named_after(NUMBERS | COMPLEX, "cumsum cumprod"),
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
    **_rows(NUMBERS, index_reduce="index_reduce"),
    **_rows(ANY, cuda_scatter_gather_base_kernel_func="gather"),
    **_rows(USUAL | UNSIGNED, unfold_backward_cuda="unfold_backward"),
    **_rows(ANY, channel_shuffle="channel_shuffle", pixel_shuffle="pixel_shuffle", pixel_unshuffle="pixel_unshuffle"),
    **_rows(ANY, isin="isin", count_nonzero="count_nonzero", equal="equal"),
    **_rows(ANY, flip_cuda="flip", index_select_cuda="index_select", index_cuda="take_along_dim"),
    **_rows(USUAL, cuda_scatter_gather_base_kernel_func="scatter_add"),
    **_rows(ORDERED | UNSIGNED, unique="_unique2 _unique", unique_dim="unique_dim"),
    **_rows(AS_FLOATING | REAL | COMPLEX | COMPLEX32, embedding_backward="embedding_dense_backward"),
    # Fourier transforms: SpectralOps.cpp, by cuFFT
    **_rows(FLOATING | COMPLEX | COMPLEX32 | {torch.float16}, cuFFT="_fft_c2c _fft_c2r _fft_r2c"),
    # Random numbers: Distribution*.cu
    **_rows(
        REAL | COMPLEX | COMPLEX32, normal_kernel_cuda="normal_", check_uniform_bounds="uniform"
    ),
    "bernoulli_": Kernel("bernoulli_scalar_cuda_", ORDERED),
    **_named_after(AS_FLOATING | REAL | COMPLEX | COMPLEX32, "cauchy exponential"),
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
