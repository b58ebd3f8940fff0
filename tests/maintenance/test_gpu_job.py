"""The GPU job: its steps, run as they stand on a machine without a GPU, reach the lessons, and say what is missing.

`make test-errors` runs this file on PyTorch's CUDA build over runtime.c, where two GPUs are there and no kernel
computes: so there it ends where the lessons would begin.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

ROOT = Path(__file__).resolve().parents[2]
JOB = yaml.safe_load((ROOT / ".github/workflows/gpu.yml").read_text("utf-8"))["jobs"]["test"]
COMMANDS = [step["run"] for step in JOB["steps"] if "run" in step]
GPUS = torch.cuda.device_count()

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="the steps are for bash")]


def bash(command, folder, path):
    """Run a step as a runner does."""
    # The outer make, where there is one, must not be taken for the parent of the step's.
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTEST_"))
    }
    return subprocess.run(
        [shutil.which("bash"), "-e", "-c", command],
        cwd=folder,
        env=inherited | {"PATH": path},
        capture_output=True,
        text=True,
    )


def program(folder, name, body):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def checkout(tmp_path):
    """What git has, beside an environment that stands for the one that make would install."""
    folder = tmp_path / "checkout"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    program(folder / ".venv/bin", "python", f'exec {sys.executable} "$@"')
    program(folder / ".venv/bin", "pip", "exit 1")
    (folder / ".venv/.everything").touch()
    return folder


@pytest.mark.skipif(GPUS > 0, reason="there the lessons would run")
def test_without_a_gpu_it_comes_as_far_as_asking_torch_and_leaves_no_results(checkout, tmp_path):
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    program(tmp_path / "bin", version, f'exec {sys.executable} "$@"')
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    *before, lessons = COMMANDS
    for command in before:
        assert bash(command, checkout, path).returncode == 0
    run = bash(lessons, checkout, path)
    assert run.returncode == 2
    assert "finds no CUDA GPU here: run this on a machine that has one" in run.stderr
    uploaded = JOB["steps"][-1]["with"]["path"].split()
    assert [path for path in uploaded if (checkout / path).exists()] == []


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (["python3", "python3.12"], "python3.12"),  # Rocky 9, whose python3 is 3.9
        (["python3"], "python3"),  # Debian 12 and 13
        (["python3", "python3.13", "python3.11"], "python3.11"),
    ],
)
def test_it_takes_a_python_of_the_machine(names, taken, tmp_path):
    for name in ("head", "bash"):
        program(tmp_path, name, f'exec {shutil.which(name)} "$@"')
    for name in names:
        program(tmp_path, name, "exit 0")
    program(tmp_path, "make", 'echo "$@"')
    run = bash(COMMANDS[-1], tmp_path, str(tmp_path))
    assert run.stdout == f"test-gpu PYTHON={tmp_path / taken}\n", run.stderr


@pytest.mark.skipif(GPUS == 0, reason="needs PyTorch's CUDA build, over runtime.c or a driver")
def test_with_gpus_the_lessons_are_found_and_ask_for_real_ones():
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "notebooks", "--collect-only", "-q"],
        cwd=ROOT,
        env=os.environ | {"SAMEDEVICE_GPUS": "real"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert "notebooks/01-two-tensors.ipynb" in run.stdout
