"""What torch._C has in a build with CUDA alone, and the simulation has nothing for: refused by name when it is called.

A build for the CPU lacks these functions. PyTorch's own Python, which is the same in every build, names them: it is
read when a program asks for one that is missing. So the simulation has those that this torch would have, whatever its
version. In a build with CUDA they are there, and would look for the GPUs of this machine.
"""

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import torch

# Where PyTorch calls them: torch.cuda, what others ask of any accelerator, and its tests.
_WHERE = (
    "cuda/**/*.py", "accelerator/*.py", "backends/cuda/*.py", "backends/cudnn/*.py", "_dynamo/device_interface.py",
    "testing/_internal/*.py",
)  # fmt: skip
_NAME = re.compile(r"_cuda_\w+|_CUDA\w+")


def replacements() -> Iterator[tuple[object, str, object]]:
    for name in _of_this_build():
        yield torch._C, name, refused(f"torch._C.{name}")
    yield torch._C, "__getattr__", _missing
    contexts = getattr(torch.cuda, "green_contexts", None)
    if contexts is not None and hasattr(contexts, "GreenContext"):
        yield contexts, "SUPPORTED", True
        yield contexts.GreenContext, "create", staticmethod(refused("green contexts"))


def refused(what: str) -> Callable[..., NoReturn]:
    """Return a function that refuses to be called."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"samedevice does not simulate {what}")

    return refuse


def _missing(name: str) -> Any:
    """Return what torch._C would have under this name if it were built with CUDA."""
    if _NAME.fullmatch(name) and name in _named_by_pytorch():
        return refused(f"torch._C.{name}")
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")


@functools.cache
def _of_this_build() -> list[str]:
    """The functions of this kind that are here; classes stay what they are, since others ask `isinstance`."""
    return [
        name
        for name, value in vars(torch._C).items()
        if name.startswith("_cuda_") and not isinstance(value, type) and callable(value)
    ]


@functools.cache
def _named_by_pytorch() -> set[str]:
    folder = Path(torch.__file__).parent
    return {name for where in _WHERE for file in folder.glob(where) for name in _NAME.findall(file.read_text("utf-8"))}
