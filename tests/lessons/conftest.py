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

    def without_a_simulation(answer, simulated):
        return lambda *index: (simulated if gpus._simulation is not None else answer)(*index)

    originals = {name: getattr(torch.cuda, name) for name in ("is_available", "device_count", "get_device_name")}

    def has(*names):
        answers = {"is_available": lambda: bool(names), "device_count": lambda: len(names)}
        for name, answer in (answers | {"get_device_name": lambda index: names[index]}).items():
            monkeypatch.setattr(torch.cuda, name, without_a_simulation(answer, originals[name]))

    has()
    yield has
    if gpus._simulation is not None:
        gpus._simulation.stop()
