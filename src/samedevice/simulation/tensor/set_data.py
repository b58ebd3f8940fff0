"""Exchange of a CPU tensor for a simulated one, and back, under one Python object: `parameter.data = moved` asks it.

The Python dispatch key of an existing tensor cannot be switched, so the C++ tensor under the Python object is exchanged
for one that has it, or lacks it. On CUDA both are one tensor, so what belongs to it goes along: its version, its hooks,
its gradient, and the gradients that a graph recorded before still brings.
"""

import weakref
from typing import Any

import torch

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules.errors import found_two_devices
from samedevice.simulation.tensor import classes
from samedevice.simulation.tensor.classes import assign, original_of, twin_of
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import unwrap, wrap

_Tensor, _grad = torch.Tensor, torch.Tensor.grad
_data = torch.Tensor.data
_make_subclass = torch.Tensor._make_subclass
_register_hook = torch.Tensor.register_hook
_require_grad = torch.Tensor.requires_grad_
_set_version = torch._C._autograd._unsafe_set_version_counter

# Set on a gradient that is not where its tensor is: the tensor moved without it.
LEFT_BEHIND = "_samedevice_left_behind"


def exchange(tensor: torch.Tensor, new: torch.Tensor) -> None:
    """Give `tensor` the memory of `new`, of which one is simulated and the other is on the CPU.

    It is called under DisableTorchFunction: a lazy parameter's function allows next to nothing, and that of
    `with torch.device(...)` leads to the setter of autograd.py.
    """
    if not tensor.is_leaf:
        raise NotImplementedError(
            "samedevice does not give a tensor with a history (grad_fn) the .data of a tensor on another device: "
            "use x = x.to(device)"
        )
    gradient = _grad.__get__(tensor)
    hooks = tensor._backward_hooks, tensor._post_accumulate_grad_hooks
    place = device_of(tensor)
    before = _switch(tensor, place, CPU if type(new) is _Tensor else device_of(new))
    if hooks != (None, None):
        tensor._backward_hooks, tensor._post_accumulate_grad_hooks = hooks
    if gradient is not None:
        _grad.__set__(tensor, gradient)
        gradient._samedevice_owner = weakref.ref(tensor)  # as when it is read, but the simulation may have ended
        _leave_behind(tensor, gradient)
    _data.__set__(tensor, new)
    if tensor.requires_grad and before._use_count() > 1:  # a graph holds it
        before._post_accumulate_grad_hooks = None
        before.register_post_accumulate_grad_hook(lambda earlier: _hand_over(earlier, place, tensor))
    if isinstance(before, SimulatedTensor):
        before._samedevice_device = CPU  # on CUDA it is `tensor` that a graph has saved: its derivatives meet the CPU
    owner = getattr(tensor, "_samedevice_owner", lambda: None)()
    if owner is not None:  # `tensor` is its gradient, and it holds the C++ tensor
        _grad.__set__(owner, tensor)
        if device_of(owner) != device_of(tensor):
            _leave_behind(owner, tensor)


def _switch(tensor: torch.Tensor, place: torch.device, device: torch.device) -> Any:
    """Put the same memory under `tensor`, which is on `place`, as a tensor on `device`.

    Returns an object for the C++ tensor before.
    """
    # The memory is that of the CPU, until the caller gives it another: it is not counted on a GPU.
    kind = original_of(type(tensor))
    if not classes.dispatches_itself(kind):
        other: Any = unwrap(tensor) if device is CPU else wrap(tensor, CPU)
    elif device is CPU:
        other = _make_subclass(kind, unwrap(tensor))
    else:
        other = wrap(unwrap(tensor), CPU)
    if tensor.requires_grad:
        _require_grad(other)
    if not tensor.is_inference() and not other.is_inference():
        _set_version((other,), (tensor._version,))
    torch._C._swap_tensor_impl(tensor, other)
    if device is CPU:
        del tensor._samedevice_device
        vars(tensor).pop("_samedevice_met", None)
        assign(tensor, kind)
        assign(other, classes.simulated)
        other._samedevice_device = place
    else:
        tensor._samedevice_device = device
        assign(tensor, twin_of(kind))
        assign(other, torch.Tensor)
        del other._samedevice_device
    return other


def _leave_behind(tensor: torch.Tensor, gradient: torch.Tensor) -> None:
    """Note that `gradient` stays where it is: until it moves too, no gradient of `tensor` can be added to it."""

    def check(new: torch.Tensor) -> None:
        places = [device_of(gradient), device_of(new)]
        if hasattr(gradient, LEFT_BEHIND) and places[0] != places[1]:
            found_two_devices(*sorted(places, key=lambda device: device is CPU))  # `gradient += new`

    if tensor.requires_grad:
        setattr(gradient, LEFT_BEHIND, _register_hook(tensor, check))


def moved_after(gradient: torch.Tensor) -> None:
    """Forget that `gradient` was left behind, if it was."""
    left_behind = gradient.__dict__.pop(LEFT_BEHIND, None)
    if left_behind is not None:
        left_behind.remove()


def _hand_over(earlier: Any, earlier_place: torch.device, tensor: torch.Tensor) -> None:
    """Bring to `tensor` the gradient that a graph made for the C++ tensor `earlier`, which was under it."""
    gradient = _grad.__get__(earlier)
    _grad.__set__(earlier, None)
    if type(gradient) is torch.Tensor and earlier_place is not CPU:
        gradient = wrap(gradient, earlier_place)
    held = _grad.__get__(tensor)
    if held is None:
        # The setter refuses a gradient of another dtype or shape, and autograd sets one without asking. It fits
        # `earlier`, so it is set while that memory is here.
        now = _data.__get__(tensor)
        _data.__set__(tensor, _data.__get__(earlier))
        _grad.__set__(tensor, gradient)
        _data.__set__(tensor, now)
        if device_of(gradient) != device_of(tensor):
            _leave_behind(tensor, gradient)
    else:
        with torch.no_grad():
            held.add_(gradient)
    for hook in (tensor._post_accumulate_grad_hooks or {}).values():
        hook(tensor)
