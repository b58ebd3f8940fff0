"""gloo's process groups and tensors on a GPU: which groups have gloo for GPUs, and what gloo refuses.

A collective comes to what a group has for its tensors' kind of device (torch/csrc/distributed/c10d/Ops.cpp). In C++ a
simulated tensor is on the CPU, so for GPUs a group is looked at here: "cpu:gloo" has nothing for them, and "cuda:gloo"
is replaced by a group that has the same gloo for the CPU. gloo compares the kinds of devices of the tensors that it is
given (torch/csrc/distributed/c10d/ProcessGroupGloo.cpp), which it cannot tell apart here either.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.patches import tensor_options
from samedevice.simulation.tensor import dispatch, operators

NAMESPACES = ("c10d", "_c10d_functional", "_c10d_functional_autograd")
_GROUPS = ("process_group", "group_name", "group")  # what operators call the argument
_CUDA = torch.device("cuda")
# Methods that take lists of lists: where only these are on a GPU, PyTorch asks no operator for them.
_OF_LISTS = ("allgather", "allgather_coalesced", "gather", "scatter")

available = torch.distributed.is_available() and torch.distributed.is_gloo_available()
if available:
    from torch.distributed import HashStore, ProcessGroup


def replacements() -> Iterator[tuple[object, str, object]]:
    for name in _OF_LISTS if available else ():
        yield ProcessGroup, name, _looking_into_lists(name, getattr(ProcessGroup, name))


def start() -> None:
    """Look at the operators that carry out collectives."""
    if available:
        state.now.carried_out.update(dict.fromkeys(NAMESPACES, collective))


def collective(func: Overload, args: Arguments, kwargs: Keywords | None) -> Any:
    """Run a collective of tensors on a GPU with gloo; NotImplemented where the group has another backend for them."""
    names = (argument.name for argument in func._schema.arguments)
    arguments = dict(zip(names, args, strict=False)) | (kwargs or {})
    place = next((device_of(x) for x in _tensors(arguments.values()) if device_of(x) is not CPU), CPU)
    named = next((name for name in _GROUPS if name in arguments), None)
    if place is CPU or named is None:
        return NotImplemented
    group = group_of(arguments[named])
    kinds = {kind.type for kind in group._device_types}
    # A group that has nothing for GPUs is refused by PyTorch; one whose CPU's is no gloo does NCCL's work.
    if not _is_gloo(group._get_backend(CPU if kinds == {"cpu"} else _CUDA)):
        return NotImplemented
    group._get_backend(_CUDA)
    _refuse(func._schema.name.partition("::")[2], arguments, group.size())
    used = for_gpus(group)
    if used is group:
        return dispatch.run(operators.of(func), (), arguments, place)
    if isinstance(arguments[named], str):
        return _run_named(func, arguments, named, used, place)
    return dispatch.run(operators.of(func), (), arguments | {named: used.boxed()}, place)


def _run_named(func: Overload, arguments: dict[str, Any], named: str, group: Any, place: torch.device) -> Any:
    """Run a functional collective, which knows its group by name, with another group."""
    name = f"{arguments[named]}, for GPUs"
    torch._C._distributed_c10d._register_process_group(name, group)
    try:
        return dispatch.run(operators.of(func), (), arguments | {named: name}, place)
    finally:
        torch._C._distributed_c10d._unregister_process_group(name)


def group_of(group: Any) -> Any:
    """The group itself, of what an operator is given: an object, boxed or not, or a name."""
    if isinstance(group, str):
        return torch._C._distributed_c10d._resolve_process_group(group)
    return ProcessGroup.unbox(group) if isinstance(group, torch.ScriptObject) else group


def for_gpus(group: Any) -> Any:
    """The group to use in C++ for tensors on a GPU: one that has for the CPU what this one has for GPUs."""
    backend = group._get_backend(_CUDA)  # PyTorch refuses a group that has none
    if not _is_gloo(backend) or (CPU in group._device_types and group._get_backend(CPU) is backend):
        return group
    other = ProcessGroup(HashStore(), group.rank(), group.size())
    other._set_default_backend(ProcessGroup.BackendType.GLOO)
    for device in (CPU, _CUDA):
        other._register_backend(device, ProcessGroup.BackendType.GLOO, backend)
    return other


def _is_gloo(backend: Any) -> bool:
    return bool(getattr(backend, "wrapped_pg", backend).name() == "gloo")  # TORCH_DISTRIBUTED_DEBUG=DETAIL wraps it


def _tensors(arguments: Any) -> list[torch.Tensor]:
    """The tensors by which PyTorch chooses a backend: not those in lists of lists."""
    found = []
    for argument in arguments:
        items = argument if isinstance(argument, (list, tuple)) else [argument]
        found += [x for x in items if isinstance(x, torch.Tensor)]
    return found


def _lists(arguments: Any) -> list[Sequence[torch.Tensor]]:
    """The lists of tensors in lists."""
    lists = (argument for argument in arguments if isinstance(argument, (list, tuple)))
    return [items for argument in lists for items in argument if isinstance(items, (list, tuple))]


def _looking_into_lists(name: str, original: Any) -> Callable[..., Any]:
    """A method of a group, for tensors on the CPU that go into, or come from, a list of tensors on a GPU."""

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        nested = any(device_of(x) is not CPU for items in _lists(given) for x in items if isinstance(x, torch.Tensor))
        if nested and all(device_of(x) is CPU for x in _tensors(given)) and _is_gloo(self._get_backend(CPU)):
            _refuse(f"{name}_", dict(enumerate(given)), self.size())
        return original(self, *args, **kwargs)

    return method


def _refuse(name: str, arguments: dict[Any, Any], size: int) -> None:
    """What gloo says of tensors on two kinds of devices; all else it says itself."""
    tensors, lists = _tensors(arguments.values()), _lists(arguments.values())
    places = [device_of(x) for x in tensors]
    several_kinds = len({place.type for place in places}) > 1
    if name in ("allgather_", "gather_", "scatter_"):
        for items in lists:
            if len(items) == size:  # else gloo refuses the list
                _match(name.rstrip("_"), tensors[0], items)
    elif name == "_allgather_base_":
        _match("allgather", arguments["input_tensor"], [arguments["output_tensor"]])
    elif name == "allgather_coalesced_":
        if len(set(places)) > 1:
            raise RuntimeError("ProcessGroupGloo::allgather_coalesced: tensors should be on the same device")
        for items in lists:
            _match_types(tensors, items)
    elif name == "alltoall_base_" and several_kinds:
        raise RuntimeError("output tensor and input tensor must be on the same type of device")
    elif name == "alltoall_" and several_kinds:
        raise RuntimeError("ProcessGroupGloo::alltoall: input and output tensors must have the same type")
    elif name == "alltoall_" and len(set(places)) > 1:
        raise RuntimeError("input and output tensors must be on the same device")
    elif name == "allreduce_coalesced_":
        _refuse_together(tensors)


def _refuse_together(tensors: list[torch.Tensor]) -> None:
    """ProcessGroupGloo.cpp, allreduce_coalesced: all of one kind are refused too, since it is for the CPU alone."""
    said = "unsupported device type cuda"
    if len({device_of(x) for x in tensors}) > 1:
        said = "tensors must all be on the same device"
    if len({(device_of(x).type, x.dtype) for x in tensors}) > 1:
        said = "tensors must all have the same type"
    raise RuntimeError(f"ProcessGroupGloo::allreduce_coalesced: {said}")


def _match(name: str, expected: torch.Tensor, items: Sequence[torch.Tensor]) -> None:
    """torch/csrc/distributed/c10d/Utils.hpp, assertTypeAndSizesMatch, as far as devices decide it."""
    for index, x in enumerate(items):
        if device_of(x).type != device_of(expected).type:
            wanted, got = tensor_options.text_of(expected), tensor_options.text_of(x)
            raise RuntimeError(
                f"ProcessGroupGloo::{name}: invalid tensor type at index {index} (expected {wanted}, got {got})"
            )
        if x.dtype != expected.dtype or x.shape != expected.shape:
            return  # gloo refuses this


def _match_types(inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> None:
    for index, (expected, x) in enumerate(zip(inputs, outputs, strict=False)):
        if device_of(x).type != device_of(expected).type:
            raise RuntimeError(
                f"ProcessGroupGloo::allgather_coalesced: invalid tensor type at index {index} (expected "
                f"{expected.type()}, got {x.type()})"
            )
        if x.dtype != expected.dtype or x.shape != expected.shape:
            return
