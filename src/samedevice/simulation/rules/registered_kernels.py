"""Operators that a program or a library registers with torch.library: which of their kernels a tensor on a GPU gets.

PyTorch's dispatcher holds all kernels, those for CUDA too, on every build. A simulated tensor is one of the CPU to it.
So the dispatcher is asked for the kernel that it has for CUDA, which is called as it is, with its tensors where they
are. Of PyTorch's own operators a CPU build has no kernels for CUDA, and what these do is the rest of the simulation.
"""

from collections.abc import Iterable
from typing import Any

import torch

from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.device.devices import CPU, device_of

_KEYS, _KeySet = torch._C.DispatchKey, torch._C.DispatchKeySet
_CUDA = _KeySet(_KEYS.CUDA)
_OF_THE_CPU = _KeySet(_KEYS.CPU).raw_repr() & _KeySet(_KEYS.AutogradCPU).raw_repr()  # the bit that both have
_BELOW_PYTHON = torch._C._dispatch_keyset_full_after(_KEYS.Python)
_find_schema = torch._C._dispatch_find_schema_or_throw
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_is_fallthrough = torch._C._dispatch_kernel_for_dispatch_key_is_fallthrough
_has_computed_kernel = torch._C._dispatch_has_computed_kernel_for_dispatch_key

_NUMBERS = (bool, int, float, complex)

# The namespaces in which PyTorch defines its operators, in C++ and in Python (torch._C._dispatch_get_all_op_names).
OF_PYTORCH = frozenset({
    "_c10d_functional", "_c10d_functional_autograd", "_dtensor", "_inductor_test", "_native", "_quantized", "_test",
    "aten", "c10d", "c10d_functional", "cuda", "debug_mode_ops", "debugprims", "export", "flex_lib", "fsdp", "inductor",
    "inductor_prims", "mkl", "mkldnn", "mkldnn_prepacked", "onednn", "onnx", "onnx_symbolic", "prepacked", "prim",
    "prims", "profiler", "quantization", "quantized", "quantized_decomposed", "rngprims", "sparse", "static_runtime",
    "streams", "symm_mem",
})  # fmt: skip


def is_pytorchs(name: str) -> bool:
    """Whether PyTorch itself has defined the operator of this name."""
    return name.partition("::")[0] in OF_PYTORCH


def keys_on_cuda(keys: Any, tensors: Iterable[torch.Tensor]) -> Any:
    """The keys that the dispatcher has on CUDA where it has these here, for arguments with these tensors."""
    homes = {device_of(tensor) for tensor in tensors}
    if not any(home.type == "cuda" for home in homes):
        return keys
    if CPU not in homes:
        keys = _KeySet.from_raw_repr(keys.raw_repr() & ~_OF_THE_CPU)
    return keys | _CUDA


def below_python(keys: Any) -> Any:
    """Those of the keys that the dispatcher has not come to when it is at the Python key."""
    return keys & _BELOW_PYTHON


def has_kernel(name: str, key: Any) -> bool:
    """Whether the dispatcher has a kernel of an operator for this key, one for all devices included."""
    return bool(_has_computed_kernel(name, key.name))


def overload_of(name: str) -> Any:
    """The operator of this name: "aten::add.Tensor"."""
    namespace, _, operator = name.partition("::")
    packet, _, overload = operator.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


def is_defined(name: str) -> bool:
    operator, _, overload = name.partition(".")
    try:
        _find_schema(operator, overload)
    except RuntimeError:
        return False
    return True


def call(name: str, keys: Any, args: Arguments, kwargs: Keywords) -> Any:
    """Call the kernel that the dispatcher calls for these keys, or raise its error where the operator lacks one."""
    key = keys.highestPriorityTypeId()
    while keys.raw_repr() and _has_kernel(name, key.name) and _is_fallthrough(name, key.name):
        keys = keys.remove(key)
        key = keys.highestPriorityTypeId()
    if has_numbers(name, args):
        if _has_kernel(name, key.name):
            return overload_of(name)._op_dk(key, *args, **kwargs)  # which takes a number in a tensor's place
        args = in_tensors(name, args)  # for a kernel that is not under this very key, _op_dk ends the process
    operator, _, overload = name.partition(".")
    return _find_schema(operator, overload).redispatch_boxed(keys, *args, **kwargs)


def _numbers(name: str, args: Arguments) -> list[bool]:
    """Whether each argument is a number in a tensor's place, where PyTorch's operators take one."""
    arguments = overload_of(name)._schema.arguments
    return [
        type(arg) in _NUMBERS and isinstance(argument.type, torch.TensorType)
        for argument, arg in zip(arguments, args, strict=False)
    ]


def has_numbers(name: str, args: Arguments) -> bool:
    """Whether a number is in a tensor's place."""
    return is_pytorchs(name) and any(_numbers(name, args))


def in_tensors(name: str, args: Arguments) -> Any:
    """The arguments, with 0-dim tensors for numbers in a tensor's place, of the dtype that is computed in."""
    if not has_numbers(name, args):
        return args
    first = next(arg for arg in args if isinstance(arg, torch.Tensor))
    return tuple(
        torch.scalar_tensor(arg, dtype=torch.result_type(first, arg)) if is_number else arg
        for arg, is_number in zip(args, _numbers(name, args), strict=True)
    )


def refuse(name: str, keys: Any, args: Arguments, kwargs: Keywords) -> None:
    """Raise the dispatcher's error for keys of which an operator has no kernel."""
    try:
        call(name, keys, args, kwargs)
    except NotImplementedError as refusal:
        raise refusal.with_traceback(None) from None  # without these frames, which say nothing of the program
