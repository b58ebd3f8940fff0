"""Sparse tensors on a simulated GPU: COO, CSR, CSC, BSR and BSC.

They are simulated as strided ones are. One thing differs: they hold other tensors, and C++ hands those out as it was
given them. So the tensors inside are always plain, and what is handed out is marked like any result.
"""

from collections.abc import Callable
from typing import Any, cast

import torch

from samedevice.simulation.devices import CPU, device_of

_make = torch.ops.aten

_BY_ROW = (torch.sparse_csr, torch.sparse_bsr)
_BY_COLUMN = (torch.sparse_csc, torch.sparse_bsc)


def members(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The tensors that a sparse one holds: indices, then values."""
    if tensor.layout is torch.sparse_coo:
        return tensor._indices(), tensor._values()
    if tensor.layout in _BY_ROW:
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if tensor.layout in _BY_COLUMN:
        return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    raise NotImplementedError(
        f"samedevice simulates strided and sparse tensors on a GPU, not {tensor.layout}: keep this one on the CPU"
    )


def parts(given: tuple[Any, ...], layout: torch.layout | None) -> tuple[Any, ...]:
    """What a sparse tensor is made of where no device is named: indices in lists are made where the values are.

    That is torch/csrc/utils/tensor_new.cpp. A compressed layout refuses parts that are apart
    (aten/src/ATen/SparseCsrTensorImpl.cpp, set_member_tensors), COO's operator has a check of its own (checks.py).
    """
    names = ["crow_indices", "col_indices"] if layout in _BY_ROW else ["ccol_indices", "row_indices"]
    count = len(names) if layout else 1
    if len(given) <= count:
        return given
    home = device_of(given[count]) if isinstance(given[count], torch.Tensor) else CPU
    indices = [x if isinstance(x, torch.Tensor) else torch.tensor(x, device=home) for x in given[:count]]
    for name, index in zip(names, indices, strict=False):
        if layout and device_of(index) != home:
            raise RuntimeError(f"Values and {name} need to be on the same device.")
    return (*indices, *given[count:])


def with_plain_members(tensor: Any, unmark: Callable[[Any], Any]) -> torch.Tensor:
    """`tensor`, or one like it whose members are plain tensors of the CPU, each made so by `unmark`."""
    held = members(tensor)
    if all(type(member) is torch.Tensor for member in held):
        return tensor
    plain = [unmark(member) for member in held]
    if tensor.layout is torch.sparse_coo:
        made = _make._sparse_coo_tensor_unsafe(*plain, tensor.shape, is_coalesced=tensor.is_coalesced())
    else:
        made = _make._sparse_compressed_tensor_unsafe(*plain, tensor.shape, dtype=tensor.dtype, layout=tensor.layout)
    return cast(torch.Tensor, made)
