"""A whole notebook on simulated GPUs, without a change in it: the page's file and commands, run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.slow  # each starts a kernel, which imports torch

PAGE = (Path(__file__).resolve().parents[2] / "docs/test-without-a-gpu.md").read_text("utf-8")
(STARTUP,) = re.findall(r'```python title="simulate.py"\n(.*?)```', PAGE, re.DOTALL)
COMMANDS = re.findall(r"^(jupyter|pytest) (.*train\.ipynb)$", PAGE, re.MULTILINE)
FIRST = "import torch\n\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\ndevice"
FAILING = "model = torch.nn.Linear(3, 1).to(device)\nmodel(torch.ones(2, 3))"


@pytest.fixture
def run(tmp_path):
    """Call with a program and its arguments, beside the notebook train.ipynb and the page's simulate.py."""
    cells = [nbformat.v4.new_code_cell(source) for source in (FIRST, FAILING)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "train.ipynb")
    (tmp_path / "simulate.py").write_text(STARTUP, "utf-8")

    def run(program, *arguments, startup=True):
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SAMEDEVICE_"))
        }
        own = {"IPYTHONDIR": str(tmp_path / "ipython"), "PYTHONUTF8": "1"}
        if startup:
            own["PYTHONSTARTUP"] = str(tmp_path / "simulate.py")
        return subprocess.run(
            [sys.executable, "-m", program, *arguments],
            cwd=tmp_path,
            env=inherited | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=300,
        )

    return run


def arguments(program):
    return dict(COMMANDS)[program].split()


def test_nbconvert_writes_a_page_with_the_error_and_its_diagnosis(run, tmp_path):
    done = run("jupyter", *arguments("jupyter"))
    assert done.returncode == 0, done.stdout
    page = BeautifulSoup((tmp_path / "train.html").read_text("utf-8"), "html.parser")
    assert "device(type='cuda')" in page.get_text()
    assert "torch.ones(2, 3) (shape (2, 3)) is on cpu" in page.select_one(".samedevice").get_text()


def test_nbval_fails_at_the_cell_that_fails_on_cuda(run):
    failed = run("pytest", *arguments("pytest"))
    assert "1 failed, 1 passed" in failed.stdout
    assert "train.ipynb::Cell 1" in failed.stdout
    assert "Expected all tensors to be on the same device" in failed.stdout


def test_the_plugins_own_option_says_that_it_does_not_reach_a_kernel(run):
    passed = run("pytest", "--simulate-cuda", "1", *arguments("pytest"), startup=False)
    assert "2 passed" in passed.stdout
    assert "Kernels of notebooks have none, unless PYTHONSTARTUP names a file" in passed.stdout
