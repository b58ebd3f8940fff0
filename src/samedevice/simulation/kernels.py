"""Kernels in PyTorch's dispatcher that go when the simulation ends."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch

from samedevice.simulation import state


@contextlib.contextmanager
def registering() -> Iterator[Callable[[str, str, Callable[..., Any], bool], None]]:
    """Give what registers a kernel: by the operator's name, the dispatch key, and whether the kernel is given the keys.

    It is without the bookkeeping of Library.impl, which takes twice the time, and which patches/library.py looks after.
    """
    library = torch.library.Library("aten", "IMPL")
    state.now.libraries.append(library)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning only once for all operators")  # that a kernel was there before
        yield library.m.impl
