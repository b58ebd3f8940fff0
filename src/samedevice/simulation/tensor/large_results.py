"""How much memory the result of an operator takes, told before the CPU computes it, where that may be much.

A GPU that has no memory for a result refuses at once. Here the values come first, and they may take minutes, or more
memory than the machine has. So where a result may have 1 GiB or more, its size is asked of the meta device, and refused
before. What is smaller is computed, and refused afterwards.

To ask costs little, but a small network is to pay nothing. What an operator makes of two tensors has at most as many
elements as both have multiplied, which is what `Operator.grows` knows: while no tensor on a GPU had more than 46340
bytes (see device/memory.py), only those operators are looked at whose result may be larger than that.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.device import memory
from samedevice.simulation.tensor.operators import Operator
from samedevice.simulation.tensor.wrapping import call_below

_MUCH = 2**30  # bytes
_MANY = _MUCH // 8  # elements of the largest usual dtype
_FEW = 2000  # so many small tensors have fewer elements than _MANY together
_NO_FUNCTIONS = torch._C.DisableTorchFunction


def refuse(operator: Operator, args: Arguments, kwargs: Keywords, device: torch.device) -> None:
    """Refuse an operator for whose result there is no memory.

    Raises:
        torch.OutOfMemoryError: the GPU has none.
        MemoryError: this machine has none.
    """
    if operator.growth_by_shapes == "joined" and len(args[0]) < _FEW and state.now.checked_growth == 2:
        return  # each of them is small
    with _NO_FUNCTIONS():
        bound = 1
        for arg in (*args, *kwargs.values()):
            bound *= _factor(arg)
        if bound < _MANY or _elements_by_shapes(operator, args) < _MANY:
            return
        sizes = list(_sizes(operator, args, kwargs))
    if sizes and max(sizes) >= _MUCH:
        memory.expect(max(sizes), device.index)


def _factor(arg: Any) -> int:
    """How often an argument can multiply the elements of a result."""
    if isinstance(arg, torch.Tensor):
        return arg.numel() or 1
    if type(arg) is int:
        return abs(arg) or 1
    if isinstance(arg, (list, tuple)):
        factor, elements = 1, 0
        for item in arg:
            if isinstance(item, torch.Tensor):
                elements += item.numel()
            elif type(item) is int:
                factor *= abs(item) or 1
        return factor * (elements or 1)
    return 1


def _elements_by_shapes(operator: Operator, args: Arguments) -> int:
    """How many elements a result has at most, of the operators that most large results come from; else _MANY."""
    kind = operator.growth_by_shapes
    if kind == "pointwise":
        shapes = {x.shape for x in args if isinstance(x, torch.Tensor)}
        if len(shapes) == 1:
            return math.prod(shapes.pop())
        with contextlib.suppress(RuntimeError):  # which is then the operator's own to raise
            return math.prod(torch.broadcast_shapes(*shapes))
    if kind == "product":
        first, second = (x for x in args[-2:])
        return math.prod(first.shape[:-1]) * second.shape[-1]
    if kind == "largest":
        return max(x.numel() for x in args if isinstance(x, torch.Tensor))
    if kind == "joined":
        return sum(x.numel() for x in args[0])
    if kind == "sizes":
        return math.prod(args[1])
    if kind == "convolution":
        return _elements_of_convolution(*args)
    return _MANY


def _elements_of_convolution(
    image: torch.Tensor, weight: torch.Tensor, bias: object, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int,
) -> int:  # fmt: skip
    """How many elements aten::convolution gives at most."""
    if image.dim() != weight.dim():
        return _MANY  # which is then the operator's own to refuse
    if not transposed:
        border = 2 * max(padding)
        return len(image) * len(weight) * math.prod(size + border for size in image.shape[2:])
    sizes = (
        size * max(stride) + kernel * max(dilation) + max(output_padding)
        for size, kernel in zip(image.shape[2:], weight.shape[2:], strict=True)
    )
    return len(image) * weight.shape[1] * groups * math.prod(sizes)


def _sizes(operator: Operator, args: Arguments, kwargs: Keywords) -> Iterator[int]:
    """The bytes of each new memory that an operator takes; nothing where the meta device does not know."""
    given: dict[int, int] = {}

    def on_meta(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        copy = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
        given[copy.untyped_storage()._cdata] = copy.untyped_storage().nbytes()
        return copy

    try:
        placed = pytree.tree_map(on_meta, (args, kwargs))
        result = call_below(operator.function, (), *placed)
    except Exception:  # sizes that depend on values, layouts without strides, and what is refused when it is computed
        return
    for x in pytree.tree_leaves(result):
        if isinstance(x, torch.Tensor) and x.layout is torch.strided:
            storage = x.untyped_storage()
            if storage.nbytes() > given.get(storage._cdata, 0):
                yield storage.nbytes()
