"""The functions that make tensors: torch.zeros, torch.tensor, torch.zeros_like, Tensor.new_zeros and their like.

Each is replaced by one that understands a simulated device. Which take a default device is PyTorch's own list
(torch.utils._device). Replacing is chosen over a TorchFunctionMode: it holds in every thread, older ones too, costs
nothing per call elsewhere and leaves tracebacks alone. A name bound by `from torch import zeros` before the simulation
starts is not replaced: allocation.py serves it, but for torch.tensor and torch.as_tensor.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, cast

import torch
from torch.types import Device
from torch.utils._device import DeviceContext, _device_constructors
from torch.utils.data import dataset

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.device import dispatch_modes, generators, sync_debug
from samedevice.simulation.device.devices import CPU, device_of, is_index, resolve
from samedevice.simulation.rules import kernel_names
from samedevice.simulation.rules.layout_errors import reworded
from samedevice.simulation.stand_ins import ABSENT, modes_are_asked, overridden, stand_in
from samedevice.simulation.tensor import batched_gradients, classes, cuda_array, fake, functorch, ownership, sparse
from samedevice.simulation.tensor.classes import dispatches_itself, is_jagged, refuse_class
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.transfers import move
from samedevice.simulation.tensor.wrapping import unwrap, wrap

_MADE_FROM_DATA = ("tensor", "as_tensor", "asarray")
_LIKE = ("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like")
_NEW = ("new", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
_to = torch.Tensor.to
# What makes tensors in memory that a program has already, and what of its data has none of its own or is a tensor's.
_MAY_SHARE = ("as_tensor", "asarray", "new")
_OF_NO_ARRAY = (bool, int, float, complex, list, tuple, torch.Tensor, torch.TypedStorage, torch.UntypedStorage)
_UNSEEN = (*_MADE_FROM_DATA, "new", "new_tensor", "range")
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
    may_be_array = name in _MADE_FROM_DATA

    @functools.wraps(original)
    def factory(*args: Any, device: Device = None, pin_memory: Any = False, **kwargs: Any) -> torch.Tensor:
        if modes_are_asked() and _programs_ask():
            named = _said(device=device, pin_memory=pin_memory)
            return torch.overrides.handle_torch_function(stand_in(original, factory), (), *args, **named, **kwargs)
        if may_be_array and args and type(args[0]) is not list and cuda_array.is_like(args[0]):
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
            return _made_on_cpu(original, args, kwargs, CPU)
        if device is None and (
            generator is None or any(isinstance(x, torch.Tensor) for x in (*args, *kwargs.values()))
        ):
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
            or (name in _MADE_FROM_DATA and args and isinstance(args[0], SimulatedTensor))
        ):
            return make(device, args, kwargs, named)
        return _made_on_cpu(original, args, kwargs | {"device": device}, device)

    make = _makers[original] = functools.partial(_make, original, name, is_sparse)
    return factory


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
    if name in _MADE_FROM_DATA and args and isinstance(args[0], torch.Tensor) and dispatch_modes.now():
        copy = name == "tensor" or bool(kwargs.get("copy"))
        source = args[0].detach() if name == "tensor" or kwargs.get("requires_grad") else args[0]
        made = source.to(device, kwargs.get("dtype") or source.dtype, copy=copy)
    elif name in _MADE_FROM_DATA and args and isinstance(args[0], torch.Tensor):
        made = original(*args, **kwargs)
        made = (made.detach() if kwargs.get("requires_grad") else made).to(device)
    elif dispatch_modes.now():
        made = _seen(original, name, device, args, kwargs, named)
    else:
        made = _made(original, device, *args, **kwargs)
    return made.requires_grad_() if kwargs.get("requires_grad") else made


def _said(**named: Any) -> Keywords:
    """The arguments that a program has given, of those that are None or False where it has not."""
    return {name: value for name, value in named.items() if value is not None and value is not False}


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


def _seen(
    original: Any, name: str, device: torch.device, args: Arguments, kwargs: Keywords, named: Any
) -> torch.Tensor:
    """What a factory makes while a mode is on: by the operator, on the device as the program has named it.

    Data comes to a tensor where no mode sees it (torch/csrc/utils/tensor_new.cpp, internal_new_from_data).
    """
    if name in _UNSEEN or name.startswith("sparse_"):
        with dispatch_modes.unseen():
            made = _made(original, device, *args, **kwargs)
        return made if name.startswith("sparse_") else cast(torch.Tensor, torch.ops.aten.lift_fresh.default(made))
    with dispatch_modes.asking():
        made = original(*args, device=device if is_index(named) else named, **kwargs)
    return made


def _made(original: Any, device: torch.device, *args: Any, **kwargs: Any) -> torch.Tensor:
    """A tensor that is made on the CPU and is then on a GPU; from data, that is a copy."""
    name = original.__name__
    if dispatch_modes.faking():
        if name not in _UNSEEN:
            return cast(torch.Tensor, original(*args, device=device, **kwargs))
        return _to(original(*args, device="cpu", **kwargs), device)
    try:
        if generators.is_of_another_type(kwargs.get("generator"), device):
            made = _unless_drawn(original, args, kwargs | {"device": "cpu"}, device)
        elif name.startswith("rand") or name == "normal":
            with generators.of(device, kwargs.get("generator")):
                made = original(*args, device="cpu", **kwargs)
        else:
            made = original(*args, device="cpu", **kwargs)
    except NotImplementedError as error:
        raise kernel_names.of_cuda(error) or reworded(error) from None
    except RuntimeError as error:
        raise reworded(error) from None
    if state.now.sync_debug_level and name in (*_MADE_FROM_DATA, "new_tensor"):
        sync_debug.copies(made, device, False)
    if name in _MAY_SHARE:
        made = moved_data(made, args[1:] if name == "new" else args)
    return wrap(made, device)


def _made_on_cpu(original: Any, args: Arguments, kwargs: Keywords, device: torch.device) -> torch.Tensor:
    """What a factory makes on the CPU, or on a device that PyTorch itself knows."""
    generator = kwargs.get("generator")
    if generator is not None:
        if generators.is_of_another_type(generator, device):
            return _unless_drawn(original, args, kwargs, device)
        generators.check_generator(generator, device)
    made: torch.Tensor = original(*args, **kwargs)
    return ownership.owned(made) if functorch.is_wrapped(made) else made


def _unless_drawn(original: Any, args: Arguments, kwargs: Keywords, device: torch.device) -> torch.Tensor:
    """What a function gives with a generator of another type of device than this one."""
    given = kwargs["generator"]
    made = generators.unless_drawn(lambda other: original(*args, **kwargs | {"generator": other}), given, device)
    return cast(torch.Tensor, made)


def moved_data(made: torch.Tensor, data: Any) -> torch.Tensor:
    """What was made on the CPU of a program's data, in memory of its own, as a move to a GPU gives it.

    PyTorch makes a tensor in the memory of an array, or of whatever else has memory, and copies it to the GPU
    (torch/csrc/utils/tensor_new.cpp, internal_new_from_data). Numbers and lists have none, and storages are taken over.
    """
    return made if not data or isinstance(data[0], _OF_NO_ARRAY) else made.detach().clone()


def _made_pinned(factory: Any, name: str, is_sparse: bool, args: Arguments, kwargs: Keywords) -> torch.Tensor:
    """What a factory makes that is asked for pinned memory."""
    if name == "tensor" and args and type(args[0]).__name__ == "ndarray":
        raise RuntimeError("Can't pin tensor constructed from numpy")  # torch/csrc/utils/tensor_new.cpp
    made: torch.Tensor = factory(*args, **kwargs)
    if is_sparse:
        return made.pin_memory() if device_of(made) is CPU else sparse.members(made)[-1].pin_memory()
    return made if name in _MADE_FROM_DATA and isinstance(made, SimulatedTensor) else _pinned(made)


def _pinned(made: torch.Tensor) -> torch.Tensor:
    if isinstance(made, SimulatedTensor) or made.layout is not torch.strided:
        raise RuntimeError("Only dense CPU tensors can be pinned")  # native/TensorFactories.cpp, empty
    return made.pin_memory()


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
            made = _made(original, source._samedevice_device, unwrap(source), *args, **kwargs)
            return made.requires_grad_() if kwargs.get("requires_grad") else made
        if type(source) is not torch.Tensor and (not isinstance(source, torch.Tensor) or overridden(source)):
            return _ask(original, made_like, source, args, kwargs | _said(device=device, pin_memory=pin_memory))
        if pin_memory is not False:
            if pin_memory is not True or original.__name__ == "new_tensor":
                return original(source, *args, device=device, pin_memory=pin_memory, **kwargs)  # PyTorch refuses this
            return _pinned(made_like(source, *args, device=device, **kwargs))
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
        made = _made(original, target, unwrap(source), *args, **kwargs)
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
        if home.type == "cuda":
            with dispatch_modes.asking():
                return original(source, *args, device=home, pin_memory=pin_memory, **kwargs)
    if dispatches_itself(kind):  # a DTensor, which makes one of its own kind
        if device is not None and resolve(device).type == "cuda" and not fake.is_fake(source):
            refuse_class(kind)
        return original(source, *args, **_said(device=device, pin_memory=pin_memory), **kwargs)
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
        made = _seen(original, name, device, (unwrap(source), *args), kwargs, named)
    elif named is None:
        made = original(source, *args, **kwargs)
    else:
        made = _seen(original, name, device, (source, *args), kwargs, named)
    return made.requires_grad_() if kwargs.get("requires_grad") else made


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
