"""Fake tensors on simulated GPUs, with which PyTorch traces and exports: a device, and no memory.

C++ asks the class of a fake tensor for its device. Of a GPU it is told another (in_cpp.py), which it names in its turn
where it makes a tensor "where my input is". PyTorch's modes hear of each operator before anything is made, and are told
the GPU. Python reads `.device` of a fake tensor from its class, which knows the GPU.
"""

import contextlib
import functools
import gc
from collections.abc import Iterator
from types import MethodType
from typing import Any

import torch
from torch._subclasses import fake_tensor, functional_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.fx.experimental import proxy_tensor
from torch.utils._pytree import tree_leaves

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.device import dispatch_modes
from samedevice.simulation.device.devices import CPU, ENDED, device_of
from samedevice.simulation.device.in_cpp import for_cpp, meant
from samedevice.simulation.rules import judgement
from samedevice.simulation.tensor import functorch
from samedevice.simulation.tensor.classes import Twin, as_on_cuda

_ask_device = torch.ops.prim.device.default
_dispatch = FakeTensor.__dict__["__torch_dispatch__"].__func__
_check_for_subclass_arg = fake_tensor._check_for_subclass_arg
_MODES = FakeTensorMode, functional_tensor.FunctionalTensorMode, proxy_tensor.ProxyTorchDispatchMode


def replacements() -> Iterator[tuple[object, str, object]]:
    yield FakeTensor, "__torch_dispatch__", classmethod(dispatch)
    for mode in _MODES:
        yield mode, "__torch_dispatch__", _dispatch_of_mode(mode)
    yield fake_tensor, "_check_for_subclass_arg", check_for_subclass_arg
    yield FunctionalTensor, "device", property(lambda self: functorch.device(self.elem))
    for kind in (FakeTensor, FunctionalTensor):
        yield kind, "is_cuda", property(lambda self: self.device.type == "cuda")
        yield kind, "is_cpu", property(lambda self: self.device.type == "cpu")
        yield kind, "is_meta", property(lambda self: self.device.type == "meta")


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Inside, nothing else of the simulation is in place: for PyTorch's compilers (see patches/dynamo.py)."""
    before = [(owner, name, vars(owner).get(name)) for owner, name, _ in replacements()]
    try:
        for owner, name, replacement in replacements():
            setattr(owner, name, replacement)
        yield
    finally:
        for owner, name, value in before:
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def stop() -> None:
    """Let fake tensors that are left over refuse operators: C++ would look for the GPU, and end Python."""
    if state.now.met_fakes:
        for thing in gc.get_objects():
            if type(thing) is FakeTensor and thing.fake_device.type == "cuda":
                vars(thing)["__torch_dispatch__"] = _ended
                vars(thing.fake_mode)["__torch_dispatch__"] = MethodType(_under_a_mode, thing.fake_mode)


def _ended(func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
    if func is not _ask_device:
        raise RuntimeError(ENDED)
    return for_cpp(args[0].fake_device)


def _under_a_mode(mode: Any, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
    """FakeTensorMode.__torch_dispatch__ of a mode that has outlived its GPUs."""
    leaves = tree_leaves((args, kwargs))
    if any(type(leaf) is FakeTensor and "__torch_dispatch__" in vars(leaf) for leaf in leaves):
        return _ended(func, types, args)
    return type(mode).__torch_dispatch__(mode, func, types, args, kwargs or {})


def is_fake(tensor: torch.Tensor) -> bool:
    """Whether this is a fake tensor, or what PyTorch has wrapped around one: PyTorch itself makes and moves these."""
    while functorch.is_wrapped(tensor):
        tensor = functorch.unwrapped(tensor)
    return isinstance(tensor, FakeTensor | FunctionalTensor)


@functools.wraps(_dispatch)
def dispatch(cls: type, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
    """FakeTensor.__torch_dispatch__."""
    return _told(func, _dispatch(cls, func, as_on_cuda(types), args, _with_meant(kwargs)))


def _dispatch_of_mode(mode: type) -> Any:
    original = vars(mode)["__torch_dispatch__"]

    @functools.wraps(original)
    def dispatch(self: Any, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
        if mode is FakeTensorMode and func in self.lift_fns and isinstance(type(args[0]), Twin):
            # torch.tensor(data, device="cuda")
            is_constant = self.may_turn_const(args[0])
            return self.fake_tensor_converter.from_real_tensor(self, args[0], make_constant=is_constant)
        kwargs = _with_meant(kwargs)
        if mode is proxy_tensor.ProxyTorchDispatchMode:
            kwargs = _with_home(self, args, kwargs)
        return _told(func, original(self, func, as_on_cuda(types), args, kwargs))

    return dispatch


def _with_home(mode: Any, args: Arguments, kwargs: Keywords) -> Keywords:
    """The arguments of an operator that is recorded; C++ names the CPU where it means "where my input is".

    A formula of a derivative makes zeros without a tensor among the arguments. They belong to the operator before it.
    What a program makes says whether it is pinned, and what C++ makes like a tensor has that one's layout instead.
    """
    home = next((device_of(x) for x in judgement.tensors_of(args, kwargs) if isinstance(type(x), Twin)), None)
    if home is not None:
        mode._samedevice_home = home
    elif "layout" in kwargs and "pin_memory" not in kwargs and next(judgement.tensors_of(args, kwargs), None) is None:
        home = getattr(mode, "_samedevice_home", None)
    if home is None or kwargs.get("device") != CPU or dispatch_modes.asked():
        return kwargs
    return {**kwargs, "device": home}


def _told(func: Overload, result: Any) -> Any:
    """What an operator returns to C++, which may have asked for a device."""
    if func is not _ask_device or result.type != "cuda":
        return result
    state.now.met_fakes = True
    return for_cpp(result)


def _with_meant(kwargs: Keywords | None) -> Keywords:
    if not kwargs:
        return {}
    device = kwargs.get("device")
    return {**kwargs, "device": meant(device)} if isinstance(device, torch.device) else kwargs


def check_for_subclass_arg(x: object) -> bool:
    """Whether FakeTensorMode leaves an operator to the class of this argument."""
    return not isinstance(type(x), Twin) and _check_for_subclass_arg(x)
