"""Sparse tensors on a simulated GPU: COO, CSR, CSC, BSR and BSC.

They are simulated as strided ones are. One thing differs: they hold other tensors, and C++ hands those out as it was
given them. So the tensors inside are always plain, and what is handed out is wrapped like any result.
"""

from collections.abc import Callable
from typing import Any, cast

import torch

from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules.errors import found_two_devices

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


def parts(
    args: Arguments, kwargs: Keywords, layout: torch.layout | None, device: torch.device | None
) -> tuple[Any, Any]:
    """The arguments of a function that makes sparse tensors, with each part a tensor, and on `device` if there is one.

    That is torch/csrc/utils/tensor_new.cpp: lists of indices are made where the values are. A compressed layout refuses
    parts that are apart (aten/src/ATen/SparseCsrTensorImpl.cpp, set_member_tensors), COO's operator has a check of its
    own (checks.py).
    """
    names = _indices_of(layout, kwargs)
    places: dict[str, tuple[Any, Any]] = {
        name: (args, place) for place, name in enumerate([*names, "values"][: len(args)])
    }
    places |= {name: (kwargs, name) for name in (*names, "values") if name in kwargs}
    if set(places) != {*names, "values"}:
        return args, kwargs  # of a size alone, or refused, by PyTorch
    given = {name: holder[key] for name, (holder, key) in places.items()}
    values = _on(given["values"], device)
    home = device_of(values)
    made = {
        name: _on(given[name], home if device is None and not _is_tensor(given[name]) else device) for name in names
    }
    if layout:
        _check_compressed(layout, [device_of(index) for index in made.values()], home, kwargs.get("check_invariants"))
    made["values"] = values
    positional = [made[name] for name in places if name not in kwargs]
    return (*positional, *args[len(positional) :]), kwargs | {name: made[name] for name in places if name in kwargs}


def _indices_of(layout: torch.layout | None, kwargs: Keywords) -> list[str]:
    """What the arguments are called that come before the values."""
    if layout is None:
        return ["indices"]
    if "compressed_indices" in kwargs or "plain_indices" in kwargs:
        return ["compressed_indices", "plain_indices"]
    return _names(layout)


def _names(layout: torch.layout) -> list[str]:
    return ["crow_indices", "col_indices"] if layout in _BY_ROW else ["ccol_indices", "row_indices"]


def _check_compressed(layout: torch.layout, places: list[torch.device], home: torch.device, validates: Any) -> None:
    """Refuse parts that are apart; to validate them (ValidateCompressedIndicesCommon.h) comes first."""
    compressed, plain = places
    if validates is None:
        validates = torch.sparse.check_sparse_tensor_invariants.is_enabled()
    if validates and compressed != plain:
        found_two_devices(*sorted(places, key=lambda device: device is CPU))
    for name, place in zip(_names(layout), places, strict=True):
        if place != home and validates:
            raise RuntimeError(f"device of {name} (={place}) must match device of values (={home})")
        if place != home:
            raise RuntimeError(f"Values and {name} need to be on the same device.")


def _is_tensor(part: Any) -> bool:
    return isinstance(part, torch.Tensor)


def _on(part: Any, device: torch.device | None) -> Any:
    if _is_tensor(part):
        return part if device is None else part.to(device)
    return torch.tensor(part, device=device if device is not None else CPU)


def with_plain_members(tensor: torch.Tensor, unwrap: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """`tensor`, or one like it whose members are plain tensors of the CPU, each made so by `unwrap`."""
    held = members(tensor)
    if all(type(member) is torch.Tensor for member in held):
        return tensor
    plain = [unwrap(member) for member in held]
    if tensor.layout is torch.sparse_coo:
        made = _make._sparse_coo_tensor_unsafe(*plain, tensor.shape, is_coalesced=tensor.is_coalesced())
    else:
        made = _make._sparse_compressed_tensor_unsafe(*plain, tensor.shape, dtype=tensor.dtype, layout=tensor.layout)
    return cast(torch.Tensor, made)
