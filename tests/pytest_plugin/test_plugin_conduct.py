"""What the plugin costs who does not use it, how it is switched on and off, and what it says of a wrong number."""

import pytest

EMPTY = {"test_one.py": "def test_one():\n    pass\n"}
NO_TORCH = {"torch.py": "raise ImportError(\"No module named 'torch'\")\n"}


def test_a_session_that_does_not_use_it_loads_nothing_else(run_session):
    loaded = """
import sys

def test_loaded():
    ours = [name for name in sys.modules if name.partition(".")[0] == "samedevice"]
    assert sorted(ours) == ["samedevice", "samedevice._pytest_plugin"]
    assert "torch" not in sys.modules

def test_fails():
    raise RuntimeError("Expected all tensors to be on the same device")
"""
    # As it is installed, beside whatever else is.
    session = run_session({"test_one.py": loaded}, autoload=True)
    assert "1 failed, 1 passed" in session.out, session
    assert "samedevice:" not in session.out
    assert "- samedevice -" not in session.out


@pytest.mark.parametrize("number", ["0", "17", "-1", "two", "", "1.5"])
def test_a_number_out_of_range_is_one_sentence(run_session, number):
    session = run_session(EMPTY, f"--simulate-cuda={number}")
    assert session.err.strip() == f"ERROR: --simulate-cuda takes the number of GPUs, 1 to 16, not {number!r}."
    assert session.code == pytest.ExitCode.USAGE_ERROR


def test_an_unknown_choice_is_one_sentence(run_session):
    session = run_session(EMPTY, SAMEDEVICE_GPUS="none")
    assert session.err.strip() == "ERROR: SAMEDEVICE_GPUS is 'none': set it to real or to simulated, or unset it."
    assert session.code == pytest.ExitCode.USAGE_ERROR


def test_without_torch_it_says_what_to_install(run_session):
    session = run_session(EMPTY | NO_TORCH, "--simulate-cuda", "1")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    (said,) = session.err.strip().splitlines()
    assert said.startswith("ERROR: --simulate-cuda 1: ")
    assert "pip install torch" in said


def test_switched_off_it_is_not_there(run_session):
    session = run_session(EMPTY, "-p", "no:samedevice", "--simulate-cuda", "1", autoload=True)
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert "unrecognized arguments: --simulate-cuda" in session.err


def test_pytest_lists_its_option_marker_and_fixture(run_session):
    assert "--simulate-cuda=N" in run_session(EMPTY, "--help").out
    assert "@pytest.mark.gpus(n): needs n GPUs." in run_session(EMPTY, "--markers").out
    assert "simulated_cuda" in run_session(EMPTY, "--fixtures").out
