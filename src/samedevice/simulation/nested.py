"""Nested tensors: of the strided layout they are simulated; of the jagged layout they say that they are not.

A jagged one is a class of PyTorch's own, written in Python, around a tensor on whose C++ device it builds.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from samedevice.simulation.devices import device_of, resolve
from samedevice.simulation.tensor import NO_GRADIENTS_OF_NESTED


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    yield torch.nested, "nested_tensor", _of_copies(torch.nested.nested_tensor)
    yield torch.nested, "as_nested_tensor", _made(torch.nested.as_nested_tensor)
    for name in ("nested_tensor_from_jagged", "narrow"):
        yield torch.nested, name, _jagged(getattr(torch.nested, name))


@functools.cache
def _made(original: Any) -> Any:
    @functools.wraps(original)
    def made(ts: Any, dtype: Any = None, layout: Any = None, device: Any = None, **kwargs: Any) -> torch.Tensor:
        kwargs |= {"dtype": dtype, "layout": layout}
        jagged = layout is torch.jagged
        tensors = [x for x in tree_leaves(ts) if isinstance(x, torch.Tensor)]
        on_gpu = any(device_of(x).type == "cuda" for x in tensors)
        if on_gpu and not jagged and torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
            raise NotImplementedError(NO_GRADIENTS_OF_NESTED)
        if device is None or resolve(device).type != "cuda":
            result: torch.Tensor = (_jagged(original) if jagged else original)(ts, device=device, **kwargs)
            return result
        if jagged:
            _refuse()
        if kwargs.get("requires_grad"):
            raise NotImplementedError(NO_GRADIENTS_OF_NESTED)
        result = original(ts, **kwargs).to(device)
        return result

    return made


@functools.cache
def _of_copies(original: Any) -> Any:
    """nested_tensor copies what it is given, without gradients; in C++ it would take the tensors for the CPU's."""
    make = _made(original)

    @functools.wraps(original)
    def made(ts: Any, dtype: Any = None, layout: Any = None, device: Any = None, **kwargs: Any) -> torch.Tensor:
        tensors = [x for x in tree_leaves(ts) if isinstance(x, torch.Tensor)]
        if layout is not torch.jagged and any(device_of(x).type == "cuda" for x in tensors):
            device = device_of(tensors[0]) if device is None else device
            ts = tree_map(lambda x: x.detach().cpu() if isinstance(x, torch.Tensor) else x, ts)
        result: torch.Tensor = make(ts, dtype, layout, device, **kwargs)
        return result

    return made


@functools.cache
def _jagged(original: Any) -> Any:
    @functools.wraps(original)
    def jagged(*args: Any, **kwargs: Any) -> torch.Tensor:
        if any(isinstance(x, torch.Tensor) and device_of(x).type == "cuda" for x in tree_leaves((args, kwargs))):
            _refuse()
        result: torch.Tensor = original(*args, **kwargs)
        return result

    return jagged


def _refuse() -> None:
    raise NotImplementedError(
        "samedevice does not simulate nested tensors of the jagged layout on a GPU: keep this one on the CPU, "
        "or make it of the strided layout"
    )
