"""On a torch that nobody has tested, the simulation says so once, in a sentence, and works as well as it can."""

import re
import tomllib
import warnings
from pathlib import Path

import pytest
import torch

from samedevice import simulate_cuda
from samedevice.simulation import tested

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def on_torch(monkeypatch):
    """The warnings of two simulations, one after the other, with torch calling itself so."""

    def on_torch(version):
        monkeypatch.setattr(torch, "__version__", version)
        tested._warn_once.cache_clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                with simulate_cuda():
                    assert torch.zeros(1, device="cuda").device.index == 0
        tested._warn_once.cache_clear()
        return [str(warning.message) for warning in caught]

    return on_torch


@pytest.mark.parametrize("version", ["2.10.2", "2.16.0", "2.16.0.dev20261120+cpu", "3.0.1"])
def test_on_another_torch_one_sentence_says_what_was_tested(on_torch, version):
    (said,) = on_torch(version)
    assert said.startswith(f"simulate_cuda was tested with torch 2.11 to 2.15, and this is torch {version}: ")


@pytest.mark.parametrize("version", ["2.11.0", "2.13.0+cu130", "2.15.3"])
def test_on_a_tested_torch_nothing_is_said(on_torch, version):
    assert on_torch(version) == []


def test_the_range_is_the_one_that_is_promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (promised,) = (needed for needed in project["optional-dependencies"]["torch"] if needed.startswith("torch"))
    (oldest, newest) = tested.OLDEST, tested.NEWEST
    assert promised == f"torch>={oldest[0]}.{oldest[1]},<{newest[0]}.{newest[1] + 1}"
    spoken = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    for page in ("README.md", "docs/catch-it-in-ci.md", "docs/simulated-cuda.md"):
        assert re.search(rf"\b{re.escape(spoken)}\b", (ROOT / page).read_text("utf-8")), page
