"""Most tests here run on two simulated GPUs: they take the fixture `two_gpus`."""

from collections.abc import Iterator

import pytest

from samedevice import simulate_cuda


@pytest.fixture
def two_gpus() -> Iterator[None]:
    with simulate_cuda(devices=2):
        yield
