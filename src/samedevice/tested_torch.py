"""With which releases of PyTorch the simulation was tested.

It stands in at some fifty private names of torch, which may mean something else, or be gone, in any other release. This
file imports no torch: the site and a simulation that cannot begin name the releases too.
"""

import re
import warnings
from functools import cache

OLDEST, NEWEST = (2, 11), (2, 15)
TESTED = " to ".join(".".join(map(str, release)) for release in (OLDEST, NEWEST))


@cache
def warn_of_another_torch(version: str) -> None:
    """Warn, once in a process, where the torch that is installed is older or newer than those of the tests."""
    release = re.match(r"(\d+)\.(\d+)", version)
    if release and OLDEST <= (int(release[1]), int(release[2])) <= NEWEST:
        return
    warnings.warn(
        f"simulate_cuda was tested with torch {TESTED}, and this is torch {version}: "
        "it may fail here, or answer otherwise than CUDA does.",
        stacklevel=2,
    )
