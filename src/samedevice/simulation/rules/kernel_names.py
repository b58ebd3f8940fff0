"""What CUDA calls its kernels where the CPU's have other names: "X" not implemented for 'Y'.

Each kernel says its name where it chooses its code by the dtype (ATen/Dispatch.h): those of CUDA are in native/cuda and
native/cuda/linalg. Most differ in their end alone, `silu_cpu` and `silu_cuda`. Where one of the CPU's stands for
several of CUDA's, the operator tells which. The few that the shapes tell, in linear algebra, keep the CPU's name.
"""

import re
from typing import Any

_NAME = re.compile(r"\"([\w<>.]+)\" not implemented for '(\w+)'")
_OF_CPU = re.compile(r"(_out)?(_vml)?_cpu(_?)$")
_KEEP_OUT = ("bernoulli", "im2col", "rrelu", "searchsorted", "slow_conv")  # `..._out_cpu` is `..._out_cuda`

_BY_SHAPE = (
    "cholesky_inverse_out_cpu", "cholesky_solve_cpu", "ldl_factor_kernel_cpu", "ldl_solve_kernel_cpu",
    "linalg.lu_solve_cpu", "linalg_svd_cpu", "lu_cpu",
)  # fmt: skip

_NAMES = {
    "GeluKernelImpl": "GeluCUDAKernelImpl",
    "_segment_reduce_cpu": "segment_reduce_cuda",
    "adaptive_avg_pool2d": "adaptive_avg_pool2d_cuda",
    "adaptive_max_pool2d": "adaptive_max_pool2d_cuda",
    "addcdiv_cpu_out": "addcdiv_cuda",
    "addcmul_cpu_out": "addcmul_cuda",
    "avg_pool2d": "avg_pool2d_out_cuda_frame",
    "avg_pool3d_out_frame": "avg_pool3d_out_cuda",
    "batch_norm": "batch_norm_stats_cuda",
    "binary_cross_entropy": "binary_cross_entropy_out_cuda",
    "bmm": "baddbmm_cuda",
    "cdist": "cdist_cuda",
    "cholesky_cpu": "cholesky_cusolver",
    "cross": "cross_cuda",
    "digamma": "digamma_cuda",
    "fractional_max_pool2d_out_frame": "fractional_max_pool2d_out_cuda_frame",
    "grid_sampler3d_cpu": "grid_sampler_3d_cuda",
    "grid_sampler_2d_cpu_kernel_impl": "grid_sampler_2d_cuda",
    "lerp_kernel_scalar": "lerp_cuda",
    "lerp_kernel_tensor": "lerp_cuda",
    "linalg_eig_out_cpu": "linalg_eig_cuda",
    "log_sigmoid_cpu": "log_sigmoid_forward_cuda",
    "log_softmax_kernel_impl": "host_softmax",
    "log_softmax_lastdim_kernel_impl": "host_softmax",
    "max_all": "max_all_cuda",
    "max_pool2d": "max_pool2d_with_indices_out_cuda_frame",
    "max_pool3d": "max_pool3d_with_indices_out_frame",
    "max_unpool2d": "max_unpooling2d_forward_kernel",
    "max_unpool3d": "max_unpooling3d_forward_kernel",
    "maximum_cpu": "max_elementwise_cuda",
    "median_out": "median_out_impl",
    "min_all": "min_all_cuda",
    "minimum_cpu": "min_elementwise_cuda",
    "mode_cpu": "cuda_mode",
    "multi_margin_loss_cpu_kernel": "multi_margin_loss_cuda",
    "multilabel_margin_loss_forward_out_frame": "multilabel_margin_loss_forward_kernel",
    "nll_loss2d_forward_out_frame": "nll_loss2d_forward_kernel",
    "ormqr_cpu": "orgmr_cuda",  # as native/cuda/linalg/BatchLinearAlgebraLib.cpp spells it
    "pdist": "pdist_cuda",
    "pow": "pow_cuda",
    "reflection_pad1d": "reflection_pad1d_out",
    "reflection_pad2d": "reflection_pad2d_out_template",
    "replication_pad1d": "replication_pad1d_cuda",
    "replication_pad2d": "replication_pad2d_cuda",
    "rms_norm": "LayerNormKernelImpl",
    "softmax_kernel_impl": "host_softmax",
    "softmax_lastdim_kernel_impl": "host_softmax",
    "tril_indices": "tril_indices_cuda",
    "trigamma": "trigamma_cuda",
    "triu_indices": "triu_indices_cuda",
    **dict.fromkeys(("ge_cpu", "gt_cpu", "le_cpu", "lt_cpu"), "compare_cuda"),
}


# Kernels that CUDA has not, and what it says before it would come to one.
_SAID_BEFORE = {
    # native/cuda/DistributionTemplates.h, bernoulli_kernel
    "bernoulli_tensor_cpu_p_": "expected probabilities tensor to have floating type, got {}",
    "bernoulli_tensor_cpu_self_": "expected probabilities tensor to have floating type, got {}",
    # native/cuda/Sorting.cpp sorts, and native/cuda/Sort.cpp speaks of the CPU
    "median_cpu": " Sort does not support complex dtypes on CPU",
}


def of_cuda(packet: str, args: Any, kwargs: Any, error: NotImplementedError) -> RuntimeError | None:
    """The error in which a kernel of CUDA refuses a dtype, in place of the CPU's; None of any other error."""
    found = _NAME.match(str(error))
    if found is None:
        return None
    name, dtype = found.groups()
    if name in _SAID_BEFORE and (name != "median_cpu" or dtype.startswith("Complex")):
        return RuntimeError(_SAID_BEFORE[name].format(dtype))
    return NotImplementedError(f"\"{_translated(packet, args, kwargs or {}, name)}\" not implemented for '{dtype}'")


def _translated(packet: str, args: Any, kwargs: Any, name: str) -> str:
    if packet in ("index_reduce", "index_reduce_"):
        return "index_reduce"
    if packet == "histc":
        return "histc"
    if "scatter" in packet and "reduce" in name:
        return "cuda_scatter_gather_base_kernel_func"
    if packet == "nll_loss_forward":  # native/cuda/Loss.cu
        if args[0].dim() < 2:
            return "nll_loss_forward_reduce_cuda_kernel_1d"
        return "nll_loss_forward_reduce_cuda_kernel_2d" if args[3] else "nll_loss_forward_no_reduce_cuda_kernel"
    if packet == "aminmax" and kwargs.get("dim") is None:
        return "aminmax_all_cuda"
    if "upsample" in packet and not packet.endswith("backward"):
        return upsampling(packet)
    if name in _BY_SHAPE:
        return name
    if name in _NAMES:
        return _NAMES[name]
    keeps_out = name.startswith(_KEEP_OUT)
    return _OF_CPU.sub(lambda end: f"{end[1] or '' if keeps_out else ''}_cuda{end[3]}", name)


def upsampling(packet: str) -> str:
    """native/cuda/UpSample*.cu: a name for each mode, exact or not, and one for both that are antialiased."""
    if packet.endswith("_aa"):
        return "upsample_bilinear2d_out_frame"
    return f"{packet.removeprefix('_').replace('_exact', '')}_out_frame"
