"""Which GPUs a program gets: what `--gpus` asks for, as far as SAMEDEVICE_GPUS allows it."""

import os
from typing import Literal

from samedevice.doors.program import Misuse
from samedevice.gpu_choice import CHOICE, chosen

MOST = 16


def allowed(asked: int | Literal["real"] | None) -> int | Literal["real"] | None:
    """Return the number of simulated GPUs, "real", or None for as many simulated ones as `by_default` says.

    Args:
        asked: what `--gpus` says; None where it is not there.

    Raises:
        Misuse: SAMEDEVICE_GPUS forbids what was asked for, or has a value that it cannot have.

    Example:
        >>> allowed(2)
        2
    """
    try:
        choice = chosen()
    except ValueError as error:
        raise Misuse(f"{error}.") from None
    if asked is None:
        return "real" if choice == "real" else None
    if choice == "real" and asked != "real":
        raise Misuse(f"{CHOICE}=real forbids simulated GPUs: leave out --gpus {asked}, or unset {CHOICE}.")
    if choice == "simulated" and asked == "real":
        raise Misuse(f"{CHOICE}=simulated forbids real GPUs: leave out --gpus real, or unset {CHOICE}.")
    return asked


def by_default() -> int:
    """Return how many GPUs are simulated where nobody says a number.

    It is one, as for `simulate_cuda()`: with two, some libraries split the work among them without being asked. Under
    torchrun it is one for each process of this machine, since each takes a GPU of its own
    (https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables).
    """
    processes = os.environ.get("LOCAL_WORLD_SIZE", "")
    return min(max(int(processes), 1), MOST) if processes.isdecimal() else 1
