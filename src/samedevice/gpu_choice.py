"""What the environment variable SAMEDEVICE_GPUS says: whether GPUs are to be real ones or simulated ones."""

import os
from typing import Literal, cast

CHOICE = "SAMEDEVICE_GPUS"


def chosen() -> Literal["real", "simulated"] | None:
    """Return the kind of GPUs that the user wants; None lets the machine decide: real ones if there are enough.

    Raises:
        ValueError: SAMEDEVICE_GPUS is neither "real" nor "simulated"; the text says what to do.
    """
    choice = os.environ.get(CHOICE) or None
    if choice not in (None, "real", "simulated"):
        raise ValueError(f"{CHOICE} is {choice!r}: set it to real or to simulated, or unset it")
    return cast(Literal["real", "simulated"] | None, choice)
