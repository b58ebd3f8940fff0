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
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.device.devices import CPU
from samedevice.simulation.tensor import classes
from samedevice.simulation.tensor.classes import Twin, assign, is_of_program, original_of, twin_of
from samedevice.simulation.tensor.wrapping import detached, meet_holder, unwrap

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


def _as_on_cuda(own: Any) -> Any:
    @functools.wraps(own.__func__)
    def dispatch(cls: type, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
        if any(isinstance(kind, Twin) for kind in types):
            types = classes.as_on_cuda(types)
            if original_of(cls) not in _without_memory:
                cls = twin_of(cls)
        return own.__get__(None, cls)(func, types, args, kwargs or {})

    dispatch._samedevice_own = own  # type: ignore[attr-defined]
    return dispatch


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
