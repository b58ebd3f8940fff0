"""`__cuda_array_interface__`: a tensor in the memory of another library's array on a GPU.

PyTorch's C++ reads the interface, and refuses what is wrong in it, before it asks on which GPU the memory is. A build
for the CPU cannot ask that; here the memory is that of a tensor on a simulated GPU.
"""

from typing import Any

import torch
from torch.types import Device

from samedevice.simulation.device import devices, memory
from samedevice.simulation.tensor.wrapping import wrap

_ASKS_FOR_A_GPU = ("Cannot initialize CUDA without ATen_cuda library", "Backend doesn't support getCurrentDevice()")
_as_tensor = torch.as_tensor


def is_like(data: Any) -> bool:
    """Tell whether this is an array on a GPU of another library."""
    return not isinstance(data, (bool, int, float, complex, list, tuple, torch.Tensor)) and hasattr(
        data, "__cuda_array_interface__"
    )


def make(
    data: Any, device: Device, pin_memory: Any, copies: bool, dtype: torch.dtype | None = None, copy: Any = None,
    requires_grad: bool = False,
) -> torch.Tensor:  # fmt: skip
    """Make a tensor in the memory of the array, which tensor() copies (tensor_new.cpp, internal_new_from_data)."""
    if pin_memory:
        raise RuntimeError("Can't pin tensor constructed from __cuda_array_interface__")
    if copy is False:  # asarray
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    wanted = None if device is None else torch.device(device)
    source = _tensor_of(data, None if wanted is None or wanted.type != "cuda" else wanted)
    made = source.to(wanted or source.device, dtype or source.dtype, copy=copy or copies)
    return made.requires_grad_() if requires_grad else made


def _tensor_of(data: Any, device: torch.device | None) -> torch.Tensor:
    """A tensor in the memory of such an array (torch/csrc/utils/tensor_numpy.cpp, tensor_from_cuda_array_interface).

    The GPU is the one that is named with its index, else the one that the memory is on.
    """
    try:
        _as_tensor(data, device="cpu")
    except RuntimeError as error:
        if not str(error).startswith(_ASKS_FOR_A_GPU):
            raise
    array = data.__cuda_array_interface__
    import numpy as np

    kind = np.dtype(array["typestr"]).newbyteorder("=")  # PyTorch looks at no byte order
    dtype = torch.from_numpy(np.empty(0, kind)).dtype
    shape, strides = tuple(array["shape"]), array.get("strides")
    address = array["data"][0]
    if not address:
        return wrap(torch.empty(shape, dtype=dtype, device="cpu"), devices.gpu(devices.current()))
    storage, index = memory.at(address)
    plain = torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage)
    offset = address - storage.data_ptr()
    plain = plain[offset : len(plain) - (len(plain) - offset) % dtype.itemsize].view(dtype)
    steps = None if strides is None else [stride // dtype.itemsize for stride in strides]
    made = plain.as_strided(shape, steps if steps is not None else _contiguous(shape))
    return wrap(made, devices.gpu(index if device is None or device.index is None else device.index))


def _contiguous(shape: tuple[int, ...]) -> list[int]:
    return list(torch.empty(shape, device="meta").stride())
