"""The proof that a lesson's errors are raised and not recited: with the device checks off, every failure cell fails."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]

# IPython runs this before the first cell of every kernel. It is the only place where a check is ever switched off:
# the product has no option for it.
NO_DEVICE_CHECKS = """
import torch
from samedevice.simulation import placement

judge = placement.judge

def anything_goes(*args, **kwargs):
    try:
        return judge(*args, **kwargs)
    except RuntimeError:
        return torch.device("cuda", 0)

placement.judge = anything_goes
"""


def test_with_the_device_checks_off_nbval_reports_every_failure_cell(run_pytest, tmp_path):
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
    assert sorted(raised_nothing) == sorted(name for name, cell in cells.items() if is_failure(cell))


def code_cells():
    """Every code cell of every lesson, under the name that pytest's report gives it."""
    cells = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        cells |= {f"notebooks.{path.name}::Cell {number}": cell for number, cell in enumerate(code)}
    return cells


def is_failure(cell):
    return "raises-exception" in cell.metadata.get("tags", [])
