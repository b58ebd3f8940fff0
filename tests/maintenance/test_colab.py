"""`make test-colab`: what it runs of the lessons, with which versions, and that it sees what goes wrong there."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_output

import colab

ROOT = Path(__file__).resolve().parents[2]
DIAGNOSIS = {"text/plain": f"`add` {colab.SAYS}", "text/html": "<div>"}
SHOWN = [
    [],
    [],
    [new_output("error", ename="RuntimeError"), new_output("display_data", DIAGNOSIS)],
    [new_output("execute_result", DIAGNOSIS)],
    [new_output("error", ename="ZeroDivisionError")],
]


def answer(monkeypatch, outputs):
    """Have every notebook end with these outputs, a list for each cell."""
    cells = [new_code_cell(outputs=shown) for shown in outputs]
    monkeypatch.setattr(colab, "run", lambda folder, sources: cells)


def test_the_start_cells_differ_in_the_number_of_gpus_only():
    cells = colab.start_cells()
    assert len({re.sub(r"gpus=\d", "gpus=N", cell) for cell in cells}) == 1
    assert sum(len(lessons) for lessons in cells.values()) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert all((ROOT / f"notebooks/{lesson}.ipynb").exists() for lesson in colab.LESSONS)


@pytest.mark.parametrize(("said", "commit"), [("1 simulated GPU, on the CPU.", "b" * 40), ("No GPU", "a" * 40)])
def test_a_start_cell_has_to_name_gpus_and_to_install_this_checkout(monkeypatch, said, commit):
    def outputs(said, commit):
        return [[new_output("stream", text=f"Note: pip\n{said}\n")], [new_output("stream", text=f"{commit}\n")]]

    answer(monkeypatch, outputs(said, commit))
    assert colab.started_by(None, "", "a" * 40)
    answer(monkeypatch, outputs("2 simulated GPUs, on the CPU: no real one was found.", "a" * 40))
    assert colab.started_by(None, "", "a" * 40) is None


@pytest.mark.parametrize(
    ("cell", "outputs"),
    [
        (1, [new_output("error", ename="ModuleNotFoundError")]),
        (2, SHOWN[2][:1]),
        (2, SHOWN[2][::-1]),
        (3, []),
        (4, [*SHOWN[4], new_output("display_data", DIAGNOSIS)]),
    ],
    ids=["not loaded", "no diagnosis", "before the error", "explain is silent", "another error explained"],
)
def test_the_extension_has_to_explain_device_errors_after_them_and_no_others(monkeypatch, cell, outputs):
    answer(monkeypatch, SHOWN)
    assert colab.explained(None, "") is None
    answer(monkeypatch, [*SHOWN[:cell], outputs, *SHOWN[cell + 1 :]])
    assert colab.explained(None, "")


def test_every_version_is_pinned():
    lines = (ROOT / "tests/colab/requirements.txt").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"[\w-]+={2,3}[\w.]+|#.*|", line) for line in lines)


@pytest.mark.parametrize(("there", "chosen"), [("exit 0", "python3.13"), ("exit 127", "python3")])
def test_python_3_13_is_taken_where_it_runs(tmp_path, there, chosen):
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "tests/colab/requirements.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    program = tmp_path / "bin/python3.13"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{there}\n")
    program.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment["PATH"] = f"{program.parent}{os.pathsep}{environment['PATH']}"
    command = ["make", "--dry-run", ".venv-colab/.everything"]
    planned = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    assert f"\n{chosen} -m venv --clear .venv-colab\n" in planned
    assert "env -u PIP_EXTRA_INDEX_URL .venv-colab/bin/python -m pip install" in planned


def test_without_its_environment_it_names_its_command(monkeypatch, capsys):
    monkeypatch.setattr(colab, "PYTHON", ROOT / "no/python")
    assert colab.main() == 2
    said = capsys.readouterr().err
    assert "make test-colab" in said
    assert said.count("\n") == 1
