"""What C++ is told of a simulated GPU where it has to know a device: one that every build of PyTorch has.

Autograd looks for PyTorch's code for a tensor's kind of device. A CPU build has none for CUDA, and ends the process. It
has some for meta devices, which may have a number, and no program gives them one. What reads a device from C++ asks
`meant` which device it is.
"""

import torch

from samedevice.simulation import state
from samedevice.simulation.device import devices

_LAST = 127  # c10/core/Device.h: the number of a device is an int8

told_any = False  # whether C++ was told of any in this process: a tensor for which it was may outlive its simulation


def for_cpp(gpu: torch.device) -> torch.device:
    """What C++ is told in the place of this GPU."""
    global told_any
    told_any = True
    state.prepare(state.now.before_wrapped)
    return torch.device("meta", _LAST - gpu.index)


def meant(device: torch.device) -> torch.device:
    """The GPU that C++ means by this device; any other is itself."""
    if device.type == "meta" and device.index is not None:
        gpus = devices.gpus()
        if _LAST - device.index < len(gpus):
            return gpus[_LAST - device.index]
    return device
