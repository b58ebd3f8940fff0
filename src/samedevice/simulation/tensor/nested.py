"""Nested tensors of the strided layout, which are made of copies on the CPU and brought to a GPU.

A jagged one is a class of PyTorch's own, written in Python, around tensors that may be simulated: subclasses.py says to
C++ that it is on the CPU, as each simulated tensor is.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch.types import Device
from torch.utils._pytree import tree_leaves, tree_map

from samedevice.simulation.device.devices import CPU, device_of, resolve
from samedevice.simulation.rules.errors import accuse
from samedevice.simulation.tensor import nested_gradients


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch.nested, "nested_tensor", _nested_tensor(torch.nested.nested_tensor)
    yield torch.nested, "as_nested_tensor", _as_nested_tensor(torch.nested.as_nested_tensor)


@functools.cache
def _nested_tensor(original: Any) -> Any:
    @functools.wraps(original)
    def nested_tensor(tensor_list: Any, **kwargs: Any) -> torch.Tensor:
        return _made(original, tensor_list, kwargs.get("requires_grad", False), **kwargs)

    return nested_tensor


@functools.cache
def _as_nested_tensor(original: Any) -> Any:
    @functools.wraps(original)
    def as_nested_tensor(
        ts: Any, dtype: torch.dtype | None = None, device: Device = None, layout: torch.layout | None = None
    ) -> torch.Tensor:
        if isinstance(ts, torch.Tensor) and ts.is_nested:
            result: torch.Tensor = original(ts, dtype, device, layout)
            return result
        has_gradient = any(isinstance(x, torch.Tensor) and x.requires_grad for x in tree_leaves(ts))
        return _made(original, ts, has_gradient, dtype=dtype, device=device, layout=layout)

    return as_nested_tensor


def _made(original: Any, ts: Any, has_gradient: bool, device: Device = None, **kwargs: Any) -> torch.Tensor:
    """What PyTorch makes of copies on the CPU, brought to the GPU: in C++ it would take all parts for the CPU's."""
    places = _places(ts)
    here = places[0] if places else CPU
    target = here if device is None else resolve(device)
    result: torch.Tensor
    if kwargs.get("layout") is torch.jagged or all(place.type != "cuda" for place in (target, *places)):
        result = original(ts, device=device, **kwargs)
        return result
    claims = has_gradient and torch.is_grad_enabled()
    if isinstance(ts, torch.Tensor) and here == target and not claims:
        result = original(ts, **kwargs)  # of its own memory
        return result
    copies = tree_map(lambda x: x.detach().cpu() if isinstance(x, torch.Tensor) else x, ts)
    result = original(copies, device=CPU, **kwargs)
    for place in places:
        if place != here:  # native/nested/NestedTensorUtils.h, wrap_tensor_node: the parts are joined, then moved
            accuse("tensors", place, here, "wrapper_CUDA_cat")
    if not claims or (target is CPU and kwargs.get("requires_grad")):
        return result.to(target)
    return nested_gradients.claimed(result.detach().to(target), kwargs.get("requires_grad", False))


def _places(ts: Any) -> list[torch.device]:
    """The devices of the parts; lists of numbers become tensors on the CPU."""
    parts = ts if isinstance(ts, list | tuple) else [ts]
    tensors = [[x for x in tree_leaves(part) if isinstance(x, torch.Tensor)] for part in parts]
    return [device_of(found[0]) if found else CPU for found in tensors]
