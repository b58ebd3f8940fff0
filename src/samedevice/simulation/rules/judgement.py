"""May these tensors meet? What PyTorch's CUDA build answers when an operator's tensors are on different devices.

Three layers, as in PyTorch: TensorIterator (elementwise operators), the check that torchgen generates around CUDA
kernels, and checks written by hand in single kernels (checks.py). An operator without a CUDA kernel is composed of
others: it runs as composed, and the operators inside are judged in their turn.
"""

from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import checks, layout_kinds, layouts, native_functions, tensor_iterator
from samedevice.simulation.rules.made_inside import made_inside
from samedevice.simulation.rules.native_functions import Operator
from samedevice.simulation.rules.tensor_iterator import Operand

_KEYS = torch._C.DispatchKey
COMPOSED = (
    _KEYS.CompositeImplicitAutograd,  # in inference mode; otherwise these are composed before they come here
    _KEYS.CompositeExplicitAutograd,
    _KEYS.CompositeExplicitAutogradNonFunctional,
    _KEYS.Meta,
)

_aten = torch.ops.aten
_COPIES = {_aten.copy_.default}
_INDEXED = {_aten.index.Tensor, _aten.index_put_.default, _aten._index_put_impl_.default, _aten.index_put.default}

_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key

_NUMBER = torch.ones(())  # for a Python number in a tensor's place


def judge(func: Overload, args: Arguments, kwargs: Keywords) -> Any:
    """The device on which the result of a mixed call lives, or the dispatch key under which to compose it.

    Raises what PyTorch's CUDA build raises where the tensors may not meet.
    """
    operands = operands_of(func, args, kwargs)
    if len({operand.device for operand in operands}) < 2:
        return operands[0].device if operands else CPU
    home = _judge(func, operands, args, kwargs)
    if home not in COMPOSED:
        for operand in operands:
            if operand.device != home and not operand.is_out and operand.tensor.dim() == 0:
                tensor_iterator.return_gradient(operand.tensor, operand.device)
        if state.now.on_copy:
            _tell_of_copies(func, args)
    return home


def _tell_of_copies(func: Overload, args: Arguments) -> None:
    """Copies, and indices that CUDA lets come from the CPU, go from one device to another."""
    copied = [args[1]] if func in _COPIES else args[1] if func in _INDEXED else []
    for tensor in copied:
        if tensor is not None and device_of(tensor) != device_of(args[0]):
            for observe in state.now.on_copy:
                observe(tensor, device_of(args[0]))


def _judge(func: Overload, operands: list[Operand], args: Arguments, kwargs: Keywords) -> Any:
    """Judge operands of which two are on different devices."""
    if any(operand.device.type == "meta" for operand in operands):
        # The dispatcher prefers meta to CUDA, and functions for meta tensors (torch/_refs) compare for themselves.
        for key in (_KEYS.Meta, *COMPOSED):
            if _has_kernel(func.name(), key.name):
                return key
    namespace, _, signature = func.name().partition("::")
    operator = native_functions.operator(signature) if namespace == "aten" else None
    kind = layout_kinds.kind_of(operand.tensor for operand in operands)
    check = checks.BY_HAND.get(func._schema.name.partition("::")[2])
    if kind:
        home = layouts.judge(kind, operator, func, operands, args, kwargs)
        if home in COMPOSED and check is not None:
            check(operator, operands, args)  # what it refuses, its composition refuses
        return home
    if check is not None:
        device = check(operator, operands, args)
        if device is not None:
            return device
    return _by_table(operator, func, operands, args, kwargs)


def _by_table(
    operator: Operator | None, func: Overload, operands: list[Operand], args: Arguments, kwargs: Keywords
) -> Any:
    """What follows from an operator's entry in PyTorch's table, where no check of its own decides."""
    if operands[0].is_out and torch.Tag.view_copy in func.tags:
        return tensor_iterator.resized_out(operands)
    # Lists are compared pair by pair: where they differ, CUDA's foreach kernels fall back to an operator for each.
    if operator is None or not operator.has_cuda_kernel or operator.name.startswith("_foreach_"):
        for key in COMPOSED[:3]:
            if func.has_kernel_for_dispatch_key(key):
                return key
        if operator is not None and not operator.name.startswith("_foreach_"):
            func.redispatch(torch._C.DispatchKeySet(_KEYS.CUDA), *args, **kwargs)  # for the CPU alone: refused
        return tensor_iterator.tensor_iterator(operands)
    if operator.is_checked:
        return tensor_iterator.generated(operator, operands)
    if operator.structured and not operator.iterator:
        return tensor_iterator.structured_out(operands)
    if not operator.iterator:
        return tensor_iterator.tensor_iterator(operands)
    tensor_iterator.shapes_fit(operands)
    try:
        return tensor_iterator.tensor_iterator(operands)
    except RuntimeError:
        tensor_iterator.kinds_fit(func, operands, args, kwargs)
        raise


def tensors_of(args: Arguments, kwargs: Keywords | None) -> Iterator[torch.Tensor]:
    """The tensors among an operator's arguments; lists are one level deep there."""
    for arg in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(arg, torch.Tensor):
            yield arg
        elif type(arg) in (list, tuple):
            for item in arg:
                if isinstance(item, torch.Tensor):
                    yield item


def operands_of(func: Overload, args: Arguments, kwargs: Keywords) -> list[Operand]:
    """The tensors of a call in the order in which the generated check looks at them: out= first, then the schema's."""
    operands: list[Operand] = []
    inside: list[int] = []
    tell: list[torch.device] = []
    for argument, holder, key in _places(func, args, kwargs):
        if not isinstance(holder[key], torch.Tensor):
            operands.append(Operand(argument.name, _NUMBER, CPU))
            continue
        is_written = argument.alias_info is not None and argument.alias_info.is_write
        if made_inside(holder, key):
            inside.append(len(operands))
        elif argument.name != "indices" or not isinstance(argument.type, torch.ListType):  # these may be elsewhere
            tell.append(device_of(holder[key]))
        tensor = holder[key]
        is_keyword = argument.kwarg_only and not argument.is_out
        operands.append(Operand(argument.name, tensor, device_of(tensor), argument.is_out, is_written, is_keyword))
        del tensor  # see Note [Made inside]
    home = next((place for place in tell if place is not CPU), CPU)  # a number on the CPU may join a GPU's tensors
    for index in inside:
        operands[index] = operands[index]._replace(device=home)
    return sorted(operands, key=lambda operand: not operand.is_out)


def _places(func: Overload, args: Arguments, kwargs: Keywords) -> Iterator[tuple[Any, Any, Any]]:
    """Yield where the tensors of a call are, as (argument of the schema, holder, key), so that nothing more holds them.

    So are the numbers that stand for tensors: to C++ each is a 0-dim tensor on the CPU.
    """
    for index, argument in enumerate(func._schema.arguments):
        holder: Any
        holder, key = (args, index) if index < len(args) else (kwargs, argument.name)
        if holder is kwargs and key not in kwargs:
            continue
        if isinstance(holder[key], torch.Tensor):
            yield argument, holder, key
        elif type(holder[key]) in tensor_iterator.NUMBERS:
            if isinstance(argument.type, torch.TensorType):
                yield argument, holder, key
        elif type(holder[key]) in (list, tuple):
            items = holder[key]
            yield from ((argument, items, i) for i in range(len(items)) if isinstance(items[i], torch.Tensor))
