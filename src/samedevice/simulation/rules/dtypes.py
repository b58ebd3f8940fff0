"""What CUDA says of dtypes that an operator refuses, where the CPU, which computes here, says it in other words.

Only an operator that has failed is looked at. What the CPU computes and CUDA does not is in known_differences.toml.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import convolution, kernel_names
from samedevice.simulation.rules.errors import type_in_errors

# c10/core/ScalarType.h prints a dtype by its name in C++.
_NAMES_IN_CPP = {
    torch.bool: "bool", torch.uint8: "unsigned char", torch.int8: "signed char", torch.int16: "short int",
    torch.int32: "int", torch.int64: "long int", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16",
    torch.float32: "float", torch.float64: "double",
}  # fmt: skip
# TensorUtils.cpp, checkScalarTypes: the type of an argument, then the function that checks it.
_ARGUMENT = re.compile(r"but got (torch\.|CPU)(\w+) instead \(while checking arguments for (\w+)\)")
_TYPES = re.compile(r"Input type \(\S+\) and (weight|bias) type \(\S+\) should be the same")
_SCALAR_TYPE = re.compile(r"expected scalar type (\w+) but found (\w+)")


def text_of_cuda(operator: Any, args: Any, text: str) -> str | None:
    """The text that CUDA has in the place of the CPU's; None where it is the same."""
    packet = operator._schema.name.partition("::")[2]
    if _ARGUMENT.search(text):
        return _argument(packet, text)
    translate = _BY_OPERATOR.get(packet)
    return translate(args, text) if translate else None


def text_of_cuda_composed(operator: Any, args: Any, text: str) -> str | None:
    """As `text_of_cuda`, for embedding, which looks at its indices before it is composed of others."""
    if operator is not torch.ops.aten.embedding.default or device_of(args[1]) is CPU:
        return None
    return text_of_cuda(operator, args, text)


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
    return NotImplementedError(f"\"{name}\" not implemented for '{name_of(tensor)}'")


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
            return RuntimeError(f"expected scalar type {name_of(args[0])} but found {name_of(parameter)}")
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
        f"Index put requires the source and destination dtypes match, got {name_of(target)} for the destination and "
        f"{name_of(values)} for the source."
    )


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


def expect_one(mat1: torch.Tensor, mat2: torch.Tensor) -> None:
    """native/cuda/Blas.cpp, addmm_out_cuda_impl."""
    names = [_NAMES_IN_CPP.get(x.dtype, name_of(x)) for x in (mat1, mat2)]
    if mat1.dtype is not mat2.dtype:
        raise RuntimeError(f"expected mat1 and mat2 to have the same dtype, but got: {names[0]} != {names[1]}")


def _argument(packet: str, text: str) -> str:
    """The type is that of a GPU's tensor; two functions have other names and numbers there (native/cuda/Embedding*)."""
    text = _ARGUMENT.sub(
        lambda of_cpu: (
            f"but got {'CUDA' if of_cpu[1] == 'CPU' else 'torch.cuda.'}{of_cpu[2]} instead "
            f"(while checking arguments for {of_cpu[3]})"
        ),
        text,
    )
    if packet in ("_embedding_bag", "_embedding_bag_forward_only"):
        return text.replace("for embedding_bag)", "for embedding_bag_cuda)")
    return text.replace("#2", "#1") if packet == "embedding_renorm_" else text


def _mm(args: Any, text: str) -> str | None:
    """native/cuda/Blas.cpp, where the CPU's says m1 and m2."""
    return text.replace("expected m1 and m2 to", "expected mat1 and mat2 to")


def _convolution(args: Any, text: str) -> str | None:
    """native/Convolution.cpp, check_input_same_type_as_parameters, where the CPU comes to it too."""
    found = _TYPES.match(text)
    if found is None:
        return None
    return text.replace(found[0], _types_differ(args[0], found[1], args[1] if found[1] == "weight" else args[2]))


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
    return RuntimeError(_types_differ(inputs, *other)) if convolution.compares_types(chosen) else None


