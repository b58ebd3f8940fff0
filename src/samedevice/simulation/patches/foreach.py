"""Tensors sorted by device and dtype, as torch's optimizers ask C++ for them, which sees only CPU tensors here."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device.devices import CPU, device_of

_Groups = dict[tuple[torch.device, torch.dtype], tuple[list[list[Any]], list[int]]]

_group = torch._C._group_tensors_by_device_and_dtype


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch._C, "_group_tensors_by_device_and_dtype", group_tensors_by_device_and_dtype


def group_tensors_by_device_and_dtype(lists: Sequence[Sequence[Any]], with_indices: bool = False) -> _Groups:
    """ATen/native/ForeachUtils.h: the first list decides; the others, of its length or empty, go along."""
    if not lists or not lists[0]:
        return _group(lists, with_indices)  # which refuses them
    place = device_of(lists[0][0])
    if _are_at(place, lists):  # C++ takes it for the CPU, and sorts by dtype
        return {(place, dtype): group for (_, dtype), group in _group(lists, with_indices).items()}
    groups: _Groups = {}
    for index, first in enumerate(lists[0]):
        here, dtype = device_of(first), first.dtype
        group = groups.get((here, dtype))
        if group is None:
            group = groups[here, dtype] = ([[] for _ in lists], [])
        for members, tensors in zip(group[0], lists, strict=True):
            if tensors:
                other = tensors[index]
                if other is not None and (other.dtype is not dtype or device_of(other) != here):
                    _check(first, here, other)
                members.append(other)
        if with_indices:
            group[1].append(index)
    return groups


def _are_at(place: torch.device, lists: Sequence[Sequence[Any]]) -> bool:
    plain = torch.Tensor if place is CPU and state.now.before_wrapped else None  # of this class C++ knows the device
    for tensors in lists:
        for x in tensors:
            if x is None or (type(x) is plain and x.is_cpu):
                continue
            if getattr(x, "_samedevice_device", None) is not place and device_of(x) is not place:
                return False
    return True


def _check(first: torch.Tensor, here: torch.device, other: torch.Tensor) -> None:
    """Steps may be on the CPU; which dtypes go together, and the text, differ by release: its own C++ is asked."""
    there = device_of(other)
    dtypes = (first.dtype, other.dtype)
    if here != there:
        is_step = there is CPU and other.dtype in (torch.float32, torch.float64)
        dtypes = (torch.float32, torch.float32 if is_step else torch.int64)
    _group([[torch.empty(0, dtype=dtype, device=CPU)] for dtype in dtypes], False)
