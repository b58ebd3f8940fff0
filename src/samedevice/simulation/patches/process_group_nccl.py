"""NCCL's process groups, carried out by gloo: what torch.distributed does between the GPUs of several processes.

PyTorch's own Python code is unchanged: it makes a `ProcessGroupNCCL` for the devices that a backend's name means,
and refuses a tensor on a device for which a group has no backend. Here that class is a gloo group. Below the Python key
(Note [Below the key]) a simulated tensor is on the CPU, so a collective goes to a second group, the `carrier`, whose
backend for the CPU is that same gloo group. What holds tensors in C++ (DistributedDataParallel's Reducer) is given the
carrier at once.

What NCCL itself would refuse is checked as in torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp.
"""

import datetime
import functools
import itertools
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._prims_common import suggest_memory_format
from torch.types import Device

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device import devices, in_backward
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.patches import process_group_gloo, tensor_options
from samedevice.simulation.rules import judgement
from samedevice.simulation.tensor import dispatch, operators
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import unwrap, wrap

_TOLD = "gloo does the work of NCCL, on the CPU: results are as on CUDA, speed is not."
_GROUPS = ("process_group", "group_name", "group")  # what operators call the argument
_NAME = "{}, carried out by gloo"
_CUDA = torch.device("cuda")
_TIMEOUT = datetime.timedelta(minutes=10)  # ProcessGroupNCCL.hpp, kProcessGroupNCCLDefaultTimeout

_OF_OTHERS = ("torch.", "samedevice.simulation.")  # modules whose line a warning does not name
_available = process_group_gloo.available
if _available:
    from torch.distributed import ProcessGroup, ProcessGroupGloo, constants, distributed_c10d

    # From torch 2.15 on, "nccl" is made by a second class.
    _HAS_SECOND = hasattr(distributed_c10d, "_create_nccl2_process_group")
    _barrier, _destroy = ProcessGroup.barrier, distributed_c10d.destroy_process_group
    _register_hook = torch.distributed._register_comm_hook
    _broadcast = torch.distributed._broadcast_coalesced

    class Options(ProcessGroupGloo._Options):
        """ProcessGroupNCCL.Options, of which the timeout counts."""

        def __init__(self, is_high_priority_stream: bool = False) -> None:
            super().__init__()
            self._timeout = _TIMEOUT
            self.is_high_priority_stream = is_high_priority_stream
            self.config = types.SimpleNamespace()

        def __deepcopy__(self, memo: dict[int, Any]) -> "Options":
            copy = Options(self.is_high_priority_stream)
            copy._timeout, copy.config = self._timeout, types.SimpleNamespace(**vars(self.config))
            copy.global_ranks_in_group, copy.group_name = list(self.global_ranks_in_group), self.group_name
            return copy

    class ProcessGroupNCCL(ProcessGroupGloo):
        """A gloo group that does NCCL's work."""

        def __init__(self, store: Any, rank: int, size: int, options: Any = None, device: Device = None) -> None:
            if not devices.count():
                raise ValueError("ProcessGroupNCCL is only supported with GPUs, no GPUs found!")
            options = options or Options()
            super().__init__(store, rank, size, timeout=options._timeout)
            _tell(rank)
            for namespace in process_group_gloo.NAMESPACES:
                state.now.carried_out[namespace] = _collective
            self._options = options
            of_gloo = super().options  # C++ reads these
            of_gloo.global_ranks_in_group, of_gloo.group_name = options.global_ranks_in_group, options.group_name
            self.kept_store = store  # from which the groups begin that it is split into
            self.carrier = ProcessGroup(store, rank, size)
            self.carrier._set_default_backend(ProcessGroup.BackendType.GLOO)
            self.carrier._register_backend(CPU, ProcessGroup.BackendType.GLOO, self)
            # Groups keep their name in their backend, and these two have the same one.
            self.carrier_name = _NAME.format(options.group_name)
            torch._C._distributed_c10d._register_process_group(self.carrier_name, self.carrier)
            state.now.nccl_groups.add(self)

        @property
        def options(self) -> Options:  # as it was given, to be copied by torch.distributed.split_group
            return self._options

        def name(self) -> str:
            return "nccl"

    def _split(self: Any, store: Any, ranks: list[int], options: Any) -> Any:
        """torch.distributed.new_group of torch 2.15: the part of this group that has these ranks; None outside it."""
        if self.rank() not in ranks:
            return None
        return ProcessGroupNCCL(store, ranks.index(self.rank()), len(ranks), options)

    if _HAS_SECOND:
        ProcessGroupNCCL.split = _split
    ProcessGroupNCCL.Options = Options
    ProcessGroupNCCL.__module__ = distributed_c10d.__name__


