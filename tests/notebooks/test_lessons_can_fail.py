"""The proof that a lesson's errors are raised and not recited: with the device check off, its failures fail to come.

The check is the one behind the texts of CHECK, which every lesson raises; errors that Python, DataParallel or another
check of PyTorch's raises stay. The gradient that a move left behind is compared apart, when backward adds to it.
"""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]

# IPython runs this before the first cell of every kernel. It is the only place where a check is ever switched off:
# the product has no option for it.
NO_DEVICE_CHECKS = """
import torch
from samedevice.simulation import exchange, placement

judge = placement.judge

def anything_goes(*args, **kwargs):
    try:
        return judge(*args, **kwargs)
    except RuntimeError:
        return torch.device("cuda", 0)

placement.judge = anything_goes
exchange.found_two_devices = lambda *devices: None
"""

CHECK = re.compile(
    "Expected all tensors to be on the same device|Trying to pass too many CPU scalars|Expected out tensor to have device|"
    "Input type .* and weight type|indices should be either on cpu|expected self and mask to be on the same device"
)


def test_with_the_device_check_off_nbval_reports_every_cell_that_shows_it(run_pytest, tmp_path):
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "no_device_checks.py").write_text(NO_DEVICE_CHECKS)
    report = tmp_path / "report.xml"
    run = run_pytest(
        "--nbval",
        "--junitxml",
        report,
        "notebooks",
        IPYTHONDIR=str(tmp_path / "ipython"),
        SAMEDEVICE_GPUS="simulated",
    )
    assert run.returncode == 1, run.stdout
    cells = code_cells()
    complaints = {
        f"{case.get('classname')}::{case.get('name')}": case.findtext("failure", "")
        for case in ElementTree.parse(report).iter("testcase")
    }
    assert set(complaints) == set(cells)
    raised_nothing = [name for name, complaint in complaints.items() if re.search("Missing output.*'ename'", complaint)]
    judged = [name for name, cell in cells.items() if shows_the_check(cell)]
    assert sorted(raised_nothing) == sorted(judged)
    assert {name.split("::")[0] for name in judged} == {name.split("::")[0] for name in cells}


def code_cells():
    """Every code cell of every lesson, under the name that pytest's report gives it."""
    cells = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        cells |= {f"notebooks.{path.name}::Cell {number}": cell for number, cell in enumerate(code)}
    return cells


def shows_the_check(cell):
    errors = [output.evalue for output in cell.outputs if output.output_type == "error"]
    return any(CHECK.search(text) for text in errors)
