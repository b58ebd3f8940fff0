"""The tensor that a message is about, if the message names no second one: it is wanted on another device."""

import ast
from collections.abc import Callable, Iterable, Iterator

from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand, operands_of
from samedevice.introspect import objects
from samedevice.introspect.frames import Call
from samedevice.introspect.values import Argument


def refused_tensors(failure: Failure) -> list[Operand]:
    """Return the tensors of the innermost frame that has any: what a library names is surer than what it was given."""
    return of_the_first_frame(failure.calls_below, _tensors)


def tensors_on_accelerators(failure: Failure) -> list[Operand]:
    """Return the tensors of the outermost frame that has any off the CPU: the user's own line, if it passes one."""
    operands = of_the_first_frame(failure.calls_below[::-1], off_the_cpu)
    # Lengths and indices are what PyTorch wants on the CPU, not the values beside them.
    numbers = [
        operand for operand in operands if operand.tensor is not None and not objects.is_floating(operand.tensor)
    ]
    return numbers or operands


def of_the_first_frame(calls: Iterable[Call], find: Callable[[Call], Iterable[Operand]]) -> list[Operand]:
    """Return what `find` finds in the first frame where it finds any, the most suspect first."""
    for call in calls:
        if operands := list(find(call)):
            # If there are several, take the one that decides on sizes: lengths, indices, places.
            return sorted(operands, key=lambda operand: operand.tensor is None or objects.is_floating(operand.tensor))
    return []


def off_the_cpu(call: Call) -> Iterator[Operand]:
    """Yield the tensors of a frame that are not on the CPU."""
    return (operand for operand in _tensors(call) if operand.device != "cpu")


def _tensors(call: Call) -> list[Operand]:
    """Return the tensors of a frame's failing expression; all that the frame has where it raises itself."""
    if not isinstance(call.node, ast.Raise):
        return operands_of(call)
    return [
        Operand(tensor, objects.device(tensor), call, Argument(ast.Name(name, ast.Load()), tensor))
        for name, tensor in call.locals.items()
        if objects.is_tensor(tensor)
    ]
