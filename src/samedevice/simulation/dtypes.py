"""What CUDA says of dtypes that an operator refuses, where the CPU, which computes here, says it in other words.

Only an operator that has failed is looked at. What the CPU computes and CUDA does not is in known_differences.toml.
"""

import re
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation import convolution
from samedevice.simulation.devices import CPU, device_of

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
