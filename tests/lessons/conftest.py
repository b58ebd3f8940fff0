"""The state of `lessons.start`, new for every test, on a machine that has as many GPUs as the test says."""

import gc
import os

import pytest
import torch

from lessons import gpus


@pytest.fixture(autouse=True)
def _no_long_wait_for_workers(monkeypatch):
    """A DataLoader whose worker raised waits seconds for it to end, and ends it then."""
    monkeypatch.setattr("torch.utils.data._utils.MP_STATUS_CHECK_INTERVAL", 0.2)


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


@pytest.fixture(autouse=True)
def _no_garbage_for_a_fork(request):
    """Keep a forked child from collecting what earlier tests left: a process group joins threads that it does not have.

    Once, in a process that had run hundreds of other tests, such a child never answered.
    """
    if _is_of_forks(request.node):
        gc.collect()
        gc.freeze()


def _is_of_forks(item: pytest.Item) -> bool:
    return "[16-" in item.nodeid


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_of_forks(item) and not hasattr(os, "fork"):
            item.add_marker(pytest.mark.skip(reason="lesson 14 is about forked workers, and Windows has no fork"))


@pytest.fixture(autouse=True)
def no_hint_given_yet(monkeypatch):
    monkeypatch.setattr("lessons.exercises._given", {})
