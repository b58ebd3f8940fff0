"""torch.library: kernels that a program registers for CUDA run for simulated GPUs, and those for the CPU do not.

A simulated tensor has the Python dispatch key, at which PyTorch calls its `__torch_dispatch__`, with everything above
that key switched off. An operator with kernels in Python gets one there, too, which is called with nothing changed: it
calls the kernel for CUDA, which finds autograd, version counters and grad mode as CUDA's does. Where autograd itself
has another kernel for CUDA than for the CPU, one in the place of the CPU's chooses.

These kernels go when the program's do, and all of them when the simulation ends.
"""

import functools
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.rules import judgement, registered_kernels
from samedevice.simulation.rules.registered_kernels import FOR_ALL_DEVICES, OF_PYTORCH
from samedevice.simulation.tensor.classes import dispatches_itself
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_library = torch.library.Library
_impl, _define, _destroy = _library.impl, _library.define, _library._destroy
_get_kernel = torch.library.get_kernel
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_is_excluded = torch._C._dispatch_tls_is_dispatch_key_excluded
_how_many_modes = torch._C._len_torch_dispatch_stack
_PYTHON, _CUDA = torch._C.DispatchKey.Python, torch._C.DispatchKey.CUDA

# Which keys of PyTorch's own operators matter here. Of these, the CPU's kernel says nothing of the GPU's.
_OF_A_GPU = ("CUDA", "SparseCUDA", "SparseCsrCUDA", "QuantizedCUDA", "NestedTensorCUDA")
_OF_AUTOGRAD = ("AutogradCPU", "AutogradCUDA")
_OF_PYTORCHS = (*_OF_A_GPU, *_OF_AUTOGRAD, "CPU")

# Every key above Python: PyTorch switches them off before it calls a __torch_dispatch__.
_ABOVE = torch._C._dispatch_keyset_full() - torch._C._dispatch_keyset_full_after(_PYTHON)


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    yield _library, "impl", impl
    yield _library, "define", define
    yield _library, "_destroy", destroy
    yield torch.library, "get_kernel", get_kernel


def start() -> None:
    """Meet the operators that were registered before the simulation began."""
    names = set(torch._C._dispatch_get_registrations_for_dispatch_key("AutogradCUDA"))
    for place in torch.library._impls:
        namespace, operator, key = place.split("/", 2)
        name = f"{namespace}::{operator}"
        if namespace not in OF_PYTORCH or (key in _OF_PYTORCHS and not _is_pytorchs(name, key)):
            names.add(name)
    for name in names:
        _refresh(name)


def _is_pytorchs(name: str, key: str) -> bool:
    """Whether a kernel was registered by PyTorch's own Python, as in torch/_native, and not by a program through it."""
    kernel = next((line for line in torch._C._dispatch_dump(name).splitlines() if line.startswith(f"{key}: ")), "")
    folder = torch.__file__.rpartition("__init__")[0]
    return folder in kernel and f"{folder}library.py" not in kernel


def impl(
    self: Any, op_name: Any, fn: Any, dispatch_key: str = "", *, with_keyset: bool = False, allow_override: bool = True
) -> None:
    """Library.impl."""
    key = dispatch_key or self.dispatch_key
    register = functools.partial(_impl, self, op_name, dispatch_key=dispatch_key, allow_override=allow_override)
    is_pytorchs = self.ns in OF_PYTORCH
    if is_pytorchs and (key not in _OF_PYTORCHS or _is_called_by_pytorch()):
        return register(fn, with_keyset=with_keyset)
    name = _name(self.ns, op_name)
    _forget(name)  # PyTorch would warn that there is a kernel already
    try:
        if is_pytorchs and key == "CPU" and callable(fn) and fn is not torch.library.fallthrough_kernel:
            fn, with_keyset = _for_the_cpu(name, fn, with_keyset), True
        register(fn, with_keyset=with_keyset)
    finally:
        _refresh(name)
    _refresh_after(self)


