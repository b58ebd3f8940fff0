"""What CUDA says of dtypes that an operator refuses, where the CPU, which computes here, says it in other words.

Only an operator that has failed is looked at. What the CPU computes and CUDA does not is in known_differences.toml.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import convolution

# c10/core/ScalarType.h prints a dtype by its name in C++.
_NAMES_IN_CPP = {
    torch.bool: "bool", torch.uint8: "unsigned char", torch.int8: "signed char", torch.int16: "short int",
    torch.int32: "int", torch.int64: "long int", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16",
    torch.float32: "float", torch.float64: "double",
}  # fmt: skip
# TensorUtils.cpp, checkScalarTypes: the type of an argument, then the function that checks it.
_ARGUMENT = re.compile(r"but got torch\.(\w+) instead \(while checking arguments for (\w+)\)")


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
        if "scalar type" in str(error) or "mixed dtype" in str(error):
            raise text from None
        return  # told where the operator really runs
    # What has no elements reaches no kernel, except of dot; a factor without any is enough.
    empty = isinstance(text, NotImplementedError) and (
        result.numel() == 0 or any(x.numel() == 0 for x in args[-2:] if isinstance(x, torch.Tensor))
    )
    if not empty or result.dim() == 0:
        raise text


def _no_integers(name: str, args: Any) -> Exception | None:
    """native/cuda/Blas.cpp: cuBLAS multiplies no integers."""
    first = args[0]
    if first.is_floating_point() or first.is_complex():
        return None
    return NotImplementedError(f"\"{name}\" not implemented for '{name_of(first)}'")


def _one_kind(number: int, args: Any) -> Exception | None:
    """native/cuda/layer_norm_kernel.cu and group_norm_kernel.cu: how weights, from argument `number` on, are read."""
    leading = args[0].shape[: args[0].dim() - len(args[1])] if number == 2 else args[0].shape[:1]
    if 0 in leading:
        return None  # no row, so no kernel
    for parameter in args[number : number + 2]:
        if isinstance(parameter, torch.Tensor) and parameter.dtype is not args[0].dtype:
            return RuntimeError(f"expected scalar type {name_of(args[0])} but found {name_of(parameter)}")
    return None


def expect_one(mat1: torch.Tensor, mat2: torch.Tensor) -> None:
    """native/cuda/Blas.cpp, addmm_out_cuda_impl."""
    names = [_NAMES_IN_CPP.get(x.dtype, name_of(x)) for x in (mat1, mat2)]
    if mat1.dtype is not mat2.dtype:
        raise RuntimeError(f"expected mat1 and mat2 to have the same dtype, but got: {names[0]} != {names[1]}")


def _argument(packet: str, text: str) -> str:
    """The type is that of a GPU's tensor; two functions have other names and numbers there (native/cuda/Embedding*)."""
    text = _ARGUMENT.sub(r"but got torch.cuda.\1 instead (while checking arguments for \2)", text)
    if packet in ("_embedding_bag", "_embedding_bag_forward_only"):
        return text.replace("for embedding_bag)", "for embedding_bag_cuda)")
    return text.replace("#2", "#1") if packet == "embedding_renorm_" else text


def _mm(args: Any, text: str) -> str | None:
    """native/cuda/Blas.cpp, where the CPU's says m1 and m2."""
    return text.replace("expected m1 and m2 to", "expected mat1 and mat2 to")


def _convolution(args: Any, text: str) -> str | None:
    """native/Convolution.cpp, check_input_same_type_as_parameters: what cuDNN convolves is compared by its type."""
    inputs, weight = args[:2]
    if inputs.dtype == weight.dtype:
        return None
    chosen = convolution.method(inputs, weight, device_of(inputs) is not CPU, convolution.Parameters(*args[3:9]))
    if not convolution.compares_types(chosen):
        return None
    return f"Input type ({inputs.type()}) and weight type ({weight.type()}) should be the same"


def _masked_fill(args: Any, text: str) -> str | None:
    """native/cuda/Indexing.cu, masked_fill__cuda."""
    if args[1].dtype == torch.bool:
        return None
    return f"masked_fill only supports boolean masks, but got dtype {name_of(args[1])}"


def _masked_scatter(args: Any, text: str) -> str | None:
    """native/cuda/IndexKernel.cpp, masked_scatter__cuda: the dtypes before the mask."""
    tensor, mask, source = args
    if tensor.dtype != source.dtype:
        names = f"{name_of(tensor)} and {name_of(source)}"
        return f"masked_scatter_: expected self and source to have same dtypes but got {names}"
    if mask.dtype == torch.bool or mask.dtype not in _NAMES_IN_CPP:
        return None
    return f"masked_scatter_ only supports boolean masks, but got mask with dtype {_NAMES_IN_CPP[mask.dtype]}"


def name_of(tensor: torch.Tensor) -> str:
    """Float, of torch.cuda.FloatTensor."""
    return tensor.type().rpartition(".")[2].removesuffix("Tensor")


_BY_OPERATOR: dict[str, Callable[[Any, str], str | None]] = {
    "mm": _mm,
    "convolution": _convolution,
    "masked_fill": _masked_fill,
    "masked_fill_": _masked_fill,
    "masked_scatter": _masked_scatter,
    "masked_scatter_": _masked_scatter,
}

_PRODUCTS = {
    "addmm_cuda": ("mm", "addmm", "addmm_", "addbmm", "addbmm_"),
    "baddbmm_cuda": ("bmm", "baddbmm", "baddbmm_"),
    "addmv_impl_cuda": ("mv", "addmv", "addmv_"),
    "dot": ("dot", "vdot"),
}
_UNCOMPUTED: dict[str, Callable[[Any], Exception | None]] = {
    "native_layer_norm": functools.partial(_one_kind, 2),
    "native_group_norm": functools.partial(_one_kind, 1),
    **{packet: functools.partial(_no_integers, name) for name, packets in _PRODUCTS.items() for packet in packets},
}

# The operators of which CUDA computes fewer dtypes: see `refusal_of`.
OF_FEWER_DTYPES = {
    getattr(getattr(torch.ops.aten, packet), overload)
    for packet in _UNCOMPUTED
    for overload in getattr(torch.ops.aten, packet).overloads()
}
