"""Every module and every optimizer of PyTorch's own tests works on a simulated GPU as on the CPU; none ends Python."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(("program", "at_least"), [("every_module.py", 1000), ("every_optimizer.py", 250)])
def test_it_runs_forward_and_backward_as_on_the_cpu(program: str, at_least: int) -> None:
    path = Path(__file__).with_name(program)
    run = subprocess.run([sys.executable, path], capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert run.returncode == 0, f"{lines[-1]} ended Python:\n{run.stderr[-2000:]}"
    assert len(lines) > at_least
    assert [line for line in lines if line.startswith("differs: ")] == []
