"""What nbval lets pass, the guard in conftest.py does not: each case is a cell of one small notebook, really run."""

import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lessons.measured import HERE

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
RAISES = ["raises-exception"]
IGNORED = ["nbval-ignore-output"]
MEASURED = "measured = print\nmeasured({!r})"
PLOT = "from IPython.display import Image, display"


def error(evalue, ename="ValueError"):
    return new_output("error", ename=ename, evalue=evalue, traceback=[])


def printed(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def cell(source, *outputs, tags=(), count=1):
    return new_code_cell(source, outputs=list(outputs), execution_count=count, metadata={"tags": list(tags)})


# What the cell does, the cell, and a part of the complaint; None where the cell is right.
CASES = {
    "raises what is stored": (cell("raise ValueError('a')", error("a"), tags=RAISES), None),
    "raises at another address": (cell("raise ValueError(hex(2**40))", error("0x7f1234567890"), tags=RAISES), None),
    "prints what is stored": (cell("print(1)", printed("1\n")), None),
    "raises nothing, stores nothing": (cell("pass", tags=RAISES), "raised nothing"),
    "raises nothing, by comment": (cell("# NBVAL_RAISES_EXCEPTION"), "raised nothing"),
    "raises nothing, stores an error": (cell("pass", error("a"), tags=RAISES), "Missing output fields"),
    "raises, stores nothing": (cell("raise ValueError('a')", tags=RAISES), "Unexpected output fields"),
    "raises another text": (cell("raise ValueError('b')", error("a"), tags=RAISES), "mismatch 'evalue'"),
    "raises another type": (cell("raise TypeError('a')", error("a"), tags=RAISES), "mismatch 'ename'"),
    "raises another text, output ignored": (
        cell("raise ValueError('b')", error("a"), tags=[*RAISES, "nbval-ignore-output"]),
        "but [('ValueError', 'a')] is stored",
    ),
    "raises, stores nothing, output ignored": (
        cell("raise ValueError('b')", tags=[*RAISES, "nbval-ignore-output"]),
        "no error is stored",
    ),
    "tagged, never executed": (cell("raise ValueError('a')", tags=RAISES, count=None), "never executed"),
    "untagged, never executed": (cell("pass", count=None), "never executed"),
    "untagged, raises what is stored": (cell("raise ValueError('a')", error("a")), "caused an exception"),
    "prints another text": (cell("print(1)", printed("2\n")), "mismatch 'stdout'"),
    "prints nothing": (cell("pass", printed("2\n")), "Missing output fields"),
    "warns, nothing stored": (cell("import warnings; warnings.warn('w')"), "Unexpected output fields"),
    "warns from another process": (
        cell(
            "import warnings; warnings.warn('w')",
            printed("cell.py:1: UserWarning: w\n  import warnings; warnings.warn('w')\n", "stderr"),
        ),
        None,
    ),
    "shows no picture": (
        cell("pass", new_output("display_data", {"image/png": "aGk="})),
        "but ['image/png'] are stored",
    ),
    "shows another picture": (
        cell(
            f"{PLOT}; display(Image(b'x', format='png'))",
            new_output("display_data", {"image/png": "aGk=", "text/plain": "<IPython.core.display.Image object>"}),
        ),
        None,
    ),
    "unknown magic, then code": (cell("%notmagic\nprint(1)", printed("1\n")), "output fields"),
    "measures nothing, prints what is stored": (cell(MEASURED.format("a"), printed("a\n"), tags=IGNORED), None),
    "measures nothing, prints another text": (
        cell(MEASURED.format("a"), printed("b\n"), tags=IGNORED),
        "printed 'a\\n', but 'b\\n' is stored",
    ),
    "measures nothing, prints nothing": (
        cell("measured = str\nmeasured('a');", printed("b\n"), tags=IGNORED),
        "printed '', but 'b\\n' is stored",
    ),
    "measures, prints another text": (cell(MEASURED.format(HERE + "a GPU"), printed("b\n"), tags=IGNORED), None),
    "is to measure, raises": (
        cell("measured = int\nmeasured('a')", printed("b\n"), tags=IGNORED),
        "caused an exception",
    ),
    "skipped": (cell("raise ValueError('a')", tags=["nbval-skip"]), None),
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory, run_pytest):
    """One run of pytest over a notebook of all cases: the complaint about each, None where the cell passed."""
    folder = tmp_path_factory.mktemp("cases")
    shutil.copy(ROOT / "conftest.py", folder)
    nbformat.write(new_notebook(cells=[cell for cell, _ in CASES.values()]), folder / "cases.ipynb")
    run = run_pytest("--nbval", "--junitxml", folder / "report.xml", folder / "cases.ipynb")
    assert run.returncode == 1, run.stdout
    found = [case.find("failure") for case in ElementTree.parse(folder / "report.xml").iter("testcase")]
    assert len(found) == len(CASES)
    return {name: None if failure is None else failure.text for name, failure in zip(CASES, found, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_a_cell_passes_only_where_it_does_what_is_stored(complaints, name):
    expected = CASES[name][1]
    if expected is None:
        assert complaints[name] is None
    else:
        assert expected in complaints[name]


def test_a_notebook_that_needs_more_gpus_than_there_are_is_skipped_when_gpus_must_be_real(tmp_path, run_pytest):
    shutil.copy(ROOT / "conftest.py", tmp_path)
    notebook = new_notebook(cells=[cell("raise ValueError('not to be run')")], metadata={"gpus": 1000})
    nbformat.write(notebook, tmp_path / "many.ipynb")
    run = run_pytest("--nbval", tmp_path / "many.ipynb", SAMEDEVICE_GPUS="real")
    assert "needs 1000 GPUs, this machine has" in run.stdout
    assert "1 skipped" in run.stdout
    assert "1 failed" in run_pytest("--nbval", tmp_path / "many.ipynb", SAMEDEVICE_GPUS="simulated").stdout


def test_a_torn_notebook_is_named_in_one_sentence(tmp_path, run_pytest):
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "torn.ipynb").write_text("<<<<<<< HEAD\n{}", "utf-8")
    run = run_pytest("--nbval", tmp_path / "torn.ipynb")
    assert run.returncode != 0
    assert "torn.ipynb is not JSON" in run.stdout + run.stderr


def test_bare_pytest_nbval_collects_every_code_cell_of_every_notebook(run_pytest):
    run = run_pytest("--nbval", "--collect-only", "-q")
    collected = [line.split("::")[0] for line in run.stdout.splitlines() if ".ipynb::" in line]
    expected = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        expected += [f"notebooks/{path.name}"] * sum(cell.cell_type == "code" for cell in cells)
    assert expected
    assert sorted(collected) == expected
