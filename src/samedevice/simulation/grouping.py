"""Tensors sorted by device and dtype, as torch's optimizers ask C++ for them, which sees only CPU tensors here."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from samedevice.simulation.devices import device_of

_Groups = dict[tuple[torch.device, torch.dtype], tuple[list[list[Any]], list[int]]]


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    yield torch._C, "_group_tensors_by_device_and_dtype", group_tensors_by_device_and_dtype


def group_tensors_by_device_and_dtype(lists: Sequence[Sequence[Any]], with_indices: bool = False) -> _Groups:
    """ATen/native/ForeachUtils.h: the first list decides; the others, of its length or empty, go along."""
    groups: _Groups = {}
    for index, first in enumerate(lists[0]):
        nested, indices = groups.setdefault((device_of(first), first.dtype), ([[] for _ in lists], []))
        for group, tensors in zip(nested, lists, strict=True):
            if tensors:
                group.append(tensors[index])
        if with_indices:
            indices.append(index)
    return groups
