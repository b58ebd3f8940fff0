"""Make a simulated tensor of a CPU tensor, and get the CPU tensor back: the same memory, with and without a device.

What PyTorch computes below is wrapped again, so this runs at every operator.

Note [Latches]
A few kinds of tensors, which most programs never make, need more work at each operator: complex, sparse and nested
tensors, those of inference mode, those of dtypes that few kernels compute, and those that hold others. So `wrap` notes
in `state.now.met` when the first of a kind is made, and nobody pays for it before. `state.now.met_unusual` says whether
any was noted: it is all that dispatch asks on its fast path.

The notes are a simulation's, but tensors outlive simulations, and the next one must know those that are left. So each
tensor of such a kind holds the `Met` of the simulation that made it, as `_samedevice_met`. When a simulation starts,
the `Met`s that still live are those that such tensors hold, and it takes over what they say (`meet_left_over`).
Whatever makes one tensor of another without `wrap` has to pass this on (`pass_on`).
"""

from collections.abc import Sequence
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device import memory
from samedevice.simulation.device.devices import CPU, device_of, in_forked_child, refuse_absent
from samedevice.simulation.rules import dtypes, made_inside
from samedevice.simulation.tensor import classes, dtensor, functorch, sparse

# See Note [Below the key] in dispatch.py.
below = torch._C._DisableTorchDispatch
call_below = torch._C._disabled_torch_dispatch_impl  # the same for one call, and faster
in_inference_mode, _inference_mode = torch.is_inference_mode_enabled, torch._C._InferenceMode
_make_subclass = torch.Tensor._make_subclass
_Tensor, _storage = torch.Tensor, torch.Tensor.untyped_storage
_detach, _asks_nothing = torch.Tensor.detach, torch._C._disabled_torch_function_impl

# The dtypes whose tensors need no such work.
REAL = dtypes.USUAL - dtypes.COMPLEX

_wrapped_any = False  # whether this process made any


def wrap(tensor: torch.Tensor, device: torch.device, counts_versions: bool = False) -> torch.Tensor:
    """The same memory as `tensor`, detached, on a simulated GPU.

    On the CPU it is a tensor of the program's: C++ makes none of this class (see ownership.py).
    What is made of an inference tensor has no version, as it has none, unless `counts_versions` is true.
    """
    global _wrapped_any
    if not _wrapped_any:
        _wrapped_any = True
        made_inside.learn()
        dtensor.started_later()
    if tensor.dtype not in REAL or tensor.is_nested or tensor.layout is not torch.strided:
        return _wrap_noted(tensor, device, counts_versions)
    now = state.now
    wrapped = _make_subclass(classes.simulated, tensor)
    if not now.before_wrapped and functorch.is_wrapped(wrapped):
        return functorch.beneath(lambda inner: wrap(inner, device), tensor)
    wrapped._samedevice_device = device
    if tensor.is_inference():
        wrapped._samedevice_met = met = now.met
        met.inference = now.met_unusual = True
        if not counts_versions and not in_inference_mode():
            with _inference_mode(True):  # else it would count versions, and could be written to
                return wrap(tensor, device)
    if device is not CPU:
        memory.made(_storage(tensor), device.index)
    return wrapped


def _wrap_noted(tensor: torch.Tensor, device: torch.device, counts_versions: bool) -> torch.Tensor:
    """Wrap a tensor whose dtype or layout is noted."""
    if tensor.is_inference() and not counts_versions and not in_inference_mode():
        with _inference_mode(True):
            return wrap(tensor, device)
    met = _meet(tensor)
    if tensor.layout is not torch.strided:
        tensor = sparse.with_plain_members(tensor, unwrap)
    wrapped = _make_subclass(classes.simulated, tensor)
    if functorch.is_wrapped(wrapped):
        return functorch.beneath(lambda inner: wrap(inner, device), tensor)
    wrapped._samedevice_device, wrapped._samedevice_met = device, met
    if device is not CPU:
        for member in (tensor,) if tensor.layout is torch.strided else sparse.members(tensor):
            memory.made(_storage(member), device.index)
    return wrapped


