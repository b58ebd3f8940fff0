"""torch.autocast("cuda"): casts the arguments of operators on simulated GPUs as PyTorch casts those of CUDA tensors.

PyTorch does it in kernels for the dispatch key AutocastCUDA (aten/src/ATen/autocast_mode.cpp), which CUDA tensors have
and simulated ones have not. So while autocast is enabled in a thread, the key is included in that thread's dispatch,
and Python kernels stand in place of PyTorch's: they cast what is on a simulated GPU and leave the CPU's tensors alone.
Which operator is cast how is read from PyTorch's own lists, which ship in every wheel (include/ATen/autocast_mode.h).
For torch.autocast("cpu") it is the other way round: simulated tensors have its key and must be left alone.
"""

import functools
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device.devices import device_of
from samedevice.simulation.rules import judgement
from samedevice.simulation.tensor.classes import holds_tensors
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_KEY = "AutocastCUDA"
_below = functools.partial(
    torch._C._ExcludeDispatchKeyGuard, torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, _KEY))
)
_CPU_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
_to = torch.Tensor.to
_set_autocast_enabled, _clear_autocast_cache = torch.set_autocast_enabled, torch.clear_autocast_cache
_lock = threading.Lock()


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch, "set_autocast_enabled", set_autocast_enabled
    yield torch, "clear_autocast_cache", clear_autocast_cache


def set_autocast_enabled(*arguments: Any) -> None:
    """torch.set_autocast_enabled, which torch.autocast calls on entering and on leaving."""
    _set_autocast_enabled(*arguments)
    device_type, enabled = arguments if len(arguments) == 2 else ("cuda", *arguments)  # the old form was for CUDA alone
    device_type = torch.device(device_type).type  # torch.autocast("cuda:0") is for all GPUs
    if enabled and device_type in ("cuda", "cpu"):
        _register(device_type)
    if device_type == "cuda":
        torch._C._dispatch_tls_set_dispatch_key_included(_KEY, enabled)


def clear_autocast_cache() -> None:
    state.now.autocast_cache.clear()
    _clear_autocast_cache()


def stop() -> None:
    """Let dispatch be as it was; the session takes the kernels away.

    A region that was refused on entering has left autocast on, as in PyTorch: with the GPUs that ends.
    """
    torch._C._dispatch_tls_set_dispatch_key_included(_KEY, False)
    if "cuda" in state.now.autocast_types:
        _set_autocast_enabled("cuda", False)


def _register(device_type: str) -> None:
    """Put the kernels in place, when autocast is first enabled: it takes some milliseconds."""
    with _lock, warnings.catch_warnings():
        if device_type in state.now.autocast_types:
            return
        warnings.filterwarnings("ignore", "Warning only once for all operators")  # that a kernel was there before
        library = torch.library.Library("aten", "IMPL")
        state.now.libraries.append(library)
        if device_type == "cuda":
            for name, policy in policies().items():
                library.impl(name, functools.partial(policy, _operator(name)), _KEY, allow_override=True)
        else:
            for name in torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCPU"):
                operator = _operator(name.removeprefix("aten::"))
                kernel = functools.partial(_cpu_only, operator, torch.library.get_kernel(operator, "AutocastCPU"))
                library.impl(operator, kernel, "AutocastCPU", with_keyset=True, allow_override=True)
        state.now.autocast_types.add(device_type)


