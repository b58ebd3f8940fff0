"""What only a real GPU can measure: what is printed on a real and on a simulated GPU, and what is kept.

No test has a GPU. A machine that says it has one calls the function. The lessons' own functions run on simulated GPUs
with small tensors, to test everything but their numbers.
"""

import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest

from lessons import measured, start
from lessons.measured import HERE, KEEP, RECORD, SIMULATED

ROOT = Path(__file__).resolve().parents[2]
ROWS = [("pinned", 5.12345, "ms"), ("pageable", 1234.5, "ms")]


@pytest.fixture
def record(monkeypatch, tmp_path):
    """The package's record, elsewhere and not yet written."""
    monkeypatch.delenv(KEEP, raising=False)
    monkeypatch.setattr(importlib.import_module("lessons.measured"), "RECORD", tmp_path / "measured.json")
    return tmp_path / "measured.json"


def not_to_be_called():
    raise AssertionError("a simulated GPU was measured")


def test_without_a_real_gpu_or_a_record_it_says_in_one_sentence_what_a_real_gpu_does(machine, record, capsys):
    start(gpus=1)
    capsys.readouterr()
    measured("copies", not_to_be_called)
    assert capsys.readouterr().out == f"{SIMULATED}\n"
    assert SIMULATED == "On a real GPU, this cell measures and prints its numbers."


def test_a_record_of_something_else_is_not_shown(machine, record, capsys):
    record.write_text('{"others": {}}', "utf-8")
    start(gpus=1)
    capsys.readouterr()
    measured("copies", not_to_be_called)
    assert capsys.readouterr().out == f"{SIMULATED}\n"


def test_on_a_real_gpu_it_measures_and_says_on_which_with_what_and_when(machine, record, capsys):
    machine("NVIDIA A", "NVIDIA B")
    start(gpus=1)
    capsys.readouterr()
    measured("copies", lambda: ROWS)
    head, versions, *rows = capsys.readouterr().out.splitlines()
    assert head == f"{HERE}NVIDIA A,"
    assert re.fullmatch(r"torch \d+\.\d+\S*, \d{4}-\d\d-\d\d:", versions)
    assert rows == [" 5.12 ms  pinned", "1,230 ms  pageable"]
    assert not record.exists()


def test_asked_to_it_keeps_what_it_measured_and_a_simulated_gpu_shows_it(machine, record, capsys, monkeypatch):
    machine("NVIDIA A")
    monkeypatch.setenv(KEEP, str(record))
    measured("copies", lambda: [("pinned", 1.0, "ms")])
    measured("others", lambda: [("pinned", 2, "of 100 wrong")])
    measured("copies", lambda: ROWS)
    assert set(json.loads(record.read_text())) == {"copies", "others"}
    here = capsys.readouterr().out.split(HERE)[-1]

    machine()
    start(gpus=1)
    kept = record.read_bytes()
    capsys.readouterr()
    measured("copies", not_to_be_called)
    assert capsys.readouterr().out == f"Recorded on {here}"
    assert record.read_bytes() == kept


def test_what_fails_to_measure_raises_and_keeps_nothing(machine, record, monkeypatch):
    machine("NVIDIA A")
    monkeypatch.setenv(KEEP, str(record))
    with pytest.raises(ZeroDivisionError):
        measured("copies", lambda: [("pinned", 1 / 0, "ms")])
    assert not record.exists()


def test_the_package_holds_its_record():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "src/lessons" in wheel["packages"]
    assert Path(RECORD).parent == ROOT / "src/lessons"


# The lessons' own

LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CALL = re.compile(r'^measured\("([a-z-]+)", \w+\)$', re.M)


def code_of(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


MEASURING = {path: names for path in LESSONS if (names := CALL.findall("\n".join(code_of(path))))}


def test_what_is_measured_has_a_name_of_its_own_and_the_record_has_no_other():
    names = [name for names in MEASURING.values() for name in names]
    assert names
    assert len(names) == len(set(names))
    if RECORD.exists():
        assert set(json.loads(RECORD.read_text("utf-8"))) <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("path", MEASURING, ids=lambda path: path.stem)
def test_what_a_lesson_measures_runs_and_is_kept(path, tmp_path):
    runner = Path(__file__).with_name("measure_on_simulated_gpus.py")
    run = subprocess.run(
        [sys.executable, runner, path, tmp_path / "record.json"], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    record = json.loads((tmp_path / "record.json").read_text("utf-8"))
    assert set(record) == set(MEASURING[path])
    for result in record.values():
        assert result["rows"]
        for what, number, unit in result["rows"]:
            assert what
            assert isinstance(number, float)
            assert unit in ("ms", "MiB", "of 100 wrong")
    if "too-early" in record:  # on a simulated GPU, every copy is done at once
        assert [number for _, number, _ in record["too-early"]["rows"]] == [0, 0]
