"""May these tensors meet? What PyTorch's CUDA build answers when an operator's tensors are on different devices.

Three layers, as in PyTorch: TensorIterator (elementwise operators), the check that torchgen generates around CUDA
kernels, and checks written by hand in single kernels (checks.py). An operator without a CUDA kernel is composed of
others: it runs as composed, and the operators inside are judged in their turn.
"""

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd import forward_ad

from samedevice.simulation import checks, general, layouts, schema
from samedevice.simulation.devices import CPU, device_of
from samedevice.simulation.general import Operand

_KEYS = torch._C.DispatchKey
COMPOSED = (
    _KEYS.CompositeImplicitAutograd,  # in inference mode; otherwise these are composed before they come here
    _KEYS.CompositeExplicitAutograd,
    _KEYS.CompositeExplicitAutogradNonFunctional,
    _KEYS.Meta,
)

_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_make_subclass = torch.Tensor._make_subclass

# How often Python counts a tensor that only C++ holds, and C++ its memory (see `made_inside` and `learn`).
_held_by_cpp_alone = 0
_memory_held_once = 0
_held_by_a_list = 0


_NUMBER = torch.ones(())  # for a Python number in a tensor's place

# Whether this thread runs code that PyTorch composes in C++ (see `composing`).
_local = threading.local()


def judge(func: Any, args: Any, kwargs: Any) -> Any:
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
                general.return_gradient(operand.tensor, operand.device)
    return home


def _judge(func: Any, operands: list[Operand], args: Any, kwargs: Any) -> Any:
    if any(operand.device.type == "meta" for operand in operands):
        # The dispatcher prefers meta to CUDA, and functions for meta tensors (torch/_refs) compare for themselves.
        for key in (_KEYS.Meta, *COMPOSED):
            if _has_kernel(func.name(), key.name):
                return key
    namespace, _, signature = func.name().partition("::")
    operator = schema.operator(signature) if namespace == "aten" else None
    kind = layouts.kind_of(operand.tensor for operand in operands)
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
    if operands[0].is_out and torch.Tag.view_copy in func.tags:
        return general.resized_out(operands)
    # Lists are compared pair by pair: where they differ, CUDA's foreach kernels fall back to an operator for each.
    if operator is None or not operator.has_cuda_kernel or operator.name.startswith("_foreach_"):
        for key in COMPOSED[:3]:
            if func.has_kernel_for_dispatch_key(key):
                return key
        if operator is not None and not operator.name.startswith("_foreach_"):
            func.redispatch(torch._C.DispatchKeySet(_KEYS.CUDA), *args, **kwargs)  # for the CPU alone: refused
        return general.tensor_iterator(operands)
    if operator.is_checked:
        return general.generated(operator, operands)
    if operator.structured and not operator.iterator:
        return general.resized_out(operands)
    if not operator.iterator:
        return general.tensor_iterator(operands)
    general.shapes_fit(operands)
    try:
        return general.tensor_iterator(operands)
    except RuntimeError:
        general.kinds_fit(func, operands, args, kwargs)
        raise


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
        if not isinstance(holder[key], torch.Tensor):
            operands.append(Operand(argument.name, _NUMBER, CPU))
            continue
        is_written = argument.alias_info is not None and argument.alias_info.is_write
        if made_inside(holder, key):
            inside.append(len(operands))
        tensor = holder[key]
        is_keyword = argument.kwarg_only and not argument.is_out
        operands.append(Operand(argument.name, tensor, device_of(tensor), argument.is_out, is_written, is_keyword))
        del tensor  # or made_inside would count this variable among the holders of the next one
    # Indices may be from elsewhere, so they do not tell where the others are.
    home = next((x.device for index, x in enumerate(operands) if index not in inside and x.name != "indices"), CPU)
    for index in inside:
        operands[index] = operands[index]._replace(device=home)
    return sorted(operands, key=lambda operand: not operand.is_out)


