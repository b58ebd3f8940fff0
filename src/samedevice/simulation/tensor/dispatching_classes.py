"""Classes that dispatch operators themselves, of a program: what they are told, and what they pass on.

C++ hands an operator to the class of a tensor, with the classes of all tensors that have the Python key. On CUDA a
plain tensor has not, and a simulated one has. So such a class is called through `_as_on_cuda` while a simulation runs,
from when a tensor of it is made.

What a class passes on by `super().__torch_dispatch__` goes to torch.Tensor, which computes below the Python key, where
no device is compared. So that a class with memory of its own comes to the simulation, it is called as its twin,
between which and torch.Tensor is PassedOn. See Note [Twins].
"""

import functools
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.device import dispatch_modes
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import judgement, made_inside
from samedevice.simulation.tensor import classes
from samedevice.simulation.tensor.classes import Twin, assign, is_of_program, original_of, twin_of
from samedevice.simulation.tensor.wrapping import detached, meet_holder, unwrap, wrap

_make_subclass = torch.Tensor._make_subclass
# Classes of which _make_wrapper_subclass made a tensor. What outlives a simulation may be asked about in the next.
_without_memory: "weakref.WeakSet[type]" = weakref.WeakSet()


def follow(kind: type, has_memory: bool = True) -> None:
    """Tell a class from now on what it is told on CUDA, if it is one of those that this file is about."""
    kind = original_of(kind)
    if not has_memory:
        _without_memory.add(kind)
    if state.now.session is None or not is_of_program(kind):
        return
    owner = next(base for base in kind.__mro__ if "__torch_dispatch__" in vars(base))
    own = vars(owner)["__torch_dispatch__"]
    if isinstance(own, classmethod) and not hasattr(own.__func__, "_samedevice_own"):
        state.now.session.replace(iter([(owner, "__torch_dispatch__", classmethod(_as_on_cuda(own)))]))


def has_memory(kind: type) -> bool:
    """Whether tensors of a class of the program have memory of their own: it was not seen that one had none."""
    return original_of(kind) not in _without_memory


def _as_on_cuda(own: Any) -> Any:
    @functools.wraps(own.__func__)
    def dispatch(cls: type, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
        home = None if dispatch_modes.asked() else _gpu_of(args, kwargs)
        if home is not None:
            args, kwargs = as_on_gpu(home, args, kwargs or {})
        if any(isinstance(kind, Twin) for kind in types):
            types = classes.as_on_cuda(types)
            if has_memory(cls):
                cls = twin_of(cls)
        return own.__get__(None, cls)(func, types, args, kwargs or {})

    dispatch._samedevice_own = own  # type: ignore[attr-defined]
    return dispatch


def _gpu_of(args: Arguments, kwargs: Keywords | None) -> torch.device | None:
    """The GPU of the first tensor on one, if there is any. It holds no tensor afterwards: see Note [Made inside]."""
    devices = map(device_of, judgement.tensors_of(args, kwargs))
    return next((device for device in devices if device.type == "cuda"), None)


def as_on_gpu(home: torch.device, args: Arguments, kwargs: Keywords) -> tuple[Arguments, Keywords]:
    """What an operator is given on this GPU, where C++ takes tensors for some of the CPU.

    It names the CPU and means their device, and makes tensors there. That has to be seen here: whoever is given them
    holds them. See Note [Made inside].
    """
    return tuple(at(home, args)), kwargs | {"device": home} if kwargs.get("device") == CPU else kwargs


def at(home: torch.device, values: Any) -> Iterator[Any]:
    """The same values; a tensor that a formula of backward made for itself is where the others are."""
    for index in range(len(values)):  # not by a variable that would hold a tensor
        if made_inside.made_inside(values, index):
            yield wrap(values[index], home)
        elif type(values[index]) in (list, tuple):
            yield type(values[index])(at(home, values[index]))
        else:
            yield values[index]


def made_of(tensor: torch.Tensor, kind: type, device: torch.device, require_grad: bool = False) -> Any:
    """The same memory, detached, as a tensor of a class that dispatches operators itself, on this device."""
    with torch._C.DisableTorchFunction():
        made: Any = _make_subclass(classes.simulated, detached(tensor), require_grad)
    made._samedevice_device = device
    become(made, kind)
    return made


def become(tensor: Any, kind: type) -> None:
    """Let a simulated tensor be of a class that dispatches operators itself."""
    assign(tensor, twin_of(kind))
    follow(kind)
    meet_holder(tensor)


def on_cpu(tensor: torch.Tensor) -> Any:
    """A tensor on the CPU as one that its class can pass on to the simulation, with the attributes that it has."""
    if type(tensor) in _without_memory or not is_of_program(type(tensor)) or isinstance(type(tensor), Twin):
        return tensor
    return _with_attributes(made_of(tensor, type(tensor), CPU), tensor)


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """A simulated tensor on the CPU as programs know it: a plain one, or of a class that dispatches operators."""
    if not classes.dispatches_itself(type(tensor)):
        return unwrap(tensor)
    made: Any = _make_subclass(original_of(type(tensor)), unwrap(tensor))
    return _with_attributes(made, tensor)


def _with_attributes(made: Any, tensor: torch.Tensor) -> Any:
    """`made` with what the program noted of `tensor`, of which it was made."""
    ours = {name for name in vars(tensor) if name.startswith("_samedevice_")}
    vars(made).update({name: value for name, value in vars(tensor).items() if name not in ours})
    return made
