"""May these tensors meet? What PyTorch's CUDA build answers when an operator's tensors are on different devices.

Three layers, as in PyTorch: TensorIterator (elementwise operators), the check that torchgen generates around CUDA
kernels, and checks written by hand in single kernels (checks.py). An operator without a CUDA kernel is composed of
others: it runs as composed, and the operators inside are judged in their turn.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from samedevice.simulation import checks, schema
from samedevice.simulation.devices import CPU, device_of

_KEYS = torch._C.DispatchKey
COMPOSED = (_KEYS.CompositeExplicitAutograd, _KEYS.CompositeExplicitAutogradNonFunctional)

# How often Python counts a tensor that only C++ holds (see `made_inside` and `learn`).
_held_by_cpp_alone = 0


# Whether this thread runs code that PyTorch composes in C++ (see `composing`).
_local = threading.local()


class Operand(NamedTuple):
    """One tensor among an operator's arguments."""

    name: str
    tensor: torch.Tensor
    device: torch.device
    is_out: bool
    is_written: bool


def judge(func: Any, args: Any, kwargs: Any) -> Any:
    """The device on which the result of a mixed call lives, or the dispatch key under which to compose it.

    Raises what PyTorch's CUDA build raises where the tensors may not meet.
    """
    operands = operands_of(func, args, kwargs)
    if len({operand.device for operand in operands}) < 2:
        return operands[0].device if operands else CPU
    namespace, _, signature = func.name().partition("::")
    operator = schema.operator(signature) if namespace == "aten" else None
    check = checks.BY_HAND.get(func._schema.name.partition("::")[2])
    if check is not None:
        device = check(operator, operands, args)
        if device is not None:
            return device
    if operands[0].is_out and torch.Tag.view_copy in func.tags:
        return checks.resized_out(operands)
    # Lists are compared pair by pair: where they differ, CUDA's foreach kernels fall back to an operator for each.
    if operator is None or not operator.has_cuda_kernel or operator.name.startswith("_foreach_"):
        for key in COMPOSED:
            if func.has_kernel_for_dispatch_key(key):
                return key
        return checks.tensor_iterator(operands)
    if operator.is_checked:
        return checks.generated(operator, operands)
    if operator.structured and not operator.iterator:
        return checks.resized_out(operands)
    return checks.tensor_iterator(operands)


def tensors_of(args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    """The tensors among an operator's arguments; lists are one level deep there."""
    for arg in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(arg, torch.Tensor):
            yield arg
        elif type(arg) in (list, tuple):
            for item in arg:
                if isinstance(item, torch.Tensor):
                    yield item


def operands_of(func: Any, args: Any, kwargs: Any) -> list[Operand]:
    """The tensors of a call in the order in which the generated check looks at them: out= first, then the schema's."""
    operands: list[Operand] = []
    inside: list[int] = []
    for argument, holder, key in _places(func, args, kwargs):
        is_written = argument.alias_info is not None and argument.alias_info.is_write
        if made_inside(holder, key, argument.is_out, is_written):
            inside.append(len(operands))
        tensor = holder[key]
        operands.append(Operand(argument.name, tensor, device_of(tensor), argument.is_out, is_written))
        del tensor  # or made_inside would count this variable among the holders of the next one
    home = next((x.device for index, x in enumerate(operands) if index not in inside), CPU)
    for index in inside:
        operands[index] = operands[index]._replace(device=home)
    return sorted(operands, key=lambda operand: not operand.is_out)


def _places(func: Any, args: Any, kwargs: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Where the tensors of a call are, as (argument of the schema, holder, key), so that nothing more holds them."""
    for index, argument in enumerate(func._schema.arguments):
        holder, key = (args, index) if index < len(args) else (kwargs, argument.name)
        if holder is kwargs and key not in kwargs:
            continue
        if isinstance(holder[key], torch.Tensor):
            yield argument, holder, key
        elif type(holder[key]) in (list, tuple):
            items = holder[key]
            yield from ((argument, items, i) for i in range(len(items)) if isinstance(items[i], torch.Tensor))


@contextlib.contextmanager
def composing() -> Iterator[None]:
    """Inside, tensors that only C++ holds were made by PyTorch for itself, and are where its other input is."""
    before = getattr(_local, "composing", False)
    _local.composing = True
    try:
        yield
    finally:
        _local.composing = before


def made_inside(holder: Any, key: Any, is_out: bool, is_written: bool) -> bool:
    """Whether a CPU tensor among an operator's arguments was made by C++ code, not by the program.

    Operators that PyTorch composes in C++ make tensors of their own, on what they take for the device of their input:
    the CPU, since a simulated tensor is one in C++. What the program passes is held by a variable, a container or the
    interpreter's stack; what C++ made is not: the reference count tells them apart. But such code also copies and
    reshapes the program's tensors, so the count alone is trusted only for constants (0-dim, read only) and for out=,
    which a program would hold; for others only where no CPU tensor of the program's can be about (see `composing`).
    """
    if type(holder[key]) is not torch.Tensor or sys.getrefcount(holder[key]) > _held_by_cpp_alone:
        return False
    constant = holder[key].dim() == 0 and not is_written
    return is_out or constant or getattr(_local, "composing", False)


class _Probe(torch.Tensor):
    """A tensor that counts the holders of the divisor that torch.cov makes in C++."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        global _held_by_cpp_alone
        if func is torch.ops.aten.div.Tensor:
            _held_by_cpp_alone = sys.getrefcount(args[1])
        with torch._C._DisableTorchDispatch():
            result = func(*args, **(kwargs or {}))
            return torch.Tensor._make_subclass(cls, result) if isinstance(result, torch.Tensor) else result


def learn() -> None:
    """Measure what made_inside compares with; it differs between versions of Python and torch."""
    torch.Tensor._make_subclass(_Probe, torch.ones(2)).cov()