def _places(func: Any, args: Any, kwargs: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Where the tensors of a call are, as (argument of the schema, holder, key), so that nothing more holds them.

    And the numbers that stand for tensors: to C++ each is a 0-dim tensor on the CPU.
    """
    for index, argument in enumerate(func._schema.arguments):
        holder, key = (args, index) if index < len(args) else (kwargs, argument.name)
        if holder is kwargs and key not in kwargs:
            continue
        if isinstance(holder[key], torch.Tensor):
            yield argument, holder, key
        elif type(holder[key]) in (bool, int, float, complex):
            if isinstance(argument.type, torch.TensorType):
                yield argument, holder, key
        elif type(holder[key]) in (list, tuple):
            items = holder[key]
            yield from ((argument, items, i) for i in range(len(items)) if isinstance(items[i], torch.Tensor))


@contextlib.contextmanager
def composing() -> Iterator[None]:
    """Inside, tensors that only C++ holds were made by PyTorch for itself, and are where its other input is.

    For backward and vmap, whose formulas and rules no kernel can stand in front of (see kernels.py).
    """
    before = getattr(_local, "composing", False)
    _local.composing = True
    try:
        yield
    finally:
        _local.composing = before


def is_composing() -> bool:
    """Whether formulas of derivatives or rules of vmap run in this thread, or a dual level is open."""
    return getattr(_local, "composing", False) or forward_ad._current_level >= 0


def made_inside(holder: Any, key: Any) -> bool:
    """Whether a CPU tensor among an operator's arguments was made by a derivative's formula, not by the program.

    Such formulas make tensors of their own in C++, on what they take for the device of their input: the CPU, since a
    simulated tensor is one in C++. What the program passes is held by a variable, a container or the interpreter's
    stack; what C++ made is not: the reference count tells them apart. It is looked at only while such formulas run:
    during backward and vmap (see `composing`) and where a dual level is open. A view that C++ makes of what the
    program holds is told by its memory, which the program's tensor holds too.
    """
    if not is_composing() or type(holder[key]) is not torch.Tensor:
        return False
    return sys.getrefcount(holder[key]) <= _held_by_cpp_alone and not _shares_memory(holder[key])


def _shares_memory(tensor: torch.Tensor) -> bool:
    """Whether the program holds a tensor on the CPU with the memory of this one, which C++ alone holds."""
    if tensor.layout is not torch.strided or not torch._C._has_storage(tensor):
        return False
    address = tensor.untyped_storage()._cdata
    holders = _holders_of(tensor)
    base = tensor._base
    if base is not None and sys.getrefcount(base) <= _held_by_cpp_alone:
        holders -= 1  # autograd alone holds what this is a view of
    del base
    return holders > _memory_held_once and any(
        holders > _held_by_a_list for holders in _python_holders(gc.get_objects(), address, tensor)
    )


def _python_holders(things: list[Any], address: int, tensor: torch.Tensor | None = None) -> Iterator[int]:
    """How often Python counts each of these that is another tensor on the CPU with this memory; C++ counts once."""
    for thing in things:
        if thing is not tensor and _is_plain(thing) and thing.untyped_storage()._cdata == address:
            yield sys.getrefcount(thing) - (thing._use_count() > 1)


def _is_plain(thing: Any) -> bool:
    """Whether this is a tensor on the CPU with memory of its own, and no simulated one."""
    return (
        issubclass(type(thing), torch.Tensor)
        and not hasattr(thing, "_samedevice_device")
        and torch._C._has_storage(thing)  # what a transform has wrapped has none
        and thing.layout is torch.strided
        and thing.device.type == "cpu"
    )


def _holders_of(tensor: torch.Tensor) -> int:
    """How many tensors have the memory of this one."""
    return int(torch._C._storage_Use_Count(tensor.untyped_storage()._cdata))


class _Probe(torch.Tensor):
    """A tensor that counts the holders of the divisor that torch.cov makes in C++."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        global _held_by_cpp_alone, _memory_held_once
        if func is torch.ops.aten.div.Tensor:
            _held_by_cpp_alone = sys.getrefcount(args[1])
            _memory_held_once = _holders_of(args[1])
        with torch._C._DisableTorchDispatch():
            result = func(*args, **(kwargs or {}))
            return _make_subclass(cls, result) if isinstance(result, torch.Tensor) else result


def learn() -> None:
    """Measure what made_inside compares with; it differs between versions of Python and torch.

    To be called before the first simulated tensor is made, and no sooner: at the first `__torch_dispatch__` of a
    process PyTorch imports torch.distributed.tensor, which takes half a second.
    """
    global _held_by_a_list
    if not _held_by_cpp_alone:
        no_modes = torch.utils._python_dispatch._disable_current_modes()
        with no_modes, torch._C.DisableTorchFunction(), torch._C._DisableFuncTorch():
            # On the CPU by name: set_default_tensor_type may say otherwise.
            _make_subclass(_Probe, torch.ones(2, device="cpu")).cov()
            probes = [torch.ones(2, device="cpu")]
            (_held_by_a_list,) = _python_holders(probes, probes[0].untyped_storage()._cdata)