def replacements() -> Iterator[tuple[object, str, object]]:
    if not _available:
        return
    for module in (distributed_c10d, constants):
        yield module, "default_pg_nccl_timeout", _TIMEOUT
    yield distributed_c10d, "_NCCL_AVAILABLE", True
    for owner in (distributed_c10d, torch.distributed):
        yield owner, "ProcessGroupNCCL", ProcessGroupNCCL
        yield owner, "destroy_process_group", destroy_process_group
    if _HAS_SECOND:
        yield distributed_c10d, "ProcessGroupNCCL2", ProcessGroupNCCL
    yield ProcessGroup, "barrier", barrier
    for name in ("Reducer", "_verify_params_across_processes"):
        yield torch.distributed, name, _with_carriers(getattr(torch.distributed, name))
    yield torch.distributed, "_broadcast_coalesced", broadcast_coalesced
    yield torch.distributed, "_register_comm_hook", register_comm_hook


def _warn(sentence: str) -> None:
    """Warn at the line that asked for a group."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_OF_OTHERS):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"samedevice: {sentence}", stacklevel=level)


tell: Callable[[str], None] = _warn  # a door may say it in its own way
_told = False


def _tell(rank: int) -> None:
    """Say it once: at the first group, which is that of all processes, in the first of these."""
    global _told
    first, _told = not _told, True
    if first and not rank:
        tell(_TOLD)


def carried(group: Any) -> "ProcessGroupNCCL | None":
    """The gloo group that does a group's work for GPUs, if it was asked for NCCL."""
    if not isinstance(group, ProcessGroup):
        return None
    try:
        backend = group._get_backend(_CUDA)
    except RuntimeError:  # it has no backend for GPUs
        return None
    backend = getattr(backend, "wrapped_pg", backend)  # TORCH_DISTRIBUTED_DEBUG=DETAIL
    return backend if isinstance(backend, ProcessGroupNCCL) else None


def _carrier(group: Any) -> Any:
    """What to use in C++ in the place of a group: an object, boxed or not, or its name."""
    if isinstance(group, str):
        named = (each.carrier_name for each in state.now.nccl_groups if each.options.group_name == group)
        return next(named, group)
    unboxed = ProcessGroup.unbox(group) if isinstance(group, torch.ScriptObject) else group
    backend = carried(unboxed)
    if backend is None:
        return group
    return backend.carrier.boxed() if unboxed is not group else backend.carrier


def _for_gpus(group: Any) -> Any:
    """What to use in C++ in the place of a group, for tensors on a GPU."""
    carrier = _carrier(group)
    return process_group_gloo.for_gpus(group) if carrier is group else carrier


def _collective(func: Overload, args: Arguments, kwargs: Keywords | None) -> Any:
    """Run a collective with the carrier in the place of its group; of a group that has none, gloo may run it.

    NCCL asks no other check: `_refuse` looks at the tensors.
    """
    arguments = _carried_arguments(func, args, kwargs)
    if arguments is None:
        return process_group_gloo.collective(func, args, kwargs)
    _refuse(func, arguments)
    places = map(device_of, judgement.tensors_of(args, kwargs))
    return dispatch.run(operators.of(func), (), arguments, next((place for place in places if place is not CPU), CPU))


def _carried_arguments(func: Overload, args: Arguments, kwargs: Keywords | None) -> dict[str, Any] | None:
    """The arguments by their names, with the carrier for the group; None where the group has none."""
    names = (argument.name for argument in func._schema.arguments)
    arguments = dict(zip(names, args, strict=False)) | (kwargs or {})
    for name in _GROUPS:
        if name in arguments and (carrier := _carrier(arguments[name])) is not arguments[name]:
            return arguments | {name: carrier}
    return None


def _refuse(func: Overload, arguments: dict[str, Any]) -> None:
    """ProcessGroupNCCL.cpp: check_gpu_single_tensor, assertTypeMatch and assertSizesMatch of scatter and gather."""
    name = func._schema.name.partition("::")[2]
    tensors = [x for x in arguments.values() if isinstance(x, torch.Tensor)]
    lists = [x for x in arguments.values() if isinstance(x, (list, tuple))]
    tensors += [x for items in lists for x in items if isinstance(x, torch.Tensor)]
    # What all_gather received is copied to where the list's tensors are.
    nested = [] if name == "allgather_" else [x for items in lists for x in items if isinstance(x, (list, tuple))]
    if name == "allreduce_" and any(x.is_sparse for x in tensors):
        raise RuntimeError("NCCL does not support all_reduce with sparse tensors. Please use dense tensors instead.")
    if name in ("scatter_", "gather_"):
        for expected, items in itertools.product(tensors, nested):
            _match(name.rstrip("_"), expected, items)
    for x in (*tensors, *itertools.chain(*nested)):
        if not x.is_cuda or x.is_sparse:
            raise ValueError("Tensors must be CUDA and dense")
        if not x.is_contiguous(memory_format=suggest_memory_format(x)):
            raise ValueError("Tensors must be contiguous")


