"""torch.ops.aten.zeros_like(x, device="cpu"): operators called by their names, as the graphs of make_fx call them.

An operator that names the CPU is asked by C++ nearly always, which takes a simulated tensor for one there and means
"where my input is" (dispatch_modes.asking). What a program calls by name means what it says. It has the same arguments
as the function or method of this name, which stands in for PyTorch's already.

Operators on packed weights, of torch.ao.nn.quantized.dynamic, are for the CPU alone.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.types import Device

from samedevice.simulation.calls import Overload
from samedevice.simulation.device import dispatch_modes
from samedevice.simulation.device.devices import CPU, device_of, resolve
from samedevice.simulation.stand_ins import stand_in
from samedevice.simulation.tensor import functorch, pinning
from samedevice.simulation.tensor.classes import dispatches_itself
from samedevice.simulation.tensor.moving import move
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_LIKE = ("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like")
_NEW = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros")
# torch.ops.quantized, without a kernel for CUDA (native/quantized/cuda has the others).
_OF_THE_CPU = (
    "linear_dynamic", "linear_relu_dynamic", "linear_dynamic_fp16", "linear_relu_dynamic_fp16", "conv1d_dynamic",
    "conv2d_dynamic", "conv3d_dynamic", "quantized_gru_cell_dynamic", "quantized_lstm_cell_dynamic",
    "quantized_rnn_relu_cell_dynamic", "quantized_rnn_tanh_cell_dynamic",
)  # fmt: skip
_is_below = functools.partial(torch._C._dispatch_tls_is_dispatch_key_excluded, torch._C.DispatchKey.Python)


def replacements() -> Iterator[tuple[object, str, object]]:
    for operator, replacement in _operators():
        yield operator, "_op", replacement


@functools.cache  # the same for every simulation of this process
def _operators() -> list[tuple[Any, Any]]:
    """Each operator, with what it calls; the hash of an operator is that of what it calls."""
    return [(operator, stand_in(operator._op, function)) for operator, function in _functions()]


def _functions() -> Iterator[tuple[Any, Callable[..., Any]]]:
    for name in (*_LIKE, *_NEW, "_to_copy"):
        packet = getattr(torch.ops.aten, name)
        for operator in (packet, *(getattr(packet, overload) for overload in packet.overloads())):
            if not str(operator).endswith("out"):
                yield operator, _by_name(operator._op, _called(name))

    for name, method in (("is_pinned", pinning.is_pinned), ("_pin_memory", pinning.pin_memory)):
        packet = getattr(torch.ops.aten, name)
        for operator in (packet, packet.default):
            yield operator, _of_what_is_held(operator._op, method)
    for name in _OF_THE_CPU:
        if hasattr(torch.ops.quantized, name):
            packet = getattr(torch.ops.quantized, name)
            for operator in (packet, packet.default):
                yield operator, _without_cuda(operator._op, packet.default)


def _of_what_is_held(original: Any, method: Callable[..., Any]) -> Any:
    """An operator of pinned memory, which a class that dispatches operators calls with the tensors that it holds."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        called = method if len(args) == 1 and type(args[0]) is torch.Tensor and not kwargs else original
        return called(*args, **kwargs)

    return operator


def _without_cuda(original: Any, overload: Overload) -> Any:
    """An operator of the CPU, which the dispatcher refuses to a tensor on a GPU."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        if isinstance(args[0], SimulatedTensor) and args[0].is_cuda:
            return overload.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), *args, **kwargs)
        return original(*args, **kwargs)

    return operator


def _called(name: str) -> Callable[..., Any]:
    """How a program calls the operator of this name, in the form of the operator."""
    if name == "_to_copy":
        return _to_copy
    if name in _NEW:
        return lambda self, *args, **kwargs: getattr(self, name)(*args, **kwargs)
    return lambda *args, **kwargs: getattr(torch, name)(*args, **kwargs)


def _to_copy(
    self: torch.Tensor, *, dtype: torch.dtype | None = None, layout: torch.layout | None = None,
    device: Device = None, pin_memory: bool | None = None, non_blocking: bool = False,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:  # fmt: skip
    """native/TensorConversions.cpp, _to_copy: a copy in any case."""
    target = resolve(device)
    if target == device_of(self):
        return self.to(self.dtype if dtype is None else dtype, copy=True, memory_format=memory_format)
    return move(self, target, dtype, memory_format, non_blocking)


def _by_name(original: Any, called: Callable[..., Any]) -> Any:
    """An operator that a program may call by name, with the device that it names."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        named = kwargs.get("device")
        # Below the key (Note [Below the key]) and in modes, which hand on what C++ asks, nothing is a program's.
        if named is None or not args or _is_below() or dispatch_modes.entered() or dispatch_modes.asked():
            return original(*args, **kwargs)
        if not isinstance(args[0], torch.Tensor) or dispatches_itself(type(args[0])) or functorch.is_wrapped(args[0]):
            return original(*args, **kwargs)
        if device_of(args[0]) is CPU and torch.device(named).type != "cuda":
            return original(*args, **kwargs)
        return called(*args, **kwargs)

    return operator
