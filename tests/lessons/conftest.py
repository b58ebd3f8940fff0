"""The state of `lessons.start`, new for every test, on a machine that has as many GPUs as the test says."""

import pytest
import torch

from lessons import gpus


@pytest.fixture
def machine(monkeypatch):
    """Call with names: torch then finds so many GPUs. Until then, none."""
    monkeypatch.delenv(gpus.CHOICE, raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(gpus, "_simulation", None)
    monkeypatch.setattr(gpus, "_started", 0)

    def has(*names):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(names))
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(names))
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: names[index])

    has()
    yield has
    if gpus._simulation is not None:
        gpus._simulation.stop()
