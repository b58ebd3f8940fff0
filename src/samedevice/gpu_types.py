"""The models of GPU that can be simulated: how much memory each has, and what else CUDA reports of it.

They are in gpu_types.toml. This file imports no torch: the command line looks a name up before a script imports it.
"""

import functools
import re
from pathlib import Path
from typing import NamedTuple

_MAKERS = re.compile(r"\b(nvidia|tesla|geforce)\b")


class GpuType(NamedTuple):
    """A model of GPU, as CUDA reports it."""

    name: str
    memory: int  # bytes
    capability: tuple[int, int]
    multiprocessors: int


# The GPU that nobody named. Its name, capability and memory are those of no GPU that can be bought, so that nobody
# mistakes a simulated one for real. The capability lies between those of Ampere and Ada, so that scripts and libraries
# offer bfloat16 and TF32 (in which nothing is rounded here) and not FP8.
UNNAMED = GpuType("Simulated GPU (samedevice)", 16 * 2**30, (8, 5), 1)


def named(name: str) -> GpuType:
    """Return the model of this name, which may be NVIDIA's, the driver's or a short one, in any capitals.

    Raises:
        ValueError: there is no such model; the text lists those that there are.

    Example:
        >>> named("nvidia t4").name
        'Tesla T4'
    """
    found = _types().get(_plain(name))
    if found is None:
        raise ValueError(f"no GPU {name!r} can be simulated, but these can: {', '.join(names())}")
    return found


def names() -> list[str]:
    """Return the name of each model, as the driver reports it."""
    return list(dict.fromkeys(kind.name for kind in _types().values()))


@functools.cache
def _types() -> dict[str, GpuType]:
    import tomllib  # here: a script may have a module of this name, and most runs name no model

    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["type"]
    found = {}
    for entry in entries:
        capability = entry["capability"]
        kind = GpuType(entry["name"], entry["memory"] * 2**20, (capability[0], capability[1]), entry["multiprocessors"])
        for name in (kind.name, *entry["also"]):
            found[_plain(name)] = kind
    return found


def _plain(name: str) -> str:
    """The name without its maker, in small letters, its words parted by one space."""
    return " ".join(re.sub(r"[-_\s]+", " ", _MAKERS.sub(" ", name.casefold())).split())