def _match(name: str, expected: torch.Tensor, items: Sequence[torch.Tensor]) -> None:
    for index, x in enumerate(items):
        if (x.dtype, x.device.type) != (expected.dtype, expected.device.type):
            fault, wanted, got = "type", tensor_options.text_of(expected), tensor_options.text_of(x)
        elif x.shape != expected.shape:
            fault, wanted, got = "size", *(f"({', '.join(map(str, each.shape))})" for each in (expected, x))
        else:
            continue
        raise ValueError(
            f"ProcessGroupNCCL::{name}: invalid tensor {fault} at index {index} (expected {wanted}, got {got})"
        )


def _with_carriers(original: Any) -> Any:
    """A function of C++ that holds tensors and a group; of tensors on the CPU, the group itself refuses them."""

    # A class that is asked for `__annotations__` makes some, and would keep them.
    @functools.wraps(original, ("__module__", "__name__", "__qualname__", "__doc__"))
    def function(*args: Any, **kwargs: Any) -> Any:
        tensors = itertools.chain(*(x for x in (*args, *kwargs.values()) if isinstance(x, (list, tuple))))
        if any(isinstance(x, torch.Tensor) and device_of(x) is CPU for x in tensors):
            return original(*args, **kwargs)
        swapped = [_for_gpus(arg) if isinstance(arg, ProcessGroup) else arg for arg in args]
        named = {name: _for_gpus(arg) if isinstance(arg, ProcessGroup) else arg for name, arg in kwargs.items()}
        return original(*swapped, **named)

    return function


def broadcast_coalesced(process_group: Any, tensors: Sequence[torch.Tensor], *args: Any, **kwargs: Any) -> None:
    """torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size: each device has its own buckets."""
    for device in dict.fromkeys(device_of(x) for x in tensors):
        group = process_group if device is CPU else _for_gpus(process_group)
        _broadcast(group, [x for x in tensors if device_of(x) == device], *args, **kwargs)


def barrier(self: Any, *args: Any, **kwargs: Any) -> Any:
    """ProcessGroup.hpp, barrier: it makes a tensor on the device of the options, here on the CPU."""
    group = _carrier(self)
    for options in (*args, *kwargs.values()):
        if isinstance(options, torch.distributed.BarrierOptions) and options.device is not None:
            if devices.resolve(options.device).type == "cuda":
                group = _for_gpus(self)
            options.device = CPU
    return _barrier(group, *args, **kwargs)


def destroy_process_group(group: Any = None) -> None:
    every = group is None or group is distributed_c10d.GroupMember.WORLD
    gone = [each for each in state.now.nccl_groups if every or each is carried(group)]
    _destroy(group)
    for each in gone:
        torch._C._distributed_c10d._unregister_process_group(each.carrier_name)
        state.now.nccl_groups.discard(each)


class _Bucket:
    """A GradBucket as a program's communication hook is to see it: its gradients are where the parameters are."""

    def __init__(self, bucket: Any) -> None:
        self._bucket = bucket
        self._device = device_of(bucket.parameters()[0])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bucket, name)

    def buffer(self) -> torch.Tensor:
        return wrap(self._bucket.buffer(), self._device)

    def gradients(self) -> list[torch.Tensor]:
        return [wrap(gradient, self._device) for gradient in self._bucket.gradients()]

    def set_buffer(self, buffer: torch.Tensor) -> None:
        self._bucket.set_buffer(unwrap(buffer) if isinstance(buffer, SimulatedTensor) else buffer)


def register_comm_hook(reducer: Any, state: Any, hook: Any) -> None:
    """DistributedDataParallel.register_comm_hook: the buckets of gradients are C++'s, on the CPU."""

    @functools.wraps(hook)
    def on_the_gpu(state: Any, bucket: Any) -> Any:
        parameter = bucket.parameters()[0]
        with in_backward.running(device_of(parameter)):
            return hook(state, _Bucket(bucket) if isinstance(parameter, SimulatedTensor) else bucket)

    _register_hook(reducer, state, on_the_gpu)


if _available:
    functools.update_wrapper(destroy_process_group, _destroy)
