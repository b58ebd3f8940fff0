"""The functions that make tensors: torch.zeros, torch.tensor and the others that take a default device.

Each is replaced by one that understands a simulated device. Which take a default device is PyTorch's own list
(torch.utils._device). Replacing is chosen over a TorchFunctionMode: it holds in every thread, older ones too, costs
nothing per call elsewhere and leaves tracebacks alone. A name bound by `from torch import zeros` before the simulation
starts is not replaced: allocation.py serves it, but for torch.tensor and torch.as_tensor.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.types import Device
from torch.utils._device import DeviceContext, _device_constructors
from torch.utils.data import dataset

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.device import dispatch_modes
from samedevice.simulation.device.devices import CPU, device_of, resolve
from samedevice.simulation.stand_ins import modes_are_asked, stand_in
from samedevice.simulation.tensor import cuda_array, functorch, making, ownership, sparse
from samedevice.simulation.tensor.like import like
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_LIKE = ("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like")
_NEW = ("new", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
# What a factory is usually given. A list may hold tensors, which PyTorch's own function reads.
_USUAL, _USUAL_KEYWORDS = frozenset((bool, int, float, list, tuple, torch.Size)), frozenset(("dtype", "requires_grad"))
_NAMES, _CPU = (str, torch.device), ("cpu", CPU)
_makers: dict[Any, Callable[..., torch.Tensor]] = {}


def replacements() -> Iterator[tuple[object, str, object]]:
    for owner, name in _places():
        factory = _factory(getattr(owner, name), name)
        yield owner, name, factory
        if name == "randperm":
            yield dataset, name, factory  # imported there by name
    yield torch, "normal", _factory(torch.normal, "normal")
    for name in _LIKE:
        yield torch, name, like(getattr(torch, name))
    for name in _NEW:
        yield torch.Tensor, name, like(getattr(torch.Tensor, name))
    yield DeviceContext, "__torch_function__", _under_default_device


# What the functions that are named after a layout make, beside sparse_coo_tensor.
_COMPRESSED = {f"sparse_{name}_tensor": getattr(torch, f"sparse_{name}") for name in ("csr", "csc", "bsr", "bsc")}


def _layout(name: str, kwargs: Keywords) -> torch.layout | None:
    """The compressed layout of what a function makes; None for COO, and for what PyTorch refuses."""
    layout = kwargs.get("layout") if name == "sparse_compressed_tensor" else _COMPRESSED.get(name)
    return layout if layout in _COMPRESSED.values() else None


@functools.cache
def _places() -> list[tuple[Any, str]]:
    """The owners and names of the functions that take a default device."""
    constructors = _device_constructors()
    return [
        (owner, name)
        for owner in (torch, torch.fft)
        for name, original in vars(owner).items()
        if callable(original) and not isinstance(original, type) and original in constructors
    ]


@functools.cache  # by what it stands for: a second simulation starts the faster
def _factory(original: Any, name: str) -> Any:
    is_sparse = name.startswith("sparse_")
    is_usual = not is_sparse and not name.startswith("rand") and name != "normal"

    @functools.wraps(original)
    def factory(*args: Any, device: Device = None, pin_memory: Any = False, **kwargs: Any) -> torch.Tensor:
        if is_usual and pin_memory is False and not modes_are_asked() and _are_usual(args, kwargs):
            made = _of_numbers(original, args, device, kwargs)
            if made is not None:
                return made
        return _made(original, name, factory, args, device, pin_memory, kwargs)

    _makers[original] = functools.partial(_make, original, name, is_sparse)
    return factory


def _are_usual(args: Arguments, kwargs: Keywords) -> bool:
    """Whether a factory is given nothing but numbers, lists, a dtype and requires_grad: no tensor but in a list."""
    for arg in args:
        if type(arg) not in _USUAL:
            return False
    return (not kwargs or kwargs.keys() <= _USUAL_KEYWORDS) and bool(state.now.before_wrapped)


def _of_numbers(original: Any, args: Arguments, device: Device, kwargs: Keywords) -> torch.Tensor | None:
    """What a factory makes of its usual arguments, on the CPU or on a GPU; None where more has to be looked at."""
    made: torch.Tensor
    if device is None:
        if state.now.default_type is not None:
            return None
        made = original(*args, **kwargs)
        return made
    if type(device) not in _NAMES:
        return None
    if device in _CPU:
        made = original(*args, device=device, **kwargs)
        return made
    home = resolve(device)
    if home.type != "cuda" or "requires_grad" in kwargs or dispatch_modes.now():
        return None
    return making.made_on(original, home, *args, **kwargs)


def _made(
    original: Any, name: str, factory: Any, args: Arguments, device: Device, pin_memory: Any, kwargs: Keywords
) -> torch.Tensor:
    """What a factory makes of any arguments."""
    is_sparse = name.startswith("sparse_")
    if modes_are_asked() and _programs_ask():
        named = making.given(device=device, pin_memory=pin_memory)
        return torch.overrides.handle_torch_function(stand_in(original, factory), (), *args, **named, **kwargs)
    if name in making.MADE_FROM_DATA and args and type(args[0]) is not list and cuda_array.is_like(args[0]):
        home = torch.get_default_device() if device is None and _has_default_device() else device
        return cuda_array.make(args[0], home, pin_memory, copies=name == "tensor", **kwargs)
    if device is None and state.now.default_type is not None and name != "asarray":  # it asks for no default type
        device = _of_default_type(args, kwargs)
    if pin_memory is not False:
        named = kwargs if device is None else kwargs | {"device": device}
        if pin_memory is not True:
            return original(*args, pin_memory=pin_memory, **named)  # PyTorch refuses this
        return _made_pinned(factory, name, is_sparse, args, named)
    if name in ("linspace", "logspace"):
        args = tuple(x.item() if isinstance(x, SimulatedTensor) else x for x in args)  # RangeFactories.cpp
    met = is_sparse and any(isinstance(x, SimulatedTensor) for x in (*args, *kwargs.values()))
    if device is None and met and not _has_default_device():
        args, kwargs = sparse.parts(args, kwargs, _layout(name, kwargs), None)
    generator = kwargs.get("generator")
    if device is None and any(type(x) is torch.Tensor for x in args):
        return making.made_on_cpu(original, args, kwargs, CPU)
    if device is None and (generator is None or any(isinstance(x, torch.Tensor) for x in (*args, *kwargs.values()))):
        made: torch.Tensor = original(*args, **kwargs)  # a default device comes back by _under_default_device
        return ownership.owned(made) if functorch.is_wrapped(made) else made
    if device is None:
        device = torch.get_default_device()
    try:
        named, device = device, resolve(device)
    except TypeError:  # a bool, a list
        return original(*args, device=device, **kwargs)  # PyTorch refuses this
    if (
        device.type == "cuda"
        or met
        or isinstance(kwargs.get("out"), SimulatedTensor)
        or (name in making.MADE_FROM_DATA and args and isinstance(args[0], SimulatedTensor))
    ):
        return _makers[original](device, args, kwargs, named)
    return making.made_on_cpu(original, args, kwargs | {"device": device}, device)


def _make(
    original: Any, name: str, is_sparse: bool, device: torch.device, args: Arguments, kwargs: Keywords,
    named: Any = None,
) -> torch.Tensor:  # fmt: skip
    """What a factory makes on a device that it was given, or that is the default."""
    if is_sparse:
        args, kwargs = sparse.parts(args, kwargs, _layout(name, kwargs), device)
        if any(isinstance(x, torch.Tensor) for x in (*args, *kwargs.values())):
            with torch._C.DisableTorchFunction() if _has_default_device() else contextlib.nullcontext():
                return original(*args, **kwargs)
        if device.type != "cuda":
            return original(*args, device=device, **kwargs)
    if isinstance(kwargs.get("out"), torch.Tensor):
        here = device_of(kwargs["out"])
        if here.type != device.type:  # torch/csrc/autograd/utils, check_out_type_matches: the type, not the index
            raise RuntimeError(f"device type {device.type} does not match device type of out parameter ({here.type})")
        return original(*args, **kwargs)
    if name == "asarray" and args and (copy := kwargs.get("copy")) is not None:
        _check_alias(args[0], device if named is None else named, copy)
    if name in making.MADE_FROM_DATA and args and isinstance(args[0], torch.Tensor) and dispatch_modes.now():
        copy = name == "tensor" or bool(kwargs.get("copy"))
        source = args[0].detach() if name == "tensor" or kwargs.get("requires_grad") else args[0]
        made = source.to(device, kwargs.get("dtype") or source.dtype, copy=copy)
    elif name in making.MADE_FROM_DATA and args and isinstance(args[0], torch.Tensor):
        made = original(*args, **kwargs)
        made = (made.detach() if kwargs.get("requires_grad") else made).to(device)
    elif dispatch_modes.now():
        made = making.made_while_seen(original, name, device, args, kwargs, named)
    else:
        made = making.made_on(original, device, *args, **kwargs)
    return made.requires_grad_() if kwargs.get("requires_grad") else made


def _programs_ask() -> bool:
    """Whether a TorchFunctionMode of the program's is on, which is told the call in the program's words."""
    return any(not isinstance(mode, DeviceContext) for mode in torch.overrides._get_current_function_mode_stack())


def _check_alias(source: Any, named: Any, copy: bool) -> None:
    """torch/csrc/utils/tensor_new.cpp, asarray: with copy=False, what has memory stays where it is.

    With copy=True so does what NumPy has without dimensions, which is copied first. A scalar of NumPy's is refused to
    copy=False by PyTorch itself.
    """
    if isinstance(source, torch.Tensor):
        here, stays = device_of(source), not copy
    else:
        here, is_number = CPU, hasattr(source, "dtype") and getattr(source, "ndim", None) == 0
        stays = is_number and (copy or hasattr(source, "__setitem__"))
        if not copy and not is_number:
            with contextlib.suppress(TypeError):
                memoryview(source)
                stays = True
    wanted = torch.device(named)
    if stays and here != wanted:
        raise ValueError(f"can't alias tensor from device '{here}' to '{wanted}'.")


def _of_default_type(args: Arguments, kwargs: Keywords) -> torch.device | None:
    """The default type's device; None where a default device or an argument says another."""
    given = any(isinstance(x, torch.Tensor) for x in (*args, *kwargs.values()))
    return None if given or _has_default_device() else state.now.default_type


