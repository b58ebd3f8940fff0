"""The layouts of sparse and nested tensors, as PyTorch's dispatcher and its errors name them."""

from typing import Any

import torch

from samedevice.simulation.calls import Arguments, Keywords, Overload

_KEYS = torch._C.DispatchKey
DENSE, SPARSE, COMPRESSED, NESTED = "", "Sparse", "SparseCsr", "NestedTensor"
_ORDER = (DENSE, SPARSE, COMPRESSED, NESTED)  # as in DispatchKey.h
_COMPRESSED_LAYOUTS = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def kind_of(tensors: Any) -> str:
    """The name that the dispatcher has for the least dense layout among these tensors: "" where all are dense."""
    return max((_kind(tensor) for tensor in tensors), key=_ORDER.index, default=DENSE)


def name_of(layout: torch.layout) -> str:
    """c10/core/Layout.h."""
    if layout is torch.strided:
        return "Strided"
    return "Sparse" + str(layout).removeprefix("torch.sparse_").removeprefix("coo").capitalize()


def refuse(func: Overload, kind: str, args: Arguments, kwargs: Keywords) -> Any:
    """Raise what the dispatcher says of an operator that has no kernel for this layout on CUDA."""
    return func.redispatch(torch._C.DispatchKeySet(getattr(_KEYS, f"{kind}CUDA")), *args, **kwargs)


def _kind(tensor: torch.Tensor) -> str:
    if tensor.is_nested:
        return NESTED
    if tensor.layout is torch.sparse_coo:
        return SPARSE
    return COMPRESSED if tensor.layout in _COMPRESSED_LAYOUTS else DENSE
