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

# What this thread runs (see `composing`).
_local = threading.local()

# How often a tensor is held when only C++ holds it: measured when the first simulation starts (see `made_inside`).
_held_by_cpp_alone = 0


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
        device = check(operator, operands)
        if device is not None:
            return device
    if operands[0].is_out and torch.Tag.view_copy in func.tags:
        return checks.resized_out(operands)
    if operator is None or not operator.has_cuda_kernel:
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
    found: list[Operand] = []
    inside: list[int] = []
    for index, argument in enumerate(func._schema.arguments):
        holder: Any = args if index < len(args) else kwargs
        key: Any = index if index < len(args) else argument.name
        if key == argument.name and key not in holder:
            continue
        value = holder[key]
        is_written = argument.alias_info is not None and argument.alias_info.is_write
        places = [(holder, key)] if isinstance(value, torch.Tensor) else []
        if type(value) in (list, tuple):
            places = [(value, position) for position, x in enumerate(value) if isinstance(x, torch.Tensor)]
        del value
        for where, position in places:
            if made_inside(where, position, argument.is_out, is_written):
                inside.append(len(found))
            tensor = where[position]
            found.append(Operand(argument.name, tensor, device_of(tensor), argument.is_out, is_written))
            del tensor
    if inside:
        home = next((x.device for index, x in enumerate(found) if index not in inside), CPU)
        result = getattr(_local, "composing", (False, None))[1]
        for index in inside:
            found[index] = found[index]._replace(device=result if result and found[index].is_written else home)
    return sorted(found, key=lambda operand: not operand.is_out)


@contextlib.contextmanager
def composing(result: torch.device | None = None) -> Iterator[None]:
    """Inside, tensors that only C++ holds were made by PyTorch for itself, and are where its other input is.

    With `result` that is said of destinations only, which are there: the code also copies and reshapes what the program
    gave it.
    """
    before = getattr(_local, "composing", (False, None))
    _local.composing = True, result
    try:
        yield
    finally:
        _local.composing = before


def made_inside(holder: Any, position: Any, is_out: bool, is_written: bool) -> bool:
    """Whether a CPU tensor among an operator's arguments was made by C++ code, not by the program.

    Operators that PyTorch composes in C++ make tensors of their own, on what they take for the device of their input:
    the CPU, since a simulated tensor is one in C++. What the program passes is held by a variable, a container or the
    interpreter's stack; what C++ made is not: the reference count tells them apart. But such code also copies and
    reshapes the program's tensors, so the count alone is trusted only for constants (0-dim) and for out=, which a
    program would hold; for others only where no CPU tensor of the program's can be about (see `composing`).
    """
    if type(holder[position]) is not torch.Tensor or sys.getrefcount(holder[position]) > _held_by_cpp_alone:
        return False
    composing, result = getattr(_local, "composing", (False, None))
    return is_out or holder[position].dim() == 0 or (composing and (is_written or result is None))


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
