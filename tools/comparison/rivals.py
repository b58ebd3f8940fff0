"""What is compared: each is entered, and from then on `device` is the name of its GPU.

FakeGPU is no package of an index: it is asked if its folder is on PYTHONPATH, else what it answered last stays.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from samedevice import simulate_cuda


class Rival(NamedTuple):
    """A way to run code for a GPU without one.

    Attributes:
        device: what a program writes for its first GPU.
        second: what it writes for its second.
        entered: begins it, in a process of its own.
        version: which one was asked.
    """

    device: str
    second: str
    entered: Callable[[], AbstractContextManager[object]]
    version: Callable[[], str]


@contextmanager
def mocked() -> Iterator[None]:
    """Patch what tests patch: CUDA is there, and what is moved to it stays where it is."""

    def stay(self: Any, *args: object, **kwargs: object) -> Any:
        return self

    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.cuda.device_count", return_value=2),
        mock.patch.object(torch.Tensor, "cuda", stay),
        mock.patch.object(torch.nn.Module, "cuda", stay),
    ):
        yield


@contextmanager
def fake_gpu() -> Iterator[None]:
    importlib.import_module("fakegpu").init(runtime="fakecuda", profile="t4", device_count=2)
    yield


def of_torch() -> str:
    return f"PyTorch {torch.__version__}"


def of_fake_gpu() -> str:
    return f"FakeGPU {importlib.import_module('fakegpu').__version__}, PyTorch {torch.__version__}"


RIVALS = {
    "simulate_cuda": Rival("cuda:0", "cuda:1", lambda: simulate_cuda(devices=["NVIDIA T4"] * 2), of_torch),
    "FakeTensorMode": Rival("cuda:0", "cuda:1", lambda: FakeTensorMode(allow_non_fake_inputs=True), of_torch),
    "meta": Rival("meta", "meta", contextlib.nullcontext, of_torch),
    "mocks": Rival("cpu", "cpu", mocked, of_torch),
    "FakeGPU": Rival("cuda:0", "cuda:1", fake_gpu, of_fake_gpu),
}
