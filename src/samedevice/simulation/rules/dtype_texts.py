"""What CUDA says of dtypes that an operator refuses, where the CPU, which computes here, says it in other words.

Only an operator that has failed is looked at.
"""

import re
from collections.abc import Callable

import torch

from samedevice.simulation.calls import Arguments, Overload
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import dtypes
from samedevice.simulation.rules.errors import type_in_errors

# TensorUtils.cpp, checkScalarTypes: the type of an argument, then the function that checks it.
_ARGUMENT = re.compile(r"but got (torch\.|CPU)(\w+) instead \(while checking arguments for (\w+)\)")
_SCALAR_TYPE = re.compile(r"expected scalar type (\w+) but found (\w+)")


def text_of_cuda(operator: Overload, args: Arguments, text: str) -> str | None:
    """The text that CUDA has in the place of the CPU's; None where it is the same."""
    packet = operator._schema.name.partition("::")[2]
    if _ARGUMENT.search(text):
        return _argument(packet, text)
    translate = _BY_OPERATOR.get(packet)
    return translate(args, text) if translate else None


def text_of_cuda_composed(operator: Overload, args: Arguments, text: str) -> str | None:
    """Do as `text_of_cuda` for embedding, which looks at its indices before it is composed of others."""
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


def _cross(args: Arguments, text: str) -> str | None:
    """native/cuda/CrossKernel.cu: a TensorIterator of one dtype."""
    found = _SCALAR_TYPE.fullmatch(text)
    return f"Found dtype {found[2]} but expected {found[1]}" if found else None


def _max_unpool3d(args: Arguments, text: str) -> str | None:
    """native/cuda/MaxUnpooling.cu, max_unpooling3d_forward_out_cuda."""
    is_index = text == "elements in indices should be type int64"
    return f"{text} but got: {dtypes.name_of(args[1])}" if is_index else None


def _expand(args: Arguments, text: str) -> str | None:
    """native/TensorShape.cpp, expand: it prints the tensor's type."""
    given = args[0].type()
    return text.replace(type_in_errors(given.replace(".cuda", "")), type_in_errors(given), 1)


def _index_put(args: Arguments, text: str) -> str | None:
    """native/TensorAdvancedIndexing.cpp, _index_put_impl_: masked_fill_ with the one mask (native/cuda/Indexing.cu)."""
    is_mask = text.startswith("masked_fill_ only supports boolean masks")
    return "masked_fill only supports boolean masks, but got dtype Byte" if is_mask else None


def _trace(args: Arguments, text: str) -> str | None:
    """native/cuda/TriangularOps.cu, trace_cuda."""
    return "expected a matrix" if text.startswith("trace: expected a matrix") else None


def _bags(args: Arguments, text: str) -> str | None:
    """native/cuda/EmbeddingBag.cu, _embedding_bag_cuda."""
    is_count = text == "include_last_offset: number of offset should be at least 1"
    return "include_last_offset: numBags should be at least 1" if is_count else None


def _histc(args: Arguments, text: str) -> str | None:
    """native/cuda/SummaryOps.cu, _histc_cuda_template."""
    if text.startswith("torch.histogram(): bins must be > 0"):
        return "bins must be > 0"
    return text.removeprefix("torch.histc: ")


def _int_mm(args: Arguments, text: str) -> str | None:
    """native/cuda/Blas.cpp, _int_mm_out_cuda, which reads both matrices as int8."""
    if re.search("Expected (self|mat2) dtype to be", text):
        other = next(x for x in args[:2] if x.dtype is not torch.int8)
        return f"expected scalar type Char but found {dtypes.NAMES[other.dtype]}"
    return text.removeprefix("int_mm_out_cpu: ")


_BY_OPERATOR: dict[str, Callable[[Arguments, str], str | None]] = {
    "linalg_cross": _cross,
    "max_unpool3d": _max_unpool3d,
    "expand": _expand,
    "histc": _histc,
    "_int_mm": _int_mm,
    "trace": _trace,
    **dict.fromkeys(("_embedding_bag", "_embedding_bag_forward_only"), _bags),
    **dict.fromkeys(("index_put", "index_put_", "_index_put_impl_"), _index_put),
}
