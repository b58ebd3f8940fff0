"""torch.library: kernels that a program registers for CUDA run for simulated GPUs, and those for the CPU do not.

A simulated tensor has the Python dispatch key, at which PyTorch calls its `__torch_dispatch__`, with everything above
that key switched off. An operator with kernels in Python gets one there, too, which is called with nothing changed: it
calls the kernel for CUDA, which finds autograd, version counters and grad mode as CUDA's does. Where autograd itself
has another kernel for CUDA than for the CPU, one in the place of the CPU's chooses.

These kernels go when the program's do, and all of them when the simulation ends.
"""

import contextlib
import functools
import re
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._library.custom_ops import OPDEFS
from torch._library.utils import handle_dispatch_mode
from torch.utils._python_dispatch import _pop_mode_temporarily

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.rules import judgement, registered_kernels
from samedevice.simulation.rules.registered_kernels import OF_PYTORCH, is_pytorchs
from samedevice.simulation.tensor.classes import as_on_cuda, dispatches_itself
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_library = torch.library.Library
_impl, _define, _destroy = _library.impl, _library.define, _library._destroy
_register_torch_dispatch_rule = _library._register_torch_dispatch_rule
_get_kernel = torch.library.get_kernel
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_is_excluded = torch._C._dispatch_tls_is_dispatch_key_excluded
_how_many_modes = torch._C._len_torch_dispatch_stack
_PYTHON = torch._C.DispatchKey.Python

# Which keys of PyTorch's own operators matter here. Of these, the CPU's kernel says nothing of the GPU's.
_OF_A_GPU = ("CUDA", "SparseCUDA", "SparseCsrCUDA", "QuantizedCUDA", "NestedTensorCUDA")
_OF_AUTOGRAD = ("AutogradCPU", "AutogradCUDA")
_OF_PYTORCHS = (*_OF_A_GPU, *_OF_AUTOGRAD, "CPU")
_FOR_ALL = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
_BELOW_PYTHON = ("BackendSelect", "CPU")

# Where PyTorch's functions are that register kernels for whoever calls them.
_REGISTERING = ("torch.library", "torch._library")

# A line of torch._C._dispatch_dump on a kernel that is in use, and not in a file of C++.
_IN_PYTHON = re.compile(
    r"^(\w+)(?:\[alias\])?: (?:fallthrough )?registered at (.*?)(?<!\.cpp|.\.cc|.\.cu|\.cxx|..\.h):\d+ ", re.M
)
_FOLDER = torch.__file__.removesuffix("__init__.py")

# Every key above Python: PyTorch switches them off before it calls a __torch_dispatch__.
_ABOVE = (torch._C._dispatch_keyset_full() - torch._C._dispatch_keyset_full_after(_PYTHON)).remove(_PYTHON)

# Which kernels do not matter, as torch.library names them: that follows from the name.
_passed_over: set[str] = set()

# What the dispatcher says of the operators that get no kernel in front, by their names.
_left_alone: dict[str, str] = {}

# The libraries that have registered kernels in a simulation, which they may outlive, with what happens when they go.
_registering: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def replacements() -> Iterator[tuple[object, str, object]]:
    yield _library, "impl", impl
    yield _library, "define", define
    yield _library, "_destroy", _destroy_of(_library._destroy)
    yield _library, "_register_torch_dispatch_rule", register_torch_dispatch_rule
    yield torch.library, "get_kernel", get_kernel


def start() -> None:
    """Meet the operators that were registered before the simulation began."""
    # torch.library forgets operators that are defined once more, but for those of custom_op.
    names = {name for name in (*torch.library._defs, *OPDEFS) if not is_pytorchs(name)}
    names.update(_for_autograd_of_cuda(len(sys.modules), len(torch.ops.loaded_libraries)))
    for place in torch.library._impls - _passed_over:
        found = _names({place})
        names |= found
        if not found:
            _passed_over.add(place)  # nearly all are PyTorch's own, the same at each start
    for name in names:
        _refresh(name)


@functools.lru_cache(1)
def _for_autograd_of_cuda(modules: int, libraries: int) -> list[str]:
    """The operators with a kernel for AutogradCUDA: C++ registers some as a module or a library is loaded."""
    names: list[str] = torch._C._dispatch_get_registrations_for_dispatch_key("AutogradCUDA")
    return names