def _has_default_device() -> bool:
    """Whether torch.set_default_device, or `with torch.device(...)`, says where tensors are made."""
    return any(isinstance(mode, DeviceContext) for mode in torch.overrides._get_current_function_mode_stack())


def _made_pinned(factory: Any, name: str, is_sparse: bool, args: Arguments, kwargs: Keywords) -> torch.Tensor:
    """What a factory makes that is asked for pinned memory."""
    if name == "tensor" and args and type(args[0]).__name__ == "ndarray":
        raise RuntimeError("Can't pin tensor constructed from numpy")  # torch/csrc/utils/tensor_new.cpp
    made: torch.Tensor = factory(*args, **kwargs)
    if is_sparse:
        return made.pin_memory() if device_of(made) is CPU else sparse.members(made)[-1].pin_memory()
    return made if name in making.MADE_FROM_DATA and isinstance(made, SimulatedTensor) else making.pinned(made)


def _under_default_device(
    context: Any, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None
) -> Any:
    """DeviceContext.__torch_function__, with the simulated devices known to it."""
    kwargs = kwargs or {}
    if func in _device_constructors() and kwargs.get("device") is None:
        device = resolve(context.device)
        if func in _makers and (device.type == "cuda" or func.__name__.startswith("sparse_")):
            kwargs.pop("device", None)
            return _makers[func](device, args, kwargs, context.device)
        kwargs["device"] = device
    return func(*args, **kwargs)
