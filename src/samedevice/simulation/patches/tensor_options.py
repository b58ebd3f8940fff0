"""The text of a tensor's options, which c10/core/TensorOptions.cpp prints into errors of torch.distributed."""

import torch

_IN_CPP = {
    torch.float32: "float", torch.float64: "double", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16",
    torch.int64: "long int", torch.int32: "int", torch.int16: "short int", torch.int8: "signed char",
    torch.uint8: "unsigned char", torch.bool: "bool",
}  # fmt: skip


def text_of(x: torch.Tensor) -> str:
    """Print the options of a tensor as PyTorch does."""
    kind = str(x.dtype).removeprefix("torch.")
    return (
        f"TensorOptions(dtype={_IN_CPP.get(x.dtype, f'c10::{kind.capitalize()}')}, device={x.device}, layout=Strided, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )
