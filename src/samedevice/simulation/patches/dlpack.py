"""DLPack: a capsule says on which GPU a tensor is, so that NumPy refuses it, and PyTorch makes a tensor there of it.

What is in a capsule is a struct of C that names the device beside the address of the memory, which is the CPU's. So the
device is written into the struct, and read out of it again before PyTorch, which has no GPU, reads the rest.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation.device.devices import gpu
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import unwrap, wrap

_to_dlpack, _to_dlpack_versioned = torch._C._to_dlpack, torch._C._to_dlpack_versioned
_from_dlpack = torch._C._from_dlpack

# dlpack.h: where the DLDevice is in a DLManagedTensor and in a DLManagedTensorVersioned, by the name of the capsule.
_OFFSETS = {b"dltensor": 8, b"dltensor_versioned": 40}
_CPU, _CUDA = 1, 2


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch._C, "_to_dlpack", to_dlpack
    for owner in (torch, torch.utils.dlpack):  # each has it by name
        yield owner, "to_dlpack", to_dlpack
    yield torch._C, "_to_dlpack_versioned", to_dlpack_versioned
    yield torch._C, "_from_dlpack", from_dlpack


class _Device(ctypes.Structure):
    """DLDevice."""

    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


def to_dlpack(tensor: torch.Tensor, **options: Any) -> Any:
    """torch._C._to_dlpack."""
    return _packed(_to_dlpack, tensor, **options)


def to_dlpack_versioned(tensor: torch.Tensor, **options: Any) -> Any:
    """torch._C._to_dlpack_versioned."""
    return _packed(_to_dlpack_versioned, tensor, **options)


def _packed(pack: Any, tensor: torch.Tensor, dl_device: Any = None, copy: bool | None = None, **options: Any) -> Any:
    """A capsule of a tensor, where the tensor is or where `dl_device` says (ATen/DLConvertor.cpp).

    torch 2.15 has an option more, read_only.
    """
    if not isinstance(tensor, SimulatedTensor):
        return pack(tensor, dl_device=dl_device, copy=copy, **options)
    if dl_device is not None and dl_device[0] == _CPU:
        if copy is False:
            raise ValueError(f"cannot move (i.e. copy=False) tensor from {tensor.device} to cpu without copying.")
        return pack(unwrap(tensor).clone(), **options)
    capsule = pack(unwrap(tensor), copy=copy, **options)
    there = _device_in(capsule)
    there.kind, there.index = _CUDA, tensor.device.index
    return capsule


def from_dlpack(capsule: Any) -> torch.Tensor:
    """torch._C._from_dlpack."""
    there = _device_in(capsule)
    if there is None or there.kind != _CUDA:
        made: torch.Tensor = _from_dlpack(capsule)
        return made
    device = gpu(there.index)
    there.kind, there.index = _CPU, 0
    return wrap(_from_dlpack(capsule), device)


def _device_in(capsule: Any) -> Any:
    """The DLDevice in a capsule; None where it holds no tensor, or none any more."""
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    if type(capsule).__name__ != "PyCapsule" or (name := name_of(capsule)) not in _OFFSETS:
        return None
    return _Device.from_address(pointer_of(capsule, name) + _OFFSETS[name])
