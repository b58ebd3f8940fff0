"""The dtypes for which CUDA has no kernel and the CPU, which computes here, has one.

More of what the CPU computes and CUDA does not is in known_differences.toml.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import convolution, dtypes, kernel_names


def refusal_of(operator: Any) -> Callable[[Any], Exception | None] | None:
    """What tells, of the arguments of this operator, what CUDA may say of their dtypes; None: it computes all."""
    return _UNCOMPUTED.get(operator._schema.name.partition("::")[2]) if operator in OF_FEWER_DTYPES else None


def refuse(text: Exception, operator: Any, args: Any, kwargs: Any, compute: Callable[..., Any]) -> None:
    """Raise what CUDA says of dtypes that it has no kernel for and the CPU has; of other mistakes the CPU tells first.

    `compute` runs the operator on the CPU. It is given copies here, so a refused call changes nothing.
    """
    copy: Any = torch.ops.aten.clone.default
    arguments, named = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda x: compute(copy._op, (), (x,), {}), (args, kwargs)
    )
    try:
        result = compute(operator._op, (), arguments, named)
    except NotImplementedError:
        raise text from None
    except RuntimeError as error:
        if _ABOUT_DTYPES.search(str(error)):
            raise text from None
        return  # told where the operator really runs
    # What has no elements reaches no kernel, except of dot; a factor without any is enough.
    result = result[0] if isinstance(result, tuple) else result
    empty = isinstance(text, NotImplementedError) and (
        result.numel() == 0 or any(x.numel() == 0 for x in args[-2:] if isinstance(x, torch.Tensor))
    )
    if not empty or result.dim() == 0:
        raise text


_ABOUT_DTYPES = re.compile(
    "expected scalar type|following scalar types|mixed dtype|type .* should be the same|can't be cast"
)


def _no_kernel(name: str, tensor: torch.Tensor) -> Exception:
    """ATen/Dispatch.h: the kernel of this name has no code for the dtype."""
    return NotImplementedError(f"\"{name}\" not implemented for '{dtypes.name_of(tensor)}'")


def _no_integers(name: str, args: Any) -> Exception | None:
    """native/cuda/Blas.cpp: cuBLAS multiplies no integers. native/cuda/*Pool*.cu, EmbeddingBag.cu: nor do these."""
    first = args[0]
    return None if first.is_floating_point() or first.is_complex() else _no_kernel(name, first)


def _only_floats(name: str, args: Any) -> Exception | None:
    """native/cuda/Dropout.cu, EmbeddingBag.cu: neither integers nor complex numbers."""
    return None if args[0].is_floating_point() else _no_kernel(name, args[0])


def _no_halves(name: str, args: Any) -> Exception | None:
    """native/cuda/IGammaKernel.cu, ComplexKernel.cu: no numbers of 16 bits."""
    return _no_kernel(name, args[0]) if args[0].dtype in (torch.float16, torch.bfloat16) else None


def _no_bytes(packet: str, args: Any) -> Exception | None:
    """native/cuda/UpSample*.cu: images of bytes are for the mode nearest alone."""
    return _no_kernel(kernel_names.upsampling(packet), args[0]) if args[0].dtype is torch.uint8 else None


def _reduces_numbers(name: str, args: Any) -> Exception | None:
    """native/cuda/ScatterGatherKernel.cu and Indexing.cu: only a sum takes booleans and complex numbers."""
    first, reduce = args[0], args[4]
    refused = reduce != "sum" and (first.dtype is torch.bool or first.is_complex())
    return _no_kernel(name, first) if refused else None


def _histogram(args: Any) -> Exception | None:
    """native/cuda/SummaryOps.cu, _histc_cuda."""
    if args[0].dtype is torch.float16:
        return RuntimeError("HalfTensor is not supported")
    return _no_kernel("histc", args[0]) if args[0].dtype is torch.bfloat16 else None


def _one_kind(number: int, args: Any) -> Exception | None:
    """native/cuda/layer_norm_kernel.cu and group_norm_kernel.cu: how weights, from argument `number` on, are read."""
    leading = args[0].shape[: args[0].dim() - len(args[1])] if number == 2 else args[0].shape[:1]
    if 0 in leading:
        return None  # no row, so no kernel
    if number == 1 and args[0].dtype not in (torch.float16, torch.bfloat16):
        return None  # native/group_norm.cpp says so for CPU and GPU, by check_mixed_data_type
    if number == 2 and not args[0].is_floating_point():
        return _no_kernel("LayerNormKernelImpl", args[0])
    for parameter in args[number : number + 2]:
        if isinstance(parameter, torch.Tensor) and parameter.dtype is not args[0].dtype:
            return RuntimeError(f"expected scalar type {dtypes.name_of(args[0])} but found {dtypes.name_of(parameter)}")
    return None


def index_put(args: Any) -> Exception | None:
    """native/TensorAdvancedIndexing.cpp, make_info, where the CPU would fill by a mask, which converts.

    TensorAdvancedIndexingUtils.h, canDispatchToMaskedFill: the mask is beside its tensor, the one value on the CPU.
    """
    target, indices, values = args[:3]
    if target.dtype is values.dtype or values.numel() != 1:
        return None
    place = device_of(target)
    if device_of(values) is CPU and all(device_of(index) == place for index in indices if index is not None):
        return None
    return RuntimeError(
        f"Index put requires the source and destination dtypes match, got {dtypes.name_of(target)} for the "
        f"destination and {dtypes.name_of(values)} for the source."
    )


def _class_numbers(args: Any) -> Exception | None:
    """native/cuda/Loss.cu, AT_DISPATCH_NLL_LOSS_INDEX_TYPES; from torch 2.12 on, all devices refuse them before."""
    inputs, target, _, reduction = args[:4]
    if target.dtype in (torch.long, torch.uint8):
        return None
    reduced = "_no_reduce" if inputs.dim() > 1 and not reduction else "_reduce"
    shape = "_1d" if inputs.dim() < 2 else "_2d" if reduction else ""
    return _no_kernel(f"nll_loss_forward{reduced}_cuda_kernel{shape}_index", target)


def _one_type(args: Any) -> Exception | None:
    """native/Convolution.cpp, check_input_same_type_as_parameters: what cuDNN convolves is compared by its type."""
    inputs = args[0]
    other = next(
        (x for x in (("weight", args[1]), ("bias", args[2])) if x[1] is not None and x[1].dtype is not inputs.dtype),
        None,
    )
    if other is None:
        return None
    chosen = convolution.method(inputs, args[1], device_of(inputs) is not CPU, convolution.Parameters(*args[3:9]))
    return RuntimeError(dtypes.types_differ(inputs, *other)) if convolution.compares_types(chosen) else None


_PRODUCTS = {
    "addmm_cuda": ("mm", "addmm", "addmm_", "addbmm", "addbmm_"),
    "baddbmm_cuda": ("bmm", "baddbmm", "baddbmm_"),
    "addmv_impl_cuda": ("mv", "addmv", "addmv_"),
    "dot": ("dot", "vdot"),
}
_OF_FLOATING_POINT = {
    "avg_pool2d": "avg_pool2d_out_cuda_frame",
    "avg_pool3d": "avg_pool3d_out_cuda",
    "max_pool2d_with_indices": "max_pool2d_with_indices_out_cuda_frame",
    "max_pool3d_with_indices": "max_pool3d_with_indices_out_frame",
    "_trilinear": "baddbmm_cuda",
}
_UNCOMPUTED: dict[str, Callable[[Any], Exception | None]] = {
    "convolution": _one_type,
    "native_layer_norm": functools.partial(_one_kind, 2),
    "native_group_norm": functools.partial(_one_kind, 1),
    **{packet: functools.partial(_no_integers, name) for name, packets in _PRODUCTS.items() for packet in packets},
    **{packet: functools.partial(_no_integers, name) for packet, name in _OF_FLOATING_POINT.items()},
    "native_dropout_backward": functools.partial(_only_floats, "masked_scale"),
    **dict.fromkeys(
        ("_embedding_bag", "_embedding_bag_forward_only"), functools.partial(_only_floats, "embedding_bag_cuda")
    ),
    "angle": functools.partial(_no_halves, "angle_cuda"),
    **dict.fromkeys(("igamma", "igamma_"), functools.partial(_no_halves, "igamma_cuda")),
    **dict.fromkeys(("igammac", "igammac_"), functools.partial(_no_halves, "igammac_cuda")),
    **{
        packet: functools.partial(_no_bytes, packet)
        for packet in ("upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
    },
    **dict.fromkeys(
        ("scatter_reduce", "scatter_reduce_"),
        functools.partial(_reduces_numbers, "cuda_scatter_gather_base_kernel_func"),
    ),
    **dict.fromkeys(("index_reduce", "index_reduce_"), functools.partial(_reduces_numbers, "index_reduce")),
    "histc": _histogram,
    **dict.fromkeys(("index_put", "index_put_", "_index_put_impl_"), index_put),
}
if torch.__version__ < "2.12":
    _UNCOMPUTED["nll_loss_forward"] = _class_numbers

# The operators of which CUDA computes fewer dtypes: see `refusal_of`.
OF_FEWER_DTYPES = {
    getattr(getattr(torch.ops.aten, packet), overload)
    for packet in _UNCOMPUTED
    for overload in getattr(torch.ops.aten, packet).overloads()
}
