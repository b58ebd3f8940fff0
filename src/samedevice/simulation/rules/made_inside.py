"""Which tensors on the CPU PyTorch's C++ code made for itself in the middle of an operator, on a GPU as on the CPU.

Note [Made inside]
Formulas of derivatives, the rules of vmap and compositions make tensors of their own on what they take for the device
of their input. That is the CPU, since a simulated tensor is one in C++. On CUDA they would be on the GPU, so they must
be told from what the program passes, which has to be refused. No kernel can stand in front of this code
(composite_kernels.py). What differs is who holds the tensor: a variable, a container or the interpreter's stack holds
what the program passes, and C++ alone holds what C++ made. So Python's reference count tells them apart. What it counts
differs between versions of Python and torch, and is measured once (`learn`). It is looked at only while such code runs.

So code between PyTorch and this question must not hold such a tensor: not in a variable, nor in a container that it
makes. It passes on the holder and the key, or asks first and then notes the answer (`remember`).
"""

import gc
import sys
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd import forward_ad

from samedevice.simulation.calls import Arguments, Keywords, Overload, Types

_make_subclass = torch.Tensor._make_subclass

# How often Python counts a tensor that only C++ holds, and C++ its memory (see `made_inside` and `learn`).
_held_by_cpp_alone = 0
_memory_held_once = 0
_held_by_a_list = 0

_REMEMBERED = "_samedevice_made_inside"

# Whether this thread runs code that PyTorch composes in C++ (see `composing`).
_local = threading.local()


class composing:  # noqa: N801 - reads as `with composing()`
    """Inside, tensors that only C++ holds were made by PyTorch for itself, and are where its other input is.

    For backward and vmap, whose formulas and rules no kernel can stand in front of (see composite_kernels.py).
    """

    def __enter__(self) -> None:
        self._before = getattr(_local, "composing", False)
        _local.composing = True

    def __exit__(self, *exception: object) -> None:
        _local.composing = self._before


def is_composing() -> bool:
    """Whether formulas of derivatives or rules of vmap run in this thread, or a dual level is open."""
    return getattr(_local, "composing", False) or forward_ad._current_level >= 0


def made_inside(holder: Any, key: Any) -> bool:
    """Whether `holder[key]`, a tensor on the CPU among an operator's arguments, was made by C++, not by the program.

    It is given by its holder, since a variable of the caller's would count too. A view that C++ makes of what the
    program holds is told by its memory, which the program's tensor holds too.
    """
    if not is_composing() or type(holder[key]) is not torch.Tensor:
        return False
    if _REMEMBERED in holder[key].__dict__:
        return True
    return sys.getrefcount(holder[key]) <= _held_by_cpp_alone and not _shares_memory(holder[key])


def remember(tensor: torch.Tensor) -> None:
    """Note that C++ made this tensor, which Python is about to hold too."""
    setattr(tensor, _REMEMBERED, True)


def _shares_memory(tensor: torch.Tensor) -> bool:
    """Whether the program holds a tensor on the CPU with the memory of this one, which C++ alone holds."""
    if tensor.layout is not torch.strided or not torch._C._has_storage(tensor):
        return False
    address = tensor.untyped_storage()._cdata
    holders = _holders_of(tensor)
    base = tensor._base
    if base is not None and sys.getrefcount(base) <= _held_by_cpp_alone:
        holders -= 1  # autograd alone holds what this is a view of
    del base
    return holders > _memory_held_once and any(
        holders > _held_by_a_list for holders in _python_holders(gc.get_objects(), address, tensor)
    )


def _python_holders(things: list[Any], address: int, tensor: torch.Tensor | None = None) -> Iterator[int]:
    """How often Python counts each of these that is another tensor on the CPU with this memory; C++ counts once."""
    for thing in things:
        if thing is not tensor and _is_plain(thing) and thing.untyped_storage()._cdata == address:
            yield sys.getrefcount(thing) - (thing._use_count() > 1)


def _is_plain(thing: Any) -> bool:
    """Whether this is a tensor on the CPU with memory of its own, and no simulated one."""
    return (
        issubclass(type(thing), torch.Tensor)
        and not hasattr(thing, "_samedevice_device")
        and torch._C._has_storage(thing)  # what a transform has wrapped has none
        and thing.layout is torch.strided
        and thing.device.type == "cpu"
    )


def _holders_of(tensor: torch.Tensor) -> int:
    """How many tensors have the memory of this one."""
    return int(torch._C._storage_Use_Count(tensor.untyped_storage()._cdata))


class _Probe(torch.Tensor):
    """A tensor that counts the holders of the divisor that torch.cov makes in C++."""

    @classmethod
    def __torch_dispatch__(
        cls, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None
    ) -> Any:
        global _held_by_cpp_alone, _memory_held_once
        if func is torch.ops.aten.div.Tensor:
            _held_by_cpp_alone = sys.getrefcount(args[1])
            _memory_held_once = _holders_of(args[1])
        with torch._C._DisableTorchDispatch():
            result = func(*args, **(kwargs or {}))
            return _make_subclass(cls, result) if isinstance(result, torch.Tensor) else result


def learn() -> None:
    """Measure what made_inside compares with; it differs between versions of Python and torch.

    To be called before the first simulated tensor is made, and no sooner: at the first `__torch_dispatch__` of a
    process PyTorch imports torch.distributed.tensor, which takes half a second.
    """
    global _held_by_a_list
    if not _held_by_cpp_alone:
        no_modes = torch.utils._python_dispatch._disable_current_modes()
        with no_modes, torch._C.DisableTorchFunction(), torch._C._DisableFuncTorch():
            # On the CPU by name: set_default_tensor_type may say otherwise.
            _make_subclass(_Probe, torch.ones(2, device="cpu")).cov()
            probes = [torch.ones(2, device="cpu")]
            (_held_by_a_list,) = _python_holders(probes, probes[0].untyped_storage()._cdata)
