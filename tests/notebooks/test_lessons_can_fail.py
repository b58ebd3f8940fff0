"""The proof that a lesson's errors are raised and not recited: with the device check off, its failures fail to come.

The check is the one behind the texts of CHECK, which every lesson raises; errors that Python, DataParallel or another
check of PyTorch's raises stay. The gradient that a move left behind is compared apart, when backward adds to it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.slow
LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
RUN = Path(__file__).with_name("lessons_without_the_check.py")

CHECK = re.compile(
    "Expected all tensors to be on the same device|Trying to pass too many CPU scalars|"
    "Expected out tensor to have device|Input type .* and weight type|indices should be either on cpu|"
    "expected self and mask to be on the same device"
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork, which Windows has not")
def test_with_the_device_check_off_every_cell_that_shows_it_raises_nothing():
    run = subprocess.run(
        [sys.executable, RUN, *LESSONS],
        env={**os.environ, "SAMEDEVICE_GPUS": "simulated"},
        capture_output=True,
        text=True,
        check=True,
    )
    judged = [f"{path.name}::Cell {number}" for path in LESSONS for number in judged_cells(path)]
    assert run.stdout.splitlines() == judged
    assert {name.split("::")[0] for name in judged} == {path.name for path in LESSONS}


def judged_cells(path):
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for number, cell in enumerate(code):
        errors = [output.evalue for output in cell.outputs if output.output_type == "error"]
        if any(CHECK.search(text) for text in errors):
            yield number
