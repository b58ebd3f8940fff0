"""Which GPUs a lesson gets, and the one line that says so."""

import gc
import multiprocessing
import os
import subprocess
import sys

import pytest
import torch

from lessons import start
from lessons.gpus import devices
from samedevice import simulate_cuda


def test_without_gpus_all_are_simulated(machine, capsys):
    start(gpus=2)
    said = capsys.readouterr().out
    assert said.startswith("2 simulated GPUs, ")
    assert said.count("\n") == 1
    assert torch.ones(1, device="cuda:1").device == torch.device("cuda:1") == devices()[1]


def test_enough_real_gpus_are_used_and_named(machine, capsys):
    machine("NVIDIA A", "NVIDIA B")
    start(gpus=1)
    assert capsys.readouterr().out == "2 real GPUs: NVIDIA A, NVIDIA B.\n"
    assert devices() == [torch.device("cuda:0")]


def test_real_and_simulated_gpus_are_never_mixed(machine, capsys):
    machine("NVIDIA A")
    start(gpus=2)
    said = capsys.readouterr().out
    assert said.startswith("2 simulated GPUs, ")
    assert "1 real GPU" in said
    assert "Simulated" in torch.cuda.get_device_name(0)


def test_called_again_it_says_the_same_and_starts_nothing(machine, capsys):
    start(gpus=1)
    tensor = torch.ones(1, device="cuda")
    first = capsys.readouterr().out
    start(gpus=1)
    assert capsys.readouterr().out == first
    assert (tensor + torch.ones(1, device="cuda")).device == torch.device("cuda:0")


def test_called_again_for_more_gpus_it_gives_more(machine, capsys):
    start(gpus=1)
    tensor = torch.ones(1, device="cuda")
    start(gpus=2)
    assert capsys.readouterr().out.splitlines()[1].startswith("2 simulated GPUs, ")
    assert (tensor.to("cuda:1") + torch.ones(1, device="cuda:1")).device == torch.device("cuda:1")


def test_called_again_for_fewer_gpus_those_that_run_stay(machine, capsys):
    start(gpus=2)
    start(gpus=1)
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert torch.cuda.device_count() == 2
    assert len(devices()) == 1


def test_a_simulation_that_runs_already_is_not_taken_for_hardware(machine, capsys):
    with simulate_cuda(devices=2):
        start(gpus=1)
        assert "simulated" in capsys.readouterr().out


def test_real_forbids_simulated_gpus(machine, monkeypatch):
    machine("NVIDIA A")
    monkeypatch.setenv("SAMEDEVICE_GPUS", "real")
    start(gpus=1)
    with pytest.raises(RuntimeError) as caught:
        start(gpus=2)
    for part in ("2 real GPUs", "finds 1", "SAMEDEVICE_GPUS=real"):
        assert part in str(caught.value)
    assert torch.cuda.get_device_name(0) == "NVIDIA A"


def test_real_ends_a_simulation(machine, monkeypatch):
    start(gpus=1)
    monkeypatch.setenv("SAMEDEVICE_GPUS", "real")
    with pytest.raises(RuntimeError, match="finds 0"):
        start(gpus=1)
    assert not torch.cuda.is_available()
    assert devices() == []


def test_simulated_forbids_hardware(machine, monkeypatch, capsys):
    machine("NVIDIA A")
    monkeypatch.setenv("SAMEDEVICE_GPUS", "simulated")
    start(gpus=1)
    assert capsys.readouterr().out == "1 simulated GPU, on the CPU.\n"
    assert "Simulated" in torch.cuda.get_device_name(0)


def test_another_choice_is_refused_with_what_is_allowed(machine, monkeypatch):
    monkeypatch.setenv("SAMEDEVICE_GPUS", "yes")
    with pytest.raises(ValueError, match="SAMEDEVICE_GPUS") as caught:
        start(gpus=1)
    for part in ("'yes'", "real", "simulated"):
        assert part in str(caught.value)


@pytest.mark.parametrize("gpus", [0, -1, True, 1.0, "2", None])
def test_what_is_no_positive_integer_is_refused_with_what_is_allowed(machine, gpus):
    with pytest.raises(ValueError, match="at least 1") as caught:
        start(gpus=gpus)
    assert repr(gpus) in str(caught.value)


def test_hidden_gpus_are_named_as_the_cause(machine, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(RuntimeError, match="CUDA_VISIBLE_DEVICES"):
        start(gpus=1)
    assert not torch.cuda.is_available()


def test_without_torch_the_pip_line_is_named():
    code = "import sys; sys.modules['torch'] = None; from lessons import start; start(gpus=1)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    error = process.stderr.splitlines()[-1]
    assert error.startswith("ImportError: ")
    assert "pip install" in error


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_child_leaves_the_garbage_of_its_parent_alone():
    """Else it may print, of the workers of a loop that failed, that it can only test a child process."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(gc.get_freeze_count) > gc.get_freeze_count()
