"""torch.zeros_like, Tensor.new_zeros and their like: on the device of the first argument, unless told otherwise."""

import functools
from typing import Any

import torch
from torch.types import Device

from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.device import dispatch_modes
from samedevice.simulation.device.devices import CPU, device_of, resolve
from samedevice.simulation.stand_ins import ABSENT, modes_are_asked, overridden
from samedevice.simulation.tensor import batched_gradients, classes, fake, functorch, making
from samedevice.simulation.tensor.classes import dispatches_itself, is_jagged
from samedevice.simulation.tensor.moving import move
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import unwrap, wrap


@functools.cache
def like(original: Any) -> Any:
    """zeros_like and new_zeros: on the device of the first argument, unless told otherwise."""
    # Made of nothing but a tensor, for which there is a short way: each backward begins with ones_like.
    is_short = original.__name__ in ("empty_like", "ones_like", "zeros_like")

    @functools.wraps(original)
    def made_like(
        source: Any = ABSENT, /, *args: Any, device: Device = None, pin_memory: Any = False, **kwargs: Any
    ) -> torch.Tensor:
        if (
            is_short
            and type(source) is classes.simulated
            and device is None
            and pin_memory is False
            and source._samedevice_device is not CPU
            and not modes_are_asked()
            and not dispatch_modes.now()
        ):
            made = making.made_on(original, source._samedevice_device, unwrap(source), *args, **kwargs)
            return made.requires_grad_() if kwargs.get("requires_grad") else made
        if type(source) is not torch.Tensor and (not isinstance(source, torch.Tensor) or overridden(source)):
            return _ask(original, made_like, source, args, kwargs | making.given(device=device, pin_memory=pin_memory))
        if pin_memory is not False:
            if pin_memory is not True or original.__name__ == "new_tensor":
                return original(source, *args, device=device, pin_memory=pin_memory, **kwargs)  # PyTorch refuses this
            return making.pinned(made_like(source, *args, device=device, **kwargs))
        kind = type(source)
        if kind is not classes.simulated and kind is not torch.Tensor:
            made = _like_of_class(original, made_like, source, device, pin_memory, args, kwargs)
            if made is not NotImplemented:
                return made
        here = device_of(source)
        try:
            target = here if device is None else resolve(device)
        except TypeError:
            return original(source, *args, device=device, **kwargs)  # PyTorch refuses this
        if batched_gradients.is_batched(source):
            return move(original(source, *args, **kwargs), target)
        if functorch.is_wrapped(source) and fake.is_fake(source):
            return original(source, *args, **({} if device is None else {"device": target}), **kwargs)
        if target.type != "cuda" and target == here:
            has_data = original.__name__ == "new_tensor"
            args, kwargs = _data_from_here(args, kwargs) if has_data else (args, kwargs)
            return original(source, *args, **kwargs)
        if target.type == "cuda" and args and isinstance(args[0], torch.TypedStorage | torch.UntypedStorage):
            return wrap(original(unwrap(source), *args), target)  # x.new(storage) takes that memory
        if dispatch_modes.now() and source.layout is torch.strided:
            return _like_seen(original, source, target, device, args, kwargs)
        if target.type != "cuda":
            return original(unwrap(source), *args, device=target, **kwargs)
        made = making.made_on(original, target, unwrap(source), *args, **kwargs)
        return made.requires_grad_() if kwargs.get("requires_grad") else made

    return made_like


def _ask(original: Any, made_like: Any, source: Any, args: Arguments, kwargs: Keywords) -> Any:
    """What overrides this function; PyTorch's methods ask by themselves, and hand on what is in their place."""
    if source is ABSENT and "input" in kwargs:
        return made_like(kwargs.pop("input"), *args, **kwargs)
    if source is ABSENT:
        return original(*args, **kwargs)  # PyTorch refuses this
    if original.__name__.startswith("new") or not overridden(source):
        return original(source, *args, **kwargs)
    if not torch.overrides.has_torch_function_unary(source):
        with torch._C.DisableTorchFunctionSubclass():  # after redispatch_function
            return made_like(source, *args, **kwargs)
    public = getattr(torch, original.__name__)
    return torch.overrides.handle_torch_function(public, (source,), source, *args, **kwargs)


def _like_of_class(
    original: Any, made_like: Any, source: Any, device: Device, pin_memory: bool, args: Arguments, kwargs: Keywords
) -> Any:
    """What is made like a tensor of a class that dispatches operators itself; NotImplemented for any other."""
    kind = type(source)
    if is_jagged(kind):
        with dispatch_modes.asking():
            return original(source, *args, **kwargs, **({} if device is None else {"device": resolve(device)}))
    if classes.is_of_program(kind):
        home = device_of(source) if device is None else resolve(device)
        if original.__name__ == "new_tensor":  # where `source` is, and of torch.Tensor
            return made_like(torch.empty(0, dtype=source.dtype, device="cpu"), *args, device=home, **kwargs)
        if "cuda" in (home.type, device_of(source).type):
            if device is not None or original.__name__.startswith("new"):  # PyTorch names the device of these itself
                kwargs = kwargs | {"device": home}
            with dispatch_modes.asking():
                return original(source, *args, pin_memory=pin_memory, **kwargs)
    if dispatches_itself(kind):  # a DTensor, which makes one of its own kind
        if device is not None and resolve(device).type == "cuda" and not fake.is_fake(source):
            device = resolve(device)
        return original(source, *args, **making.given(device=device, pin_memory=pin_memory), **kwargs)
    return NotImplemented


def _data_from_here(args: Arguments, kwargs: Keywords) -> Any:
    """torch/csrc/utils/tensor_new.cpp, new_tensor: the result is where `self` is, wherever its data is."""

    def here(data: Any) -> Any:
        return data.detach().cpu() if isinstance(data, SimulatedTensor) else data

    return [here(x) for x in args], {name: here(x) for name, x in kwargs.items()}


def _like_seen(
    original: Any, source: torch.Tensor, device: torch.device, named: Any, args: Arguments, kwargs: Keywords
) -> torch.Tensor:
    name = original.__name__
    if name in ("new", "new_tensor"):
        made = making.made_while_seen(original, name, device, (unwrap(source), *args), kwargs, named)
    elif named is None:
        made = original(source, *args, **kwargs)
    else:
        made = making.made_while_seen(original, name, device, (source, *args), kwargs, named)
    return made.requires_grad_() if kwargs.get("requires_grad") else made
