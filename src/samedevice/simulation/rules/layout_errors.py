"""What kernels of the CPU say of sparse and nested tensors, in the words that CUDA's have in the same place."""

import re
from collections.abc import Sequence

import torch

from samedevice.simulation.calls import Overload
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import native_functions

_WORDS = (
    ("SparseCsrCPU", "SparseCsrCUDA"),
    ("sparse_binary_op_intersection_cpu", "sparse_binary_op_intersection_cuda"),
    ("op2-sparse addition", "dense-sparse addition"),
    ("computation on CPU is not implemented", "computation on CUDA is not implemented"),
    ("expected sizes of 'self' and 'other' to match, but", "expected 'self' and 'other' to have same size, but"),
)


def reworded(error: RuntimeError, tensors: Sequence[torch.Tensor] = ()) -> RuntimeError:
    """The error as it comes from a kernel of the CPU, or another with CUDA's words."""
    text = _in_words_of_cuda(str(error), tensors)
    return error if text == str(error) else type(error)(text)


def missing(error: NotImplementedError, func: Overload) -> RuntimeError:
    """The error for dense tensors and an operator that the CPU does not have, reworded if CUDA has it not either."""
    operator = native_functions.operator(func.name().removeprefix("aten::"))
    is_there = operator is not None and operator.has_cuda_kernel and "'QuantizedCPU' backend" not in str(error)
    return error if is_there else reworded(error)


def _in_words_of_cuda(text: str, tensors: Sequence[torch.Tensor]) -> str:
    text = re.sub(r"(from the '\w*)CPU(' backend)", r"\1CUDA\2", text)
    for of_cpu, of_cuda in _WORDS:
        text = text.replace(of_cpu, of_cuda)
    copy = re.fullmatch(r"(copy_\(\) between dense .* self type = torch\.)(.* and src type = torch\.)(.*)", text)
    if copy and tensors:  # native/Copy.cpp
        first, second = ("cuda." * (device_of(tensor) is not CPU) for tensor in tensors[:2])
        text = f"{copy[1]}{first}{copy[2]}{second}{copy[3]}"
    return text
