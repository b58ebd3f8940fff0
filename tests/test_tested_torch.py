"""On a torch that nobody has tested, the simulation says so once, in a sentence, and works as well as it can."""

import tomllib
import warnings
from pathlib import Path

import pytest
import torch

from samedevice import simulate_cuda, tested_torch
from samedevice.tested_torch import NEWEST, OLDEST, TESTED

ROOT = Path(__file__).resolve().parents[1]
FIRST, LAST = TESTED.split(" to ")
BEFORE, AFTER = f"{OLDEST[0]}.{OLDEST[1] - 1}", f"{NEWEST[0]}.{NEWEST[1] + 1}"


@pytest.fixture
def on_torch(monkeypatch):
    """The warnings of two simulations, one after the other, with torch calling itself so."""

    def on_torch(version):
        monkeypatch.setattr(torch, "__version__", version)
        tested_torch.warn_of_another_torch.cache_clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                with simulate_cuda():
                    assert torch.zeros(1, device="cuda").device.index == 0
        tested_torch.warn_of_another_torch.cache_clear()
        return [str(warning.message) for warning in caught]

    return on_torch


@pytest.mark.parametrize("version", [f"{BEFORE}.2", f"{AFTER}.0", f"{AFTER}.0.dev20261120+cpu", "3.0.1"])
def test_on_another_torch_one_sentence_says_what_was_tested(on_torch, version):
    (said,) = on_torch(version)
    assert said.startswith(f"simulate_cuda was tested with torch {TESTED}, and this is torch {version}: ")


@pytest.mark.parametrize("version", [f"{FIRST}.0", f"{FIRST}.1+cu130", f"{LAST}.3"])
def test_on_a_tested_torch_nothing_is_said(on_torch, version):
    assert on_torch(version) == []


def test_the_range_is_the_one_that_is_promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (promised,) = (needed for needed in project["optional-dependencies"]["torch"] if needed.startswith("torch"))
    assert promised == f"torch>={FIRST},<{AFTER}"
    assert f"yours may be {TESTED}." in (ROOT / "README.md").read_text("utf-8")