def define(self: Any, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> Any:
    """Library.define."""
    result = _define(self, schema, alias_analysis, tags=tags)
    if self.ns not in OF_PYTORCH:
        _refresh(_name(self.ns, schema.partition("(")[0]))  # its kernels may have come first
        _refresh_after(self)
    return result


def destroy(self: Any) -> None:
    """Library._destroy."""
    _destroy(self)
    if self not in state.now.libraries:
        for name in _names(self._op_impls) | self._op_defs:
            _refresh(name)


def _name(namespace: str, operator: Any) -> str:
    """The name of an operator with its namespace and its overload; what PyTorch refuses has a name, too."""
    name = operator._name if isinstance(operator, torch._ops.OpOverload) else str(operator)
    return f"{namespace}::{name.rpartition('::')[2]}"


def _is_called_by_pytorch() -> bool:
    """Whether PyTorch registers a kernel for itself, in a module of its own that a simulated program imports."""
    module: str = sys._getframe(2).f_globals.get("__name__", "")
    return module.startswith("torch.") and not module.startswith(("torch.library", "torch._library"))


def _refresh_after(library: Any) -> None:
    """Look at the operators of a library again when the program lets it go, which is when PyTorch destroys it."""
    if library not in state.now.registering:
        state.now.registering.add(library)
        weakref.finalize(library, _let_go, library._op_impls, library._op_defs)


def _let_go(impls: set[str], defs: set[str]) -> None:
    """Take away what is in front of a library's kernels, which PyTorch takes away next."""
    torch.library._impls -= impls
    for name in _names(impls) | defs:
        _forget(name)
        if name not in defs:
            _refresh(name)  # other libraries may have kernels for it


def _names(impls: set[str]) -> set[str]:
    return {place.rpartition("/")[0].replace("/", "::", 1) for place in impls}


def _forget(name: str) -> None:
    library = state.now.in_front.pop(name, None)
    if library is not None:
        _destroy(library)
        state.now.libraries.remove(library)


def _refresh(name: str) -> None:
    """Put kernels in front of those that an operator has now, if it has any that matter."""
    _forget(name)
    if not state.now.installed or not registered_kernels.is_defined(name):
        return
    differs = _autograd_differs(name)
    if not differs and not _is_registered(name, (*_OF_A_GPU, *FOR_ALL_DEVICES, "CPU")):
        return
    namespace, _, operator = name.partition("::")
    library = state.now.in_front[name] = torch.library.Library(namespace, "IMPL")
    state.now.libraries.append(library)
    register: Any = library.m.impl
    register(operator, "Python", _at_python(name), True)
    if differs:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Warning only once for all operators")  # that a kernel was there before
            register(operator, "AutogradCPU", _at_autograd(name), True)


def _is_registered(name: str, keys: tuple[str, ...]) -> bool:
    """Whether torch.library knows a kernel of an operator for one of these keys."""
    place = name.replace("::", "/", 1)
    return any(f"{place}/{key}" in torch.library._impls for key in keys)


def _autograd_differs(name: str) -> bool:
    """Whether autograd has another kernel for CUDA than for the CPU.

    c10/core/dispatch/OperatorEntry.cpp, computeDispatchTableEntryWithDebug: a composition of other operators counts
    where there is no kernel for the device.
    """
    if _has_kernel(name, "AutogradCUDA") or _is_registered(name, _OF_AUTOGRAD):
        return True
    if not _has_kernel(name, "CompositeImplicitAutograd") or _has_kernel(name, "CompositeExplicitAutograd"):
        return False
    return bool(_has_kernel(name, "CPU") != _has_kernel(name, "CUDA"))


def _at_python(name: str) -> Callable[..., Any]:
    """What is at the Python key: CUDA's kernel if it is in Python; else all is as PyTorch has it."""
    before = _get_kernel(name, _PYTHON)
    is_pytorchs = name.partition("::")[0] in OF_PYTORCH

    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = list(judgement.tensors_of(args, kwargs))
        if not _how_many_modes() and not any(dispatches_itself(type(tensor)) for tensor in tensors):
            below = registered_kernels.below_python(registered_kernels.keys_on_cuda(keys, tensors))
            key = below.highestPriorityTypeId()
            is_absent = not is_pytorchs and not registered_kernels.has_kernel(name, key)
            if is_absent or registered_kernels.is_in_python(name, key):
                return registered_kernels.call(name, below, args, kwargs)
        return before.call_boxed(keys, *registered_kernels.in_tensors(name, args), **kwargs)

    return kernel


def _at_autograd(name: str) -> Callable[..., Any]:
    """What is in the place of the CPU's kernel of autograd: CUDA's, if a tensor is on a GPU."""
    before = _get_kernel(name, torch._C.DispatchKey.AutogradCPU)

    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        there = registered_kernels.keys_on_cuda(keys, judgement.tensors_of(args, kwargs))
        if there is keys:
            return before.call_boxed(keys, *registered_kernels.in_tensors(name, args), **kwargs)
        return registered_kernels.call(name, there, args, kwargs)

    return kernel


def _for_the_cpu(name: str, function: Callable[..., Any], with_keyset: bool) -> Callable[..., Any]:
    """A program's kernel for the CPU of one of PyTorch's operators, which also computes what is on GPUs here.

    There, PyTorch's own is called; the simulation computes below the Python key.
    """
    before = _get_kernel(name, torch._C.DispatchKey.CPU)

    @functools.wraps(function)
    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_excluded(_PYTHON):
            return before.call_boxed(keys, *registered_kernels.in_tensors(name, args), **kwargs)
        return function(keys, *args, **kwargs) if with_keyset else function(*args, **kwargs)

    return kernel


def get_kernel(op: Any, dispatch_key: Any) -> Any:
    """torch.library.get_kernel: of PyTorch's operators, CUDA's kernel is what the simulation computes."""
    key = getattr(dispatch_key, "name", dispatch_key)
    name = op if isinstance(op, str) else getattr(op, "_name", "")
    is_pytorchs = isinstance(name, str) and name.partition("::")[0] in OF_PYTORCH
    if key != "CUDA" or not is_pytorchs or not registered_kernels.is_defined(name) or registered_kernels.has_kernel(name, _CUDA):
        return _get_kernel(op, dispatch_key)
    return _KernelOfGpu(name)


class _KernelOfGpu:
    """A kernel of CUDA's, as torch.library.get_kernel returns it."""

    def __init__(self, name: str) -> None:
        self._operator = registered_kernels.overload_of(name)

    def call_boxed(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_ABOVE):
            return SimulatedTensor.__torch_dispatch__(self._operator, (SimulatedTensor,), args, kwargs)
