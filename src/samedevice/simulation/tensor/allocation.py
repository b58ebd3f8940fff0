"""Memory on a simulated GPU for whoever asks the dispatcher: functions bound before the simulation, and C++ itself.

torch.zeros, randn, arange and most of their like are composed, in C++, of an empty tensor and an operator that fills it
in place. So while a simulation runs, the empty tensor of the dispatch key CUDA is made here, and `from torch import
zeros` beforehand does no harm. torch.tensor and torch.as_tensor do not go this way: bound beforehand, they raise what a
build without CUDA raises.
"""

import functools
import math
from typing import Any

import torch
from torch.types import Device

from samedevice.simulation.device import memory
from samedevice.simulation.device.devices import resolve
from samedevice.simulation.kernels import registering
from samedevice.simulation.tensor.wrapping import wrap


def start() -> None:
    """Put the kernels in place; on a build with CUDA, over its own."""
    with registering() as register:
        register("empty.memory_format", "CUDA", _empty, False)
        register("empty_strided", "CUDA", _empty_strided, False)
        register("_efficientzerotensor", "CUDA", _zeros_without_memory, False)
        for name in ("tril_indices", "triu_indices"):  # made by kernels of their own (native/cuda/TensorFactories.cu)
            register(name, "CUDA", functools.partial(_indices, getattr(torch.ops.aten, name)), False)
        for name in ("_empty_affine_quantized", "_empty_per_channel_affine_quantized"):
            make = functools.partial(_quantized, getattr(torch.ops.aten, name))
            register(name, "QuantizedCUDA", make, False)


def _empty(
    size: Any, *, dtype: torch.dtype | None = None, layout: torch.layout | None = None, device: Device = None,
    pin_memory: bool | None = None, memory_format: torch.memory_format | None = None,
) -> torch.Tensor:  # fmt: skip
    _refuse_pinned(pin_memory)
    home = resolve(device)
    if layout in (None, torch.strided):
        memory.expect(math.prod(size) * (dtype or torch.get_default_dtype()).itemsize, home.index)
    make = torch.ops.aten.empty.memory_format
    return wrap(make(size, dtype=dtype, layout=layout, device="cpu", memory_format=memory_format), home)


def _empty_strided(
    size: Any, stride: Any, *, dtype: torch.dtype | None = None, layout: torch.layout | None = None,
    device: Device = None, pin_memory: Any = None,
) -> torch.Tensor:  # fmt: skip
    _refuse_pinned(pin_memory)
    home = resolve(device)
    if math.prod(size):
        last = sum((length - 1) * step for length, step in zip(size, stride, strict=False))
        memory.expect((last + 1) * (dtype or torch.get_default_dtype()).itemsize, home.index)
    make = torch.ops.aten.empty_strided.default
    return wrap(make(size, stride, dtype=dtype, layout=layout, device="cpu"), home)


def _zeros_without_memory(
    size: Any, *, dtype: torch.dtype | None = None, layout: torch.layout | None = None, device: Device = None,
    pin_memory: Any = None,
) -> torch.Tensor:  # fmt: skip
    make = torch.ops.aten._efficientzerotensor.default
    return wrap(make(size, dtype=dtype, layout=layout, device="cpu"), resolve(device))


def _indices(make: Any, *args: Any, device: Device = None, **options: Any) -> torch.Tensor:
    _refuse_pinned(options.get("pin_memory"))
    return wrap(make(*args, **options, device="cpu"), resolve(device))


def _quantized(make: Any, *args: Any, device: Device = None, **options: Any) -> torch.Tensor:
    options.pop("pin_memory", None)  # which the kernel does not read (native/quantized/TensorFactories.cpp)
    return wrap(make(*args, **options, device="cpu"), resolve(device))


def _refuse_pinned(pin_memory: bool | None) -> None:
    if pin_memory:
        raise RuntimeError("Only dense CPU tensors can be pinned")  # aten/src/ATen/EmptyTensor.cpp
