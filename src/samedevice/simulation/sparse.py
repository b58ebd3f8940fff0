"""Sparse tensors on a simulated GPU: COO, CSR, CSC, BSR and BSC.

They are simulated as strided ones are. One thing differs: they hold other tensors, and C++ hands those out as it was
given them. So the tensors inside are always plain, and what is handed out is marked like any result.
"""

from collections.abc import Callable
from typing import Any, cast

import torch

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
