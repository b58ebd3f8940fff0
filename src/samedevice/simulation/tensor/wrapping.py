"""Make a simulated tensor of a CPU tensor, and get the CPU tensor back: the same memory, with and without a device.

What PyTorch computes below is wrapped again, so this runs at every operator. A few kinds of tensors, which most
programs never make, need more work at each operator: complex, sparse and nested tensors, those of inference mode and
those of dtypes that few kernels compute. So
it is noted when the first of a kind is met, and nobody pays for it before.
"""

from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.device import memory
from samedevice.simulation.device.devices import CPU, device_of, in_forked_child, refuse_absent
from samedevice.simulation.rules import dtypes, made_inside
from samedevice.simulation.tensor import classes, dtensor, functorch, sparse

below = torch._C._DisableTorchDispatch
call_below = torch._C._disabled_torch_dispatch_impl  # the same for one call, and faster
in_inference_mode, _inference_mode = torch.is_inference_mode_enabled, torch._C._InferenceMode
_make_subclass = torch.Tensor._make_subclass
_storage = torch.Tensor.untyped_storage

# The dtypes whose tensors need no such work.
REAL = dtypes.USUAL - dtypes.COMPLEX

# What was met in this process, which tensors outlive a simulation in.
met_complex = False
met_rare = False  # whether a tensor had one of the dtypes that few kernels compute
met_quantized = False
met_inference = False
met_nested = False
met_layouts = False  # whether any tensor was sparse or nested
met_holders = False  # whether a tensor was made that computes with those it holds
met_unusual = False  # whether any of these was
_wrapped_any = False  # whether any was made


def meet_holders() -> None:
    """Note that a tensor was made that computes with those it holds: a jagged nested one, or a MaskedTensor."""
    global met_holders, met_unusual
    met_holders = met_unusual = True


def wrap(tensor: torch.Tensor, device: torch.device, counts_versions: bool = False) -> torch.Tensor:
    """The same memory as `tensor`, detached, on a simulated GPU.

    On the CPU it is a tensor of the program's: C++ makes none of this class (see ownership.py).
    What is made of an inference tensor has no version, as it has none, unless `counts_versions` is true.
    """
    global met_complex, met_inference, met_layouts, met_nested, met_quantized, met_rare, met_unusual
    global _wrapped_any
    if not _wrapped_any:
        _wrapped_any = True
        made_inside.learn()
        dtensor.started_later()
    if tensor.dtype not in REAL:
        if tensor.is_complex():
            met_complex = met_unusual = True
            while state.now.before_complex:
                state.now.before_complex.pop()()
        if tensor.dtype not in dtypes.USUAL:
            met_rare = met_unusual = True
            met_quantized = met_quantized or tensor.is_quantized
    if tensor.is_nested:
        met_nested = met_layouts = met_unusual = True
        while state.now.before_nested:
            state.now.before_nested.pop()()
    if tensor.is_inference():
        met_inference = met_unusual = True
        if not counts_versions and not in_inference_mode():
            with _inference_mode(True):  # else it would count versions, and could be written to
                return wrap(tensor, device)
    is_strided = tensor.layout is torch.strided
    if not is_strided:
        met_layouts = met_unusual = True
        tensor = sparse.with_plain_members(tensor, unwrap)
    wrapped = _make_subclass(classes.simulated, tensor)
    if functorch.is_wrapped(wrapped):
        return functorch.beneath(lambda inner: wrap(inner, device), tensor)
    wrapped._samedevice_device = device
    if device is CPU:
        return wrapped
    if is_strided:
        memory.made(_storage(tensor), device.index)
    else:
        for member in sparse.members(tensor):
            memory.made(_storage(member), device.index)
    return wrapped


def wrap_new(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """As `wrap`, of what an operator computed from usual tensors on this GPU, if it is one of these too."""
    wrapped = _make_subclass(classes.simulated, tensor)
    wrapped._samedevice_device = device
    memory.made(_storage(tensor), device.index)
    return wrapped


def wrap_view(view: torch.Tensor, device: torch.device) -> torch.Tensor:
    """As `wrap`, of what an operator made of the memory of a usual tensor on this GPU: it is of the same kind."""
    wrapped = _make_subclass(classes.simulated, view)
    wrapped._samedevice_device = device
    return wrapped


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
    if type(tensor) is classes.simulated:  # overrides nothing
        return call_below(torch.Tensor.detach, (), (tensor,), {})
    with below(), torch._C.DisableTorchFunctionSubclass():
        return tensor.detach()
