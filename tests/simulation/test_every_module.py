"""Every module of PyTorch's module_db works on a simulated GPU as on the CPU, and none ends Python."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_every_module_of_pytorch_runs_forward_and_backward_as_on_the_cpu() -> None:
    program = Path(__file__).with_name("every_module.py")
    run = subprocess.run([sys.executable, program], capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert run.returncode == 0, f"{lines[-1]} ended Python:\n{run.stderr[-2000:]}"
    assert len(lines) > 1000
    assert [line for line in lines if line.startswith("differs: ")] == []
