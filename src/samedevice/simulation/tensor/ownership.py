"""Which tensors on the CPU are the program's own, where PyTorch's C++ code makes tensors too.

Inside vmap, a dual level and backward, PyTorch makes tensors on what it takes for the device of its input, which is the
CPU. See Note [Made inside]. The program's own are told by who holds them. But what vmap and jvp wrap, what is computed
of it, and what a hook unpacks for backward, C++ alone holds. So these are tensors of the class SimulatedTensor on the
CPU: C++ makes none of that class. When a transform hands one back to the program, it is a plain tensor again.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch._functorch import eager_transforms, vmap
from torch.autograd import forward_ad
from torch.autograd.graph import saved_tensors_hooks

from samedevice.simulation.device import in_backward
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.tensor import dispatching_classes
from samedevice.simulation.tensor.classes import dispatches_itself
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import wrap

_add_batch_dim, _remove_batch_dim = vmap._add_batch_dim, vmap._remove_batch_dim
_unpack_dual = forward_ad.unpack_dual
_make_dual, _unwrap_for_grad = forward_ad.make_dual, eager_transforms._unwrap_for_grad
_init_hooks = saved_tensors_hooks.__init__
_register_hooks_of_one = torch._C._autograd.SavedTensor.register_hooks
_is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
_is_functional = torch._C._functorch.is_functionaltensor
_unwrap = torch._C._functorch.get_unwrapped


def replacements() -> Iterator[tuple[object, str, object]]:
    yield vmap, "_add_batch_dim", lambda tensor, *args: _add_batch_dim(owned(tensor), *args)
    yield vmap, "_remove_batch_dim", lambda tensor, *args: plain(_remove_batch_dim(tensor, *args))
    yield forward_ad, "make_dual", _made_dual
    yield forward_ad, "unpack_dual", _unpacked
    yield eager_transforms, "_unwrap_for_grad", lambda tensor, *args: plain(_unwrap_for_grad(tensor, *args))
    yield saved_tensors_hooks, "__init__", _init
    yield torch._C._autograd.SavedTensor, "register_hooks", _register_hooks


def owned(tensor: torch.Tensor) -> Any:
    """The same tensor as one of the program's; one that is not a plain tensor on the CPU comes back as it is."""
    if not is_plain(tensor):
        return tensor
    layers = _layers(tensor)
    has_history = torch.is_grad_enabled() and any(layer.requires_grad for layer in layers)
    return _Owned.apply(tensor) if has_history or forward_ad._current_level >= 0 else wrap(tensor, CPU)


def _layers(tensor: torch.Tensor) -> list[torch.Tensor]:
    """A tensor, what torch.func has wrapped in it, and so on."""
    layers = [tensor]
    while _is_wrapped(layers[-1]) and not _is_functional(layers[-1]):
        layers.append(_unwrap(layers[-1]))
    return layers


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether this is a tensor on the CPU of no class that matters here, or one that torch.func has wrapped."""
    tensor = _layers(tensor)[-1]
    if isinstance(tensor, SimulatedTensor) or _is_wrapped(tensor) or dispatches_itself(type(tensor)):
        return False
    return device_of(tensor) is CPU and tensor.layout is torch.strided


def plain(tensor: torch.Tensor) -> Any:
    """The same tensor as programs know it: on the CPU, a tensor of PyTorch's own class."""
    if not isinstance(tensor, SimulatedTensor) or tensor._samedevice_device is not CPU:
        return tensor
    return (
        _Plain.apply(tensor) if torch.is_grad_enabled() and tensor.requires_grad else dispatching_classes.plain(tensor)
    )


class _Owned(torch.autograd.Function):
    """`owned`, of a tensor with a history."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: torch.Tensor) -> torch.Tensor:
        return wrap(tensor, CPU)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
        return tangent


class _Plain(_Owned):
    """`plain`, of a tensor with a history."""

    @staticmethod
    def forward(tensor: torch.Tensor) -> torch.Tensor:
        return dispatching_classes.plain(tensor)


def _made_dual(tensor: torch.Tensor, tangent: torch.Tensor, *, level: int | None = None) -> torch.Tensor:
    """What jvp wraps; elsewhere, a tensor that holds its tangent, which C++ alone would. See Note [Made inside]."""
    if eager_transforms.JVP_NESTING:
        return _make_dual(owned(tensor), owned(tangent), level=level)
    dual: torch.Tensor = _make_dual(tensor, tangent, level=level)
    if isinstance(dual, SimulatedTensor):
        dual._samedevice_tangent = tangent
    return dual


@functools.wraps(_unpack_dual)
def _unpacked(tensor: torch.Tensor, *, level: int | None = None) -> Any:
    """unpack_dual; a tangent of zeros that a formula has made for itself is where the tensor is."""
    dual = _unpack_dual(tensor, level=level)
    if dual.tangent is None or not _layers(dual.tangent)[-1]._is_zerotensor():
        return dual
    home = device_of(dual.primal)
    if home.type != "cuda" or device_of(dual.tangent) is not CPU:
        return dual
    # Written out: without memory, what is computed of them would be made by C++, on the CPU.
    return dual._replace(tangent=wrap(dual.tangent.clone(), home))


class _Packed:
    """What a hook has packed of a tensor."""

    def __init__(self, content: Any, place: torch.device | None) -> None:
        self.content = content
        self.place = place  # where the tensor was; None for one of PyTorch's own class
        self.home = place or CPU  # where the node runs that saved it


def _init(self: Any, pack_hook: Any, unpack_hook: Any) -> None:
    """saved_tensors_hooks.__init__; what comes back to the CPU of a GPU's tensor is the program's."""
    _init_hooks(self, *_packing(pack_hook, unpack_hook))


def _register_hooks(self: Any, pack_hook: Any, unpack_hook: Any) -> None:
    """The same for one saved tensor, such as `y.grad_fn._raw_saved_result`."""
    _register_hooks_of_one(self, *_packing(pack_hook, unpack_hook))


def _packing(pack_hook: Any, unpack_hook: Any) -> tuple[Any, Any]:
    def pack(tensor: torch.Tensor) -> Any:
        place = tensor._samedevice_device if isinstance(tensor, SimulatedTensor) else None
        if place is None or place is CPU:
            packed = _Packed(pack_hook(plain(tensor)), place)
            in_backward.saves(packed)
            return packed
        with in_backward.running(place):  # where a derivative saves it for a second one
            return _Packed(pack_hook(tensor), place)

    def unpack(packed: _Packed) -> Any:
        with in_backward.running(packed.home):
            tensor = unpack_hook(packed.content)
        return tensor if packed.place is None or not isinstance(tensor, torch.Tensor) else owned(tensor)

    return pack, unpack
