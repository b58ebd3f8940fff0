"""With which releases of PyTorch the simulation was tested.

It stands in at some fifty private names of torch, which may mean something else, or be gone, in any other release.
"""

import re
import warnings
from functools import cache

import torch

OLDEST, NEWEST = (2, 11), (2, 15)


def warn_of_another_torch() -> None:
    """Warn, once in a process, where the torch that is installed is older or newer than those of the tests."""
    _warn_once(torch.__version__)


@cache
def _warn_once(version: str) -> None:
    release = re.match(r"(\d+)\.(\d+)", version)
    if release and OLDEST <= (int(release[1]), int(release[2])) <= NEWEST:
        return
    oldest, newest = (".".join(map(str, each)) for each in (OLDEST, NEWEST))
    warnings.warn(
        f"simulate_cuda was tested with torch {oldest} to {newest}, and this is torch {version}: "
        "it may fail here, or answer otherwise than CUDA does.",
        stacklevel=2,
    )
