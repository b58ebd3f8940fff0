"""torch.func and forward-mode derivatives: where the tensors are that PyTorch wraps for them.

vmap, grad and their kin hand the function tensors that C++ wraps around the simulated ones, and C++ says that these are
on the CPU. So a wrapped tensor is asked for what it wraps. While vmap runs, or a dual level is open, PyTorch's C++ code
makes tensors of its own in the middle of any operator: see Note [Made inside].
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._functorch import eager_transforms, vmap

from samedevice.simulation import state
from samedevice.simulation.device import in_cpp
from samedevice.simulation.device.devices import device_of
from samedevice.simulation.device.in_cpp import meant
from samedevice.simulation.rules import made_inside
from samedevice.simulation.stand_ins import overridden
from samedevice.simulation.tensor import batched_gradients
from samedevice.simulation.tensor.classes import is_jagged

_device, _get_device = torch.Tensor.device, torch.Tensor.get_device
_is_cuda, _is_cpu = torch.Tensor.is_cuda, torch.Tensor.is_cpu
_numpy = torch.Tensor.numpy
is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
unwrapped = torch._C._functorch.get_unwrapped
_functorch = torch._C._functorch
_vmap_increment_nesting = vmap.vmap_increment_nesting
_LEVELS = [
    (module, name)
    for module in (eager_transforms, vmap)
    for name in (f"_{transform}_increment_nesting" for transform in ("func", "grad", "jvp", "vmap"))
    if hasattr(module, name)
]


def replacements() -> Iterator[tuple[object, str, object]]:
    for owner, name in _LEVELS:
        yield owner, name, _wrapping(getattr(owner, name))
    for owner in (torch.Tensor, torch):
        yield owner, "get_device", get_device
    yield torch.Tensor, "numpy", numpy
    yield vmap, "vmap_increment_nesting", vmap_increment_nesting


def start(replace: Callable[[Iterator[tuple[object, str, object]]], None]) -> None:
    """Let `replace` put in place what tells where wrapped tensors are, before the first of them is made.

    Programs read `x.device` of each tensor, and PyTorch's own property is many times as fast.
    """
    state.now.before_wrapped.append(lambda: replace(_of_wrapped()))
    if in_cpp.told_any or torch._C._are_functorch_transforms_active():
        state.prepare(state.now.before_wrapped)


def _of_wrapped() -> Iterator[tuple[object, str, object]]:
    for function in (device, is_cuda, is_cpu):
        yield torch.Tensor, function.__name__, property(function, doc=getattr(torch.Tensor, function.__name__).__doc__)


def _wrapping(increment: Callable[..., int]) -> Callable[..., int]:
    """What begins a level of torch.func, in which tensors are wrapped."""

    @functools.wraps(increment)
    def begin(*args: Any) -> int:
        state.prepare(state.now.before_wrapped)
        return increment(*args)

    return begin


def device(self: torch.Tensor) -> torch.device:
    """Tensor.device, also of a tensor that torch.func has wrapped around a simulated one."""
    if is_wrapped(self):
        return unwrapped(self).device
    if batched_gradients.running and batched_gradients.is_batched(self):
        return batched_gradients.held(self).device
    home: torch.device | None
    if is_jagged(type(self)) and "_values" in self.__dict__:
        home = self._values.device
        return home
    if type(self) is not torch.Tensor and (home := getattr(self, "_samedevice_device", None)) is not None:
        return home
    here: torch.device = _device.__get__(self)
    return here if here.index is None else meant(here)


def is_cuda(self: torch.Tensor) -> bool:
    asks = overridden(self) and not _knows_device(self)
    answer: bool = _is_cuda.__get__(self) if asks else device(self).type == "cuda"
    return answer


def is_cpu(self: torch.Tensor) -> bool:
    asks = overridden(self) and not _knows_device(self)
    answer: bool = _is_cpu.__get__(self) if asks else device(self).type == "cpu"
    return answer


def _knows_device(tensor: torch.Tensor) -> bool:
    """Whether a tensor of a class that overrides functions has a device here that C++ does not know."""
    return is_jagged(type(tensor)) or "_samedevice_device" in tensor.__dict__


@functools.wraps(_get_device)
def get_device(self: torch.Tensor) -> int:
    if overridden(self) and not _knows_device(self):
        return _get_device(self)
    here = device_of(self)
    return -1 if here.index is None else here.index


@functools.wraps(_numpy)
def numpy(self: torch.Tensor, *, force: bool = False) -> Any:
    if not force and not overridden(self):
        inner = unwrapped(self) if is_wrapped(self) else batched_gradients.held(self)
        if inner is not self and inner.device.type == "cuda":
            return inner.numpy()  # refused, by its own method
    return _numpy(self, force=force)


def in_vmap(tensor: torch.Tensor) -> bool:
    """Whether vmap has wrapped this tensor, at any level."""
    while is_wrapped(tensor):
        if _functorch.is_batchedtensor(tensor):
            return True
        tensor = unwrapped(tensor)
    return False


def refuse_between_gpus(gradient: torch.Tensor) -> None:
    """Refuse a gradient that torch.func has wrapped and that goes from one GPU to another in `backward`.

    torch/csrc/autograd/input_buffer.cpp, record_stream_any_impl: the gradient comes from another GPU's stream, so the
    engine asks for its memory, which a wrapped tensor does not have.
    """
    if _functorch.is_batchedtensor(gradient):
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl")
    if _functorch.is_gradtrackingtensor(gradient):
        raise NotImplementedError("Cannot access storage of TensorWrapper")


@contextlib.contextmanager
def vmap_increment_nesting(*args: Any, **kwargs: Any) -> Iterator[int]:
    with made_inside.composing(), _vmap_increment_nesting(*args, **kwargs) as level:
        yield level


def beneath(function: Callable[[torch.Tensor], torch.Tensor], tensor: torch.Tensor) -> torch.Tensor:
    """Apply `function` to the tensor that torch.func has wrapped, and wrap what it returns in the same way."""
    if not is_wrapped(tensor):
        with torch._C._DisableFuncTorch():
            return function(tensor)
    level = _functorch.maybe_get_level(tensor)
    inner = beneath(function, unwrapped(tensor))
    if _functorch.is_batchedtensor(tensor):
        return _functorch._add_batch_dim(inner, _functorch.maybe_get_bdim(tensor), level)
    if _functorch.is_functionaltensor(tensor):
        return _functorch._wrap_functional_tensor(inner, level)
    return _functorch._wrap_for_grad(inner, level)