def _types_differ(inputs: torch.Tensor, name: str, other: torch.Tensor) -> str:
    types = type_in_errors(inputs.type()), type_in_errors(other.type())
    return f"Input type ({types[0]}) and {name} type ({types[1]}) should be the same"


def _cross(args: Any, text: str) -> str | None:
    """native/cuda/CrossKernel.cu: a TensorIterator of one dtype."""
    found = _SCALAR_TYPE.fullmatch(text)
    return f"Found dtype {found[2]} but expected {found[1]}" if found else None


def _max_unpool3d(args: Any, text: str) -> str | None:
    """native/cuda/MaxUnpooling.cu, max_unpooling3d_forward_out_cuda."""
    is_index = text == "elements in indices should be type int64"
    return f"{text} but got: {name_of(args[1])}" if is_index else None


def _expand(args: Any, text: str) -> str | None:
    """native/TensorShape.cpp, expand: it prints the tensor's type."""
    given = args[0].type()
    return text.replace(type_in_errors(given.replace(".cuda", "")), type_in_errors(given), 1)


def _trace(args: Any, text: str) -> str | None:
    """native/cuda/TriangularOps.cu, trace_cuda."""
    return "expected a matrix" if text.startswith("trace: expected a matrix") else None


def _masked_fill(args: Any, text: str) -> str | None:
    """native/cuda/Indexing.cu, masked_fill__cuda."""
    if args[1].dtype == torch.bool:
        return None
    return f"masked_fill only supports boolean masks, but got dtype {name_of(args[1])}"


def _index_put(args: Any, text: str) -> str | None:
    """native/TensorAdvancedIndexing.cpp, _index_put_impl_: masked_fill_ with the one mask."""
    is_mask = text.startswith("masked_fill_ only supports boolean masks")
    return "masked_fill only supports boolean masks, but got dtype Byte" if is_mask else None


def _masked_scatter(args: Any, text: str) -> str | None:
    """native/cuda/IndexKernel.cpp, masked_scatter__cuda: the dtypes before the mask."""
    tensor, mask, source = args
    if tensor.dtype != source.dtype:
        names = f"{name_of(tensor)} and {name_of(source)}"
        return f"masked_scatter_: expected self and source to have same dtypes but got {names}"
    if mask.dtype == torch.bool or mask.dtype not in _NAMES_IN_CPP:
        return None
    return f"masked_scatter_ only supports boolean masks, but got mask with dtype {_NAMES_IN_CPP[mask.dtype]}"


def expected_scalar_type(inputs: torch.Tensor, result: torch.Tensor) -> None:
    """native/ReduceOpsUtils.h, check_scalar_type_device_layout_equal: the dtype before the device."""
    if inputs.dtype is not result.dtype:
        raise RuntimeError(f"expected scalar_type {name_of(inputs)} but found {name_of(result)}")


def name_of(tensor: torch.Tensor) -> str:
    """Float, of torch.cuda.FloatTensor."""
    return tensor.type().rpartition(".")[2].removesuffix("Tensor")


_BY_OPERATOR: dict[str, Callable[[Any, str], str | None]] = {
    "mm": _mm,
    "convolution": _convolution,
    "linalg_cross": _cross,
    "max_unpool3d": _max_unpool3d,
    "expand": _expand,
    "masked_fill": _masked_fill,
    "masked_fill_": _masked_fill,
    **dict.fromkeys(("index_put", "index_put_", "_index_put_impl_"), _index_put),
    "masked_scatter": _masked_scatter,
    "masked_scatter_": _masked_scatter,
    "trace": _trace,
}

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

# The operators of which CUDA computes fewer dtypes: see `refusal_of`.
OF_FEWER_DTYPES = {
    getattr(getattr(torch.ops.aten, packet), overload)
    for packet in _UNCOMPUTED
    for overload in getattr(torch.ops.aten, packet).overloads()
}