def impl(
    self: Any, op_name: Any, fn: Any, dispatch_key: str = "", *, with_keyset: bool = False, allow_override: bool = True
) -> None:
    """Library.impl."""
    key = dispatch_key or self.dispatch_key
    register = functools.partial(_impl, self, op_name, dispatch_key=dispatch_key, allow_override=allow_override)
    is_of_pytorch = self.ns in OF_PYTORCH
    if is_of_pytorch and (key not in _OF_PYTORCHS or _is_called_by_pytorch()):
        return register(fn, with_keyset=with_keyset)
    name = _name(self.ns, op_name)
    _forget(name)  # PyTorch would warn that there is a kernel already
    try:
        if is_of_pytorch and key == "CPU" and callable(fn) and fn is not torch.library.fallthrough_kernel:
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


def _destroy_of(original: Callable[..., None]) -> Callable[..., None]:
    """Library._destroy."""

    @functools.wraps(original)
    def destroy(self: Any) -> None:
        is_ours = self in state.now.libraries
        original(self)
        if not is_ours:
            after = _registering.pop(self, None)
            if after is not None:
                after.detach()
            for name in _names(self._op_impls) | self._op_defs:
                _refresh(name)

    return destroy


def _name(namespace: str, operator: Any) -> str:
    """The name of an operator with its namespace and its overload; what PyTorch refuses has a name, too."""
    name = operator._name if isinstance(operator, torch._ops.OpOverload) else str(operator)
    return f"{namespace}::{name.rpartition('::')[2]}"


def _is_called_by_pytorch() -> bool:
    """Whether PyTorch registers a kernel for itself, in a module of its own that a simulated program imports."""
    frame = sys._getframe(2)
    while (module := frame.f_globals.get("__name__", "")).startswith(_REGISTERING) and frame.f_back is not None:
        frame = frame.f_back  # a decorator of torch.library is called by the module that uses it
    return bool(module.startswith("torch.")) and not module.startswith(_REGISTERING)


def _refresh_after(library: Any) -> None:
    """Look at the operators of a library again when the program lets it go, which is when PyTorch destroys it."""
    if library not in _registering:
        _registering[library] = weakref.finalize(library, _let_go, library._op_impls, library._op_defs)


def _let_go(impls: set[str], defs: set[str]) -> None:
    """Take away what is in front of a library's kernels, which PyTorch takes away next."""
    for name in _names(impls) | defs:
        _forget(name)
        if name not in defs:
            _refresh(name)  # other libraries may have kernels for it


def _names(impls: set[str]) -> set[str]:
    """The operators of which a library has kernels that matter."""
    found = set()
    for place in impls:
        if not place.endswith("/Meta"):  # as nearly all of PyTorch's own
            namespace, name, key = place.split("/", 2)
            if namespace not in OF_PYTORCH or key in _OF_PYTORCHS:
                found.add(f"{namespace}::{name}")
    return found


def _forget(name: str) -> None:
    state.now.kernels_of_cuda.pop(name, None)
    library = state.now.in_front.pop(name, None)
    if library is not None:
        _destroy(library)
        with contextlib.suppress(ValueError):  # as Python ends, PyTorch may let go of one library inside another
            state.now.libraries.remove(library)


def _refresh(name: str) -> None:
    """Put kernels in front of those that an operator has now, if it has any that matter."""
    _forget(name)
    if not state.now.installed or not registered_kernels.is_defined(name):
        return
    dump = torch._C._dispatch_dump(name)
    if _left_alone.get(name) == dump:
        return
    keys = _keys_in_python(name, dump)
    differs = _autograd_differs(name, keys)
    if not differs and keys.isdisjoint(_OF_A_GPU if is_pytorchs(name) else (*_OF_A_GPU, *_FOR_ALL, *_BELOW_PYTHON)):
        _left_alone[name] = dump
        return
    namespace, _, operator = name.partition("::")
    library = state.now.in_front[name] = torch.library.Library(namespace, "IMPL")
    state.now.libraries.append(library)
    register: Any = library.m.impl
    register(operator, "Python", _at_python(name, keys), True)
    if differs:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Warning only once for all operators")  # that a kernel was there before
            register(operator, "AutogradCPU", _at_autograd(name), True)


def _keys_in_python(name: str, dump: str) -> set[str]:
    """The dispatch keys for which an operator has a kernel in Python.

    The dispatcher knows them; torch.library forgets some when an operator is defined once more.
    """
    found = _kernels_in_python(dump)
    if is_pytorchs(name):  # whose own, as those in torch/_native, are left alone
        return {key for key, file in found if not file.startswith(_FOLDER) or file == f"{_FOLDER}library.py"}
    return {key for key, _ in found}


@functools.lru_cache(256)  # each start of a simulation reads the same of most operators
def _kernels_in_python(dump: str) -> list[tuple[str, str]]:
    """The key and the file of each kernel in Python that is in use."""
    return _IN_PYTHON.findall(dump)


