"""The GPUs that a lesson runs on: this machine's if it has enough of them, else simulated ones."""

import gc
import os
import sys
import warnings
from typing import Any

from samedevice.gpu_choice import CHOICE, chosen
from samedevice.plurals import counted

# The simulation that start began in this process, and what it said of it.
_simulation: Any = None
_announcement = ""
# How many GPUs the lesson asked for; 0 before start.
_started = 0

# A forked child leaves its parent's garbage alone. Of a loop over a DataLoader that failed, workers are part of it: a
# child that collects them prints in some lesson, now and then, that it can only test a child process.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=gc.freeze)


def start(gpus: int = 1) -> None:
    """Get a lesson its GPUs and say in one line which: real ones if there are enough, else all simulated.

    It can be called again: a simulation that is large enough goes on. The environment variable SAMEDEVICE_GPUS=real
    forbids simulated GPUs, SAMEDEVICE_GPUS=simulated forbids real ones.

    Args:
        gpus: how many GPUs the lesson needs, at least 1.

    Raises:
        ValueError: `gpus` is not a positive integer, or SAMEDEVICE_GPUS is neither "real" nor "simulated".
        ImportError: torch is not installed.
        RuntimeError: SAMEDEVICE_GPUS=real and there are fewer real GPUs; or CUDA_VISIBLE_DEVICES hides them all.

    Example:
        >>> from lessons import start
        >>> start(gpus=2)
        2 simulated GPUs, on the CPU: no real one was found.
    """
    global _simulation, _announcement, _started
    if "ipykernel" in sys.modules:  # a library that imports tqdm would begin a page with its advice to install widgets
        warnings.filterwarnings("ignore", message="IProgress not found")
    if isinstance(gpus, bool) or not isinstance(gpus, int) or gpus < 1:
        raise ValueError(f"gpus must be an integer of at least 1, the number of GPUs the lesson needs; got {gpus!r}")
    choice = chosen()
    if _simulation is not None and (_simulation.devices < gpus or choice == "real"):
        _simulation.stop()
        _simulation = None
    _started = 0  # should there be too few
    if _simulation is None:
        _announcement = _choose(gpus, choice)
    _started = gpus
    print(_announcement)


def devices() -> list[Any]:
    """Return the torch devices of the lesson, cuda:0 first; none before start."""
    if not _started:
        return []
    import torch

    return [torch.device("cuda", index) for index in range(_started)]


def real_gpus() -> list[str]:
    """Return the names of this machine's GPUs; none while somebody else's simulation runs, because it hides them."""
    import torch

    from samedevice.simulation.device import devices as simulated

    if simulated.count() or not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]


def _choose(gpus: int, choice: str | None) -> str:
    """Start a simulation unless there are real GPUs to use; return the line that says so."""
    global _simulation
    from samedevice import simulate_cuda  # here, and torch below: `import lessons` must be light

    real = real_gpus()
    if choice != "simulated" and len(real) >= gpus:
        return f"{counted(len(real), 'real GPU')}: {', '.join(real)}."
    if choice == "real":
        raise RuntimeError(
            f"this lesson needs {counted(gpus, 'real GPU')}, torch finds {len(real)}, and {CHOICE}=real forbids "
            "simulated ones: unset it, or run this where there are enough"
        )
    from samedevice.simulation.device import devices

    running = devices.installed()
    simulation = simulate_cuda(None if running > gpus else gpus).start()
    import torch

    if torch.cuda.device_count() < gpus:
        simulation.stop()
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        raise RuntimeError(
            f"CUDA_VISIBLE_DEVICES={hidden!r} hides GPUs that this lesson needs, simulated ones too: unset it"
        )
    _simulation = simulation
    if choice == "simulated":  # asked for: there is nothing to explain
        why = ""
    elif real:
        why = f": this machine has {counted(len(real), 'real GPU')}, and this lesson needs {gpus}"
    else:
        why = ": no real one was found"
    return f"{counted(gpus, 'simulated GPU')}, on the CPU{why}."
