"""autograd.grad(is_grads_batched=True), and so jacobian(vectorize=True): where the gradients are.

PyTorch maps over the gradients with the vmap that it had before torch.func. C++ wraps each one in a batched tensor,
says that this is on the CPU, and offers no way to ask for what it holds; but it takes off what it has wrapped.

Four of its rules make zeros on what they take for the device of the gradient, write to a view of them, and return them
(aten/src/ATen/LegacyBatchingRegistrations.cpp). The copy would find them, and what is returned would not. So the
simulation puts in their place the same rules, whose zeros are made where the gradient is.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch

from samedevice.simulation import state

_aten = torch.ops.aten
_BATCHED = torch._C._dispatch_key_parse("Batched")
_add_batch_dim, _remove_batch_dim = torch._add_batch_dim, torch._remove_batch_dim
_increment, _decrement = torch._C._vmapmode_increment_nesting, torch._C._vmapmode_decrement_nesting

# How many of these maps run in all threads together, hence at least the level of the innermost one in any of them.
running = 0


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch._C, "_vmapmode_increment_nesting", _begin
    yield torch._C, "_vmapmode_decrement_nesting", _end


def kernels() -> Iterator[tuple[str, Callable[..., torch.Tensor]]]:
    """The rules that take the place of PyTorch's, each with the name of its operator."""
    yield "slice_backward", _slice_backward
    yield "select_backward", _select_backward
    yield "diagonal_backward", _diagonal_backward
    yield "trace_backward", _trace_backward


def _begin() -> int:
    global running
    running += 1
    state.prepare(state.now.before_wrapped)
    return int(_increment())


def _end() -> int:
    global running
    running -= 1
    return int(_decrement())


def is_batched(tensor: torch.Tensor) -> bool:
    """Whether C++ has wrapped this gradient, of which it says that it is on the CPU, wherever it is."""
    return bool(running) and torch._C._dispatch_keys(tensor).has(_BATCHED)


def held(tensor: torch.Tensor) -> torch.Tensor:
    """What has been wrapped in a batched tensor, however often; another tensor is itself."""
    if not is_batched(tensor):
        return tensor
    with torch._C.DisableTorchFunction(), torch.no_grad():
        while is_batched(tensor):
            tensor, _ = _unwrapped(tensor)
    return tensor


def beneath(function: Callable[[torch.Tensor], torch.Tensor], batched: torch.Tensor) -> torch.Tensor:
    """Apply `function` to the tensor that has been wrapped, and wrap what it returns in the same way."""
    inner, level = _unwrapped(batched)
    return _add_batch_dim(beneath(function, inner) if is_batched(inner) else function(inner), 0, level)


def _unwrapped(batched: torch.Tensor) -> tuple[torch.Tensor, int]:
    """What the innermost map has wrapped, with the dimension that it maps over in front, and the level of the map."""
    for level in range(running, 0, -1):
        # A map that has not wrapped it would give it a new dimension of size 0. None maps over no gradients.
        inner: torch.Tensor = _remove_batch_dim(batched, level, 0, 0)
        if inner.size(0):
            return inner, level
    raise RuntimeError("a batched tensor has outlived the map that has made it")


def _written(gradient: torch.Tensor, sizes: Any, place: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Zeros of these sizes, with a batched gradient written to the view of them that `place` gives."""
    inner, level = _unwrapped(gradient)
    zeros = _aten.new_zeros.default(inner, (inner.size(0), *sizes))
    place(zeros).copy_(inner)
    return _add_batch_dim(zeros, 0, level)


def _behind(dimension: int) -> int:
    """A dimension of a gradient, among those of what is batched: in front is the one that is mapped over."""
    return dimension + 1 if dimension >= 0 else dimension


def _slice_backward(grad: Any, sizes: Any, dim: int, start: int, end: int, step: int) -> torch.Tensor:
    return _written(grad, sizes, lambda zeros: _aten.slice.Tensor(zeros, _behind(dim), start, end, step))


def _select_backward(grad: Any, sizes: Any, dim: int, index: int) -> torch.Tensor:
    return _written(grad, sizes, lambda zeros: zeros.select(_behind(dim), index))


def _diagonal_backward(grad: Any, sizes: Any, offset: int, dim1: int, dim2: int) -> torch.Tensor:
    return _written(grad, sizes, lambda zeros: zeros.diagonal(offset, _behind(dim1), _behind(dim2)))


def _trace_backward(grad: Any, sizes: Any) -> torch.Tensor:
    inner, level = _unwrapped(grad)
    zeros = _aten.new_zeros.default(inner, (inner.size(0), *sizes))
    zeros.diagonal(0, -2, -1).copy_(inner.unsqueeze(-1))
    return _add_batch_dim(zeros, 0, level)