def _autograd_differs(name: str, keys: set[str]) -> bool:
    """Whether autograd has another kernel for CUDA than for the CPU.

    c10/core/dispatch/OperatorEntry.cpp, computeDispatchTableEntryWithDebug: a composition of other operators counts
    where there is no kernel for the device.
    """
    if _has_kernel(name, "AutogradCUDA") or not keys.isdisjoint(_OF_AUTOGRAD):
        return True
    if not _has_kernel(name, "CompositeImplicitAutograd") or _has_kernel(name, "CompositeExplicitAutograd"):
        return False
    return bool(_has_kernel(name, "CPU") != _has_kernel(name, "CUDA"))


def _at_python(name: str, in_python: set[str]) -> Callable[..., Any]:
    """What is at the Python key: CUDA's kernel if it is in Python; else all is as PyTorch has it."""
    before = _get_kernel(name, _PYTHON)
    on_cuda = state.now.kernels_of_cuda[name] = functools.partial(_on_cuda, name, in_python)

    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = list(judgement.tensors_of(args, kwargs))
        if not _how_many_modes() and not any(dispatches_itself(type(tensor)) for tensor in tensors):
            result = on_cuda(keys, tensors, args, kwargs)
            if result is not NotImplemented:
                return result
        if registered_kernels.has_numbers(name, args):
            return _to_modes_or_classes(registered_kernels.overload_of(name), tensors, args, kwargs)
        return before.call_boxed(keys, *args, **kwargs)

    return kernel


def _on_cuda(
    name: str, in_python: set[str], keys: Any, tensors: list[torch.Tensor], args: Arguments, kwargs: Keywords
) -> Any:
    """Call the kernel in Python that CUDA has for these tensors; NotImplemented if that kernel is not in Python."""
    below = registered_kernels.below_python(registered_kernels.keys_on_cuda(keys, tensors))
    key = below.highestPriorityTypeId()
    if not is_pytorchs(name) and not registered_kernels.has_kernel(name, key):
        registered_kernels.refuse(name, below, args, kwargs)
    if key.name in in_python or not in_python.isdisjoint(_FOR_ALL):
        return registered_kernels.call(name, below, args, kwargs)
    return NotImplemented


def _to_modes_or_classes(overload: Overload, tensors: list[torch.Tensor], args: Arguments, kwargs: Keywords) -> Any:
    """What PyTorch does at the Python key, of arguments with a number in a tensor's place: C++ takes none from here."""
    with torch._C._ExcludeDispatchKeyGuard(_ABOVE):
        if _how_many_modes():
            with _pop_mode_temporarily() as mode:
                return handle_dispatch_mode(mode, overload, *args, **kwargs)
        types = dict.fromkeys(type(x) for x in tensors if torch._C._dispatch_keys(x).has("Python"))
        results = (kind.__torch_dispatch__(overload, tuple(types), args, kwargs) for kind in types)
        return next(result for result in results if result is not NotImplemented)


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


def register_torch_dispatch_rule(self: Any, op_name: Any, torch_dispatch_class: Any, fn: Callable[..., Any]) -> None:
    """Library._register_torch_dispatch_rule: as on CUDA, the class of a plain tensor dispatches no operators."""

    @functools.wraps(fn)
    def rule(mode: Any, func: Overload, types: Types, *rest: Any) -> Any:
        return fn(mode, func, as_on_cuda(types), *rest)

    _register_torch_dispatch_rule(self, op_name, torch_dispatch_class, rule)


def get_kernel(op: Any, dispatch_key: Any) -> Any:
    """torch.library.get_kernel: of PyTorch's operators, CUDA's kernel is what the simulation computes."""
    key = getattr(dispatch_key, "name", dispatch_key)
    name = op if isinstance(op, str) else getattr(op, "_name", "")
    if key != "CUDA" or not is_pytorchs(name) or not registered_kernels.is_defined(name):
        return _get_kernel(op, dispatch_key)
    if "CUDA" in _keys_in_python(name, torch._C._dispatch_dump(name)):
        return _get_kernel(op, dispatch_key)
    return _KernelOfGpu(name)


class _KernelOfGpu:
    """A kernel of CUDA's, as torch.library.get_kernel returns it."""

    def __init__(self, name: str) -> None:
        self._operator = registered_kernels.overload_of(name)

    def call_boxed(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_ABOVE):
            return SimulatedTensor.__torch_dispatch__(self._operator, (SimulatedTensor,), args, kwargs)