def _meet(tensor: torch.Tensor) -> state.Met:
    """Note of which kinds a tensor is."""
    now = state.now
    met, now.met_unusual = now.met, True
    met.complex |= tensor.is_complex()
    met.rare |= tensor.dtype not in dtypes.USUAL
    met.quantized |= tensor.is_quantized
    met.nested |= tensor.is_nested
    met.layouts |= tensor.is_nested or tensor.layout is not torch.strided
    met.inference |= tensor.is_inference()
    _prepare(now)
    return met


def _prepare(now: state.State) -> None:
    """Put in place what some kinds of tensors need, once one was met."""
    if now.met.complex:
        state.prepare(now.before_complex)
    if now.met.nested:
        state.prepare(now.before_nested)
    if now.met.holders:
        state.prepare(now.before_wrapped)


def meet_holder(holder: Any) -> None:
    """Note that a tensor was made that computes with those it holds: a jagged nested one, or a MaskedTensor."""
    now = state.now
    now.met.holders = now.met_unusual = True
    holder._samedevice_met = now.met
    _prepare(now)


def meet_left_over() -> None:
    """Note the kinds of the tensors that earlier simulations left: their `Met` lives, since they hold it."""
    now = state.now
    for earlier in list(state.living):
        for kind, was_met in vars(earlier).items():
            if was_met:
                setattr(now.met, kind, True)
                now.met_unusual = True
    _prepare(now)


def pass_on(tensor: torch.Tensor, other: Any) -> None:
    """Note that `other`, which has the memory of `tensor`, is of the same kinds."""
    met = vars(tensor).get("_samedevice_met")
    if met is not None:
        other._samedevice_met = met


def wrap_new(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Wrap what an operator computed from usual tensors on this GPU, if it is a usual tensor too."""
    wrapped = _make_subclass(classes.simulated, tensor)
    wrapped._samedevice_device = device
    memory.made(_storage(tensor), device.index)
    return wrapped


def wrap_several(tensors: Sequence[Any], device: torch.device) -> list[Any]:
    """Wrap what an operator computed at once from usual tensors on this GPU; what is no tensor stays as it is."""
    kind, index, several = classes.simulated, device.index, []
    for x in tensors:
        wrapped = x
        if type(x) is _Tensor:
            if x.dtype in REAL and not x.is_inference():
                wrapped = _make_subclass(kind, x)
                wrapped._samedevice_device = device
                memory.made(_storage(x), index)
            else:
                wrapped = wrap(x, device)
        several.append(wrapped)
    return several


def wrap_view(view: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Wrap what an operator made of the memory of a usual tensor on this GPU: it is a usual tensor too."""
    wrapped = _make_subclass(classes.simulated, view)
    wrapped._samedevice_device = device
    return wrapped


def overrides_nothing(kind: type) -> bool:
    """Whether this is a class of simulated tensors that leaves PyTorch's functions as they are."""
    return kind is classes.simulated or (isinstance(kind, classes.Twin) and kind.__torch_function__ is _asks_nothing)


def resized(result: Any) -> None:
    """Note what an operator wrote to that may have resized it: it returns the tensors that it was given."""
    for tensor in result if isinstance(result, (tuple, list)) else (result,):
        device = getattr(tensor, "_samedevice_device", CPU)
        if device is not CPU and tensor.layout is torch.strided:
            memory.resized(_storage(tensor), device.index)


def unwrap(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as `tensor`, detached, as the plain CPU tensor that it is."""
    if in_forked_child():
        refuse_absent(device_of(tensor))
    if overrides_nothing(type(tensor)):
        return call_below(_detach, (), (tensor,), {})
    return detached(tensor)


def detached(tensor: torch.Tensor) -> torch.Tensor:
    """What `unwrap` gives, where writing to the one counts the version of the other, as with `tensor.detach()`."""
    with below(), torch._C.DisableTorchFunctionSubclass():
        return tensor.detach()