def _operator(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def _cpu_only(operator: Overload, kernel: Any, keys: Any, *args: Any, **kwargs: Any) -> Any:
    """PyTorch's kernel, unless the operator is on a simulated GPU."""
    if not any(isinstance(tensor, SimulatedTensor) for tensor in judgement.tensors_of(args, kwargs)):
        return kernel.call_boxed(keys, *args, **kwargs)
    with torch._C._ExcludeDispatchKeyGuard(_CPU_KEYS):
        return operator(*args, **kwargs)


Policy = Callable[..., Any]


@functools.cache
def policies() -> dict[str, Policy]:
    """How each operator that autocast knows on CUDA is cast."""
    header = (Path(torch.__file__).parent / "include/ATen/autocast_mode.h").read_text("utf-8")
    lists = {
        "LOWER_PRECISION_FP": lower_precision,
        "FP32": in_float32,
        "FP32_SET_OPT_DTYPE": set_dtype,
        "PROMOTE": promote,
    }
    found: dict[str, Policy] = {}
    for name, policy in lists.items():
        macro = re.search(rf"#define AT_FORALL_{name}\(_\)((?:.*\\\n)*.*)\n", header)
        assert macro is not None, f"PyTorch's list of operators to autocast is missing: {name}"
        for operator, overload in re.findall(r"_\((\w+)(?:, (\w+))?\)", macro[1]):
            found[f"{operator}.{overload}" if overload else operator] = policy
    # AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE, and what autocast_mode.cpp bans on CUDA.
    found |= {"norm.Scalar": append_dtype, "norm.ScalarOpt_dim": append_dtype, "binary_cross_entropy": banned}
    # On CUDA these become _cudnn_rnn, with a cast of its own (aten/src/ATen/cudnn/AutocastRNN.cpp).
    found |= {
        f"{layer}.{form}": lower_precision
        for layer in ("lstm", "gru", "rnn_tanh", "rnn_relu")
        for form in ("input", "data")
    }
    return found


def _eligible(value: Any) -> bool:
    """autocast_mode.h, is_eligible."""
    is_on_cuda = isinstance(value, SimulatedTensor) or (
        isinstance(value, torch.Tensor) and holds_tensors(type(value)) and device_of(value).type == "cuda"
    )
    return is_on_cuda and value.is_floating_point() and value.dtype is not torch.float64


def _cast(value: Any, dtype: torch.dtype) -> Any:
    """autocast_mode.cpp, cached_cast: tensors and lists of them; a float32 parameter is cast once in a region.

    As in PyTorch, it is that one cast whatever the grad mode is, and whatever dtype a nested region asks for.
    """
    if type(value) in (list, tuple):
        return [_cast(item, dtype) for item in value]
    if not _eligible(value) or value.dtype is dtype:
        return value
    if not (
        value.requires_grad
        and value.is_leaf
        and not value._is_view()
        and value.dtype is torch.float32
        and dtype is torch.get_autocast_dtype("cuda")
        and torch.is_autocast_cache_enabled()
    ):
        return _to(value, dtype)
    held = state.now.autocast_cache.get(id(value))
    if held is None:
        with torch.enable_grad():  # it may be wanted with a gradient later
            held = state.now.autocast_cache[id(value)] = value, _to(value, dtype)
    return held[1]


def _run(operator: Overload, dtype: torch.dtype, args: Arguments, kwargs: Keywords) -> Any:
    with _below():
        return operator(*[_cast(x, dtype) for x in args], **{name: _cast(x, dtype) for name, x in kwargs.items()})


def lower_precision(operator: Overload, *args: Any, **kwargs: Any) -> Any:
    return _run(operator, torch.get_autocast_dtype("cuda"), args, kwargs)


def in_float32(operator: Overload, *args: Any, **kwargs: Any) -> Any:
    return _run(operator, torch.float32, args, kwargs)


def set_dtype(operator: Overload, *args: Any, **kwargs: Any) -> Any:
    """Compute in float32 by the operator's own dtype=, unless the program passes one."""
    position = next(i for i, argument in enumerate(operator._schema.arguments) if argument.name == "dtype")
    given = args[position] if position < len(args) else kwargs.get("dtype")
    if given is None and _eligible(args[0]):
        args = args[:position]
        kwargs = kwargs | {"dtype": torch.float32}
    with _below():
        return operator(*args, **kwargs)


def append_dtype(operator: Overload, self: torch.Tensor, p: Any = 2, *args: Any) -> Any:
    """norm, as the overload that takes a dtype."""
    dtype = torch.float32 if _eligible(self) else self.dtype
    with _below():
        if args:
            dim, *keepdim = args
            return torch.ops.aten.norm.ScalarOpt_dim_dtype(self, p, dim, bool(keepdim and keepdim[0]), dtype=dtype)
        return torch.ops.aten.norm.ScalarOpt_dtype(self, p, dtype=dtype)


def promote(operator: Overload, *args: Any, **kwargs: Any) -> Any:
    """In the widest dtype among the arguments (autocast_mode.h, promote_type and prioritize)."""
    widest = lower = torch.get_autocast_dtype("cuda")
    for tensor in judgement.tensors_of(args, kwargs):
        if _eligible(tensor):
            if torch.float32 in (widest, tensor.dtype):
                widest = torch.float32
            elif tensor.dtype is not lower:
                raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return _run(operator, widest, args, kwargs)


def banned(operator: Overload, *args: Any, **kwargs: Any) -> Any:
    if any(isinstance(tensor, SimulatedTensor) for tensor in judgement.tensors_of(args, kwargs)):
        raise RuntimeError(
            "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
            "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
            "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
            "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
            "safe to autocast."
        )
    with _below():
        return operator(*args, **kwargs)
