"""The checks that kernels for nested tensors of the strided layout make by hand, and how CUDA's broadcast over one.

BY_KERNEL has PyTorch's own names of these kernels.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch

from samedevice.simulation.calls import Arguments
from samedevice.simulation.device.devices import CPU
from samedevice.simulation.rules.tensor_iterator import Operand, named, tensor_iterator

# What is kept of a nested tensor on the CPU, on CUDA too.
ON_CPU = tuple(
    getattr(torch.ops.aten, f"_nested_tensor_{name}").default for name in ("size", "strides", "storage_offsets")
)

# native/nested/NestedTensorBinaryOps.cpp: on CUDA, some dense tensors broadcast over a nested one.
_BROADCASTS: dict[Any, tuple[Any, str]] = {
    "NestedTensor_add_Tensor": (torch.add, "add"),
    "NestedTensor_div_Tensor": (torch.div, "div"),
    "NestedTensor_mul_Tensor": (torch.mul, "mul"),
    "NestedTensor_sub_Tensor": (torch.sub, "sub"),
}


def broadcasts(kernel: Any, args: Arguments) -> bool:
    """Whether this kernel is one that, on CUDA, broadcasts the dense tensor among its arguments over the nested one."""
    if kernel not in _BROADCASTS or len(args) != 2:
        return False
    first, second = args
    return first.is_nested and isinstance(second, torch.Tensor) and not second.is_nested and second.dim() > 0


def broadcast_rows(kernel: Any, nested: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    """What that kernel computes, row by row, or what it refuses."""
    function, name = _BROADCASTS[kernel]
    with torch._C._DisableTorchDispatch():
        rows = nested.unbind()
        dims = nested.dim(), dense.dim()
        if dims == (4, 3) and dense.shape[1:] == (1, 1) and all(len(row) == len(dense) for row in rows):
            return torch._nested_tensor_from_tensor_list([function(row, dense) for row in rows])
        last = {row.shape[-1] for row in rows} if dims == (3, 3) else {1}
        if dims not in ((2, 2), (3, 3)) or dense.shape[:2] != (len(rows), 1) or last != {dense.shape[-1]}:
            _not_both_nested(name)
        if name in ("sub", "div"):
            raise RuntimeError(f"Unsupported nested dense elementwise op: {name}.")
        pairs = zip(rows, dense, strict=True)
        return torch._nested_tensor_from_tensor_list([function(row, other) for row, other in pairs])


def _pair(name: str, operands: Sequence[Operand]) -> torch.device:
    """native/nested/NestedTensorBinaryOps.cpp, NestedTensor_elementwise_Tensor: the buffers, or one and a scalar."""
    self, other = named(operands, "self"), named(operands, "other")
    if not self.tensor.is_nested and self.tensor.dim():
        raise RuntimeError("Expected both self and other to be nested, but got a non-nested self and nested other")
    if not other.tensor.is_nested and other.tensor.dim():
        if CPU in (self.device, other.device) or self.is_written:
            _not_both_nested()
        broadcast_rows(f"NestedTensor_{name}_Tensor", self.tensor, other.tensor)
        home: torch.device = self.device  # two GPUs are not compared
        return home
    if self.tensor.is_nested and other.tensor.is_nested:
        _same_places(name + "_" * self.is_written, self.tensor, other.tensor)
    return tensor_iterator(operands)


def _same_places(name: str, *pair: torch.Tensor) -> None:
    """native/nested/NestedTensorBinaryOps.cpp, get_elementwise_nested_tensor_impl: what comes before the buffers."""
    with torch._C._DisableTorchDispatch():
        sizes, strides, offsets = ([function(tensor).tolist() for tensor in pair] for function in ON_CPU)
    for first, second, refused in (
        (*sizes, "does not support broadcasting when given a NestedTensor"),
        (*strides, "requires strides to match when given NestedTensors"),
        (*offsets, "requires offsets to match when given NestedTensors"),
    ):
        if first != second:
            raise RuntimeError(f"{name} {refused}")


def _mask(operands: Sequence[Operand]) -> torch.device:
    """native/nested/NestedTensorMath.cpp, NestedTensor_masked_fill."""
    self, mask = named(operands, "self"), named(operands, "mask")
    if self.device != mask.device:
        raise RuntimeError(
            f"expected self and mask to be on the same device, but got mask on {mask.device} and self on {self.device}"
        )
    device: torch.device = self.device
    return device


def _from_anywhere(operands: Sequence[Operand]) -> torch.device:
    """native/nested/NestedTensorFactories.cpp, copy_nested_, and NestedTensorBinaryOps.cpp there, fill_nested_."""
    device: torch.device = operands[0].device
    return device


def _not_both_nested(name: str = "") -> NoReturn:
    raise RuntimeError(
        "Expected both self and other to be nested, but got a nested self and non-nested other"
        + (f" for op: {name}." if name else "")
    )


BY_KERNEL: dict[str, Callable[[Sequence[Any]], Any]] = {
    "NestedTensor_masked_fill": _mask,
    "copy_nested_": _from_anywhere,
    "fill_nested_": _from_anywhere,
    **{f"NestedTensor_{name}_Tensor": functools.partial(_pair, name) for name in ("add", "sub", "mul", "div")},
    **{f"NestedTensor_{name}__Tensor": functools.partial(_pair, name) for name in ("add", "mul")},
}
