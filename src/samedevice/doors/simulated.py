"""The simulation of `samedevice run`: it begins when torch has been imported, and ends with the process.

Not before: what a program sets first (CUDA_VISIBLE_DEVICES, OMP_NUM_THREADS) counts, and a name bound by
`from torch import tensor` is the simulation's.
"""

import atexit
import os
import sys
from typing import Literal

from samedevice.doors.after_import import after_import
from samedevice.doors.stderr import say
from samedevice.doors.which_gpus import by_default
from samedevice.plurals import counted
from samedevice.tested_torch import TESTED


class Simulated:
    """The simulated GPUs of a program that is about to run."""

    def __init__(
        self,
        gpus: int | None,
        rng: Literal["cpu", "cuda"] = "cuda",
        summary: bool = False,
        gpu_type: str | None = None,
    ) -> None:
        """Wait for torch.

        Args:
            gpus: how many GPUs; None for as many as there are by default.
            rng: whose random numbers they draw.
            summary: print what moved between devices when the process ends.
            gpu_type: the model of each GPU; None for one that cannot be bought.
        """
        self._gpus = by_default() if gpus is None else gpus
        self._hint = " (--gpus 2 for two)" if gpus is None and self._gpus == 1 else ""
        self._rng, self._summary, self._type = rng, summary, gpu_type
        self._begun = False
        self.failed = False  # whether the program stopped with an error, which says enough by itself
        process = os.getpid()
        atexit.register(lambda: self._end() if os.getpid() == process else None)  # not in a forked child
        after_import("torch", self._begin)

    def _begin(self) -> None:
        try:
            real = _real_gpus()
            from samedevice.simulation import simulate_cuda
            from samedevice.simulation.device import devices
            from samedevice.simulation.patches import process_group_nccl

            process_group_nccl.tell = say
            simulate_cuda([self._type] * self._gpus if self._type else self._gpus, rng=self._rng).start()
        except Exception as error:  # a torch.py of the user's own, a torch of long ago
            self.failed = True
            what = f"{type(error).__name__}: {error}".partition("\n")[0]
            file = getattr(sys.modules["torch"], "__file__", None)
            say(f"the simulation cannot begin with {file!a}, which should be PyTorch {TESTED} ({what}).")
            raise SystemExit(2) from None
        self._begun = True
        if self._summary:
            from samedevice.doors import copies

            copies.count()
        if os.environ.get("LOCAL_RANK", "0") != "0":
            return  # said by rank 0
        seen = ""
        if devices.count() < self._gpus:
            seen = f", {devices.count()} of them seen through CUDA_VISIBLE_DEVICES={os.environ['CUDA_VISIBLE_DEVICES']}"
        stays = f"stay{'s' * (real == 1)} unused without --gpus real"
        unused = f"; {counted(real, 'real GPU')} of this machine {stays}" if real else ""
        numbers = ", with the CPU's random numbers" if self._rng == "cpu" else ""
        model = f" ({self._type})" if self._type else ""
        say(f"{counted(self._gpus, 'simulated GPU')}{model}, on the CPU{numbers}{seen}{unused}{self._hint}.")

    def _end(self) -> None:
        if not self._begun and not self.failed:
            say("the script did not import torch itself, so it ran without simulated GPUs, as do programs it starts.")
        if self._begun and self._summary:
            from samedevice.doors import copies

            say("\n  ".join(copies.summary()))


def _real_gpus() -> int:
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a driver that is missing or too old
        return int(torch.cuda.device_count())
