"""What a simulated GPU says of itself.

Name, compute capability, memory size and the number of multiprocessors are those of its model (samedevice/gpu_types).
What only a sensor can measure (temperature, power, utilisation) is refused.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch
from torch.types import Device

from samedevice.gpu_types import UNNAMED
from samedevice.simulation.device import devices

_MEASURED = (
    "clock_rate", "device_memory_used", "memory_usage", "power_draw", "temperature", "utilization",
)  # fmt: skip


class CudaDeviceProperties:
    """torch.cuda.get_device_properties: the fields of torch/csrc/cuda/Module.cpp, registerCudaDeviceProperties."""

    name = gcnArchName = UNNAMED.name  # noqa: N815 - PyTorch's; on CUDA it repeats the name
    major, minor = UNNAMED.capability
    total_memory = UNNAMED.memory
    multi_processor_count = UNNAMED.multiprocessors
    is_integrated = is_multi_gpu_board = 0
    warp_size = 32
    max_threads_per_multi_processor = max_threads_per_block = 1024
    regs_per_multiprocessor = 65536
    shared_memory_per_block = shared_memory_per_block_optin = shared_memory_per_multiprocessor = 48 * 2**10
    L2_cache_size = 32 * 2**20
    memory_bus_width = memory_clock_rate = clock_rate = 0
    pci_bus_id = pci_device_id = pci_domain_id = 0
    uuid = ""

    def __init__(self, index: int) -> None:
        kind = devices.type_of(index)
        vars(self).update(
            name=kind.name, gcnArchName=kind.name, major=kind.capability[0], minor=kind.capability[1],
            total_memory=kind.memory, multi_processor_count=kind.multiprocessors,
            uuid=f"5a3ede71-ce00-0000-0000-{index:012d}", pci_bus_id=index,
        )  # fmt: skip

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, name):
            raise AttributeError(f"property of '{type(self).__name__}' object has no setter")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"'torch._C.{type(self).__name__}' object has no attribute '{name}'")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"cannot pickle 'torch._C.{type(self).__name__}' object")

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size // 2**20}MB)"
        )


CudaDeviceProperties.__name__ = CudaDeviceProperties.__qualname__ = "_CudaDeviceProperties"
CudaDeviceProperties.__module__ = "torch._C"


def replacements() -> Iterator[tuple[object, str, object]]:
    of_each = functools.cache(CudaDeviceProperties)
    for owner in (torch.cuda, torch._C):
        yield owner, "_CudaDeviceProperties", CudaDeviceProperties
    yield torch.cuda, "_get_device_properties", of_each
    for name in _MEASURED:
        if hasattr(torch.cuda, name):  # device_memory_used and power_draw are younger than the others
            yield torch.cuda, name, _measured(name)
    for owner in (torch.cuda, torch.cuda.memory):
        yield owner, "list_gpu_processes", list_gpu_processes


def list_gpu_processes(device: Device = None) -> str:
    return f"GPU:{torch.cuda._utils._get_device_index(device, optional=True)}\nno processes are running"


def _measured(name: str) -> Callable[..., Any]:
    def refuse(device: Device = None) -> int:
        raise NotImplementedError(
            f"samedevice simulates no sensors: torch.cuda.{name}() has an answer on a real GPU only"
        )

    return refuse
