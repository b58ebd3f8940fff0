"""Nested tensors: of the strided layout they are simulated; of the jagged layout they say that they are not.

A jagged one is a class of PyTorch's own, written in Python, around a tensor on whose C++ device it builds.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from samedevice.simulation.devices import device_of, resolve


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    for name in ("nested_tensor", "as_nested_tensor"):
        yield torch.nested, name, _made(getattr(torch.nested, name))
    for name in ("nested_tensor_from_jagged", "narrow"):
        yield torch.nested, name, _jagged(getattr(torch.nested, name))


@functools.cache
def _made(original: Any) -> Any:
    @functools.wraps(original)
    def made(ts: Any, dtype: Any = None, layout: Any = None, device: Any = None, **kwargs: Any) -> torch.Tensor:
        kwargs |= {"dtype": dtype, "layout": layout}
        jagged = layout is torch.jagged
        if device is None or resolve(device).type != "cuda":
            result: torch.Tensor = (_jagged(original) if jagged else original)(ts, device=device, **kwargs)
            return result
        if jagged:
            _refuse()
        requires_grad = kwargs.pop("requires_grad", False)
        nested: torch.Tensor = original(ts, **kwargs).to(device)
        return nested.requires_grad_() if requires_grad else nested

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
