"""The device checks of indexing and searching: indices may come from further away than values.

As in checks.py, one small function for each, with the source file it follows.
"""

from collections.abc import Sequence

import torch

from samedevice.simulation.calls import Arguments
from samedevice.simulation.device.devices import CPU, not_equal
from samedevice.simulation.rules import dtype_refusals
from samedevice.simulation.rules.errors import found_two_devices
from samedevice.simulation.rules.native_functions import Operator
from samedevice.simulation.rules.tensor_iterator import Check, Operand, generated, named, tensor_iterator


def _index(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/TensorAdvancedIndexing.cpp, make_info."""
    device: torch.device = named(operands, "self").device
    for operand in operands:
        if operand.name == "indices" and operand.device not in (CPU, device):
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({device})"
            )
        if operand.is_out and operand.device != device:
            found_two_devices(*((operand.device, device) if device is CPU else (device, operand.device)))
    return device


def _index_put(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/TensorAdvancedIndexing.cpp, _index_put_impl_: indices come from anywhere, the values must be here."""
    target, values = named(operands, "self"), named(operands, "values")
    device: torch.device = target.device
    if values.device == device or values.tensor.dim() == 0:
        if (refusal := dtype_refusals.index_put(args, {})) is not None:
            _indices_fit(args)
            raise refusal
        return device
    if device.type == "cuda" and len(args) > 3 and args[3]:  # accumulate
        raise RuntimeError(f"expected device {device} but got device {values.device} for value tensor")
    _indices_fit(args)
    return tensor_iterator([target, values])


def _indices_fit(args: Arguments) -> None:
    """Raise what make_info says of the indices' dtypes and number, and of the values' dtype and shape: it comes first.

    The CPU says the same, of the same memory; where an index leads is not asked on a GPU.
    """
    with torch._C._DisableTorchDispatch(), torch.no_grad():
        try:
            torch.ops.aten._index_put_impl_.default(args[0].clone(), *args[1:3])
        except (RuntimeError, IndexError) as error:
            if "out of bounds" not in str(error):
                raise type(error)(str(error)) from None


def _index_fill(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/TensorAdvancedIndexing.cpp, index_fill_: the value is read as a number, from anywhere."""
    value, index = named(operands, "value"), named(operands, "index").tensor
    if value is not None:
        _is_number("index_fill_", value.tensor)
    if index.dtype is not torch.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    return tensor_iterator([x for x in operands if x.name != "value"], cpu_scalars=0)


def _is_number(name: str, value: torch.Tensor) -> None:
    if value.dim():
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s)."
        )


def _masked_fill(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/cuda/Indexing.cu, masked_fill__cuda."""
    target, mask, value = (named(operands, name) for name in ("self", "mask", "value"))
    if value is not None:
        _is_number("masked_fill_", value.tensor)
    if value is not None and target.device is CPU:
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if mask.device != target.device:
        raise RuntimeError(
            f"expected self and mask to be on the same device, but got mask on {mask.device} "
            f"and self on {target.device}"
        )
    device: torch.device = target.device
    return device


def _searchsorted(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/BucketizationUtils.h, searchsorted_pre_check: after the generated check, which leaves out the sorter."""
    device = generated(operator, operands)
    boundaries, sorter = named(operands, "sorted_sequence"), named(operands, "sorter")
    if sorter is not None and sorter.device != boundaries.device:
        raise RuntimeError(
            "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor "
            f"device type {sorter.device} and input value tensor device type {boundaries.device}"
        )
    return device


def _segment_reduce(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/SegmentReduce.cpp, segment_reduce_kernel."""
    device: torch.device = named(operands, "data").device
    for name in ("lengths", "offsets"):
        operand = named(operands, name)
        if operand is not None and operand.device != device:
            not_equal(f"data.get_device() == {name}_value.get_device()")
    return device


BY_HAND: dict[str, Check] = {
    "_index_put_impl_": _index_put,
    "index": _index,
    "index_fill_": _index_fill,
    "masked_fill_": _masked_fill,
    "searchsorted": _searchsorted,
    "segment_reduce": _segment_reduce,
}
