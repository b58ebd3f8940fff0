"""What CUDA says of dtypes that an operator refuses, where the CPU, which computes here, says it in other words.

Only an operator that has failed is looked at.
"""

import re
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import dtypes
from samedevice.simulation.rules.errors import type_in_errors

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
    return text.replace(found[0], dtypes.types_differ(args[0], found[1], args[1] if found[1] == "weight" else args[2]))


def _cross(args: Any, text: str) -> str | None:
    """native/cuda/CrossKernel.cu: a TensorIterator of one dtype."""
    found = _SCALAR_TYPE.fullmatch(text)
    return f"Found dtype {found[2]} but expected {found[1]}" if found else None


def _max_unpool3d(args: Any, text: str) -> str | None:
    """native/cuda/MaxUnpooling.cu, max_unpooling3d_forward_out_cuda."""
    is_index = text == "elements in indices should be type int64"
    return f"{text} but got: {dtypes.name_of(args[1])}" if is_index else None


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
    return f"masked_fill only supports boolean masks, but got dtype {dtypes.name_of(args[1])}"


def _index_put(args: Any, text: str) -> str | None:
    """native/TensorAdvancedIndexing.cpp, _index_put_impl_: masked_fill_ with the one mask."""
    is_mask = text.startswith("masked_fill_ only supports boolean masks")
    return "masked_fill only supports boolean masks, but got dtype Byte" if is_mask else None


def _masked_scatter(args: Any, text: str) -> str | None:
    """native/cuda/IndexKernel.cpp, masked_scatter__cuda: the dtypes before the mask."""
    tensor, mask, source = args
    if tensor.dtype != source.dtype:
        names = f"{dtypes.name_of(tensor)} and {dtypes.name_of(source)}"
        return f"masked_scatter_: expected self and source to have same dtypes but got {names}"
    if mask.dtype == torch.bool or mask.dtype not in dtypes.NAMES_IN_CPP:
        return None
    return f"masked_scatter_ only supports boolean masks, but got mask with dtype {dtypes.NAMES_IN_CPP[mask.dtype]}"


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
