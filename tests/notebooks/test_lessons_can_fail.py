"""The proof that a lesson's errors are raised and not recited: with the checks off, its failures fail to come.

checks_off.py has the checks of PyTorch and of the simulation, and the texts that they raise. Errors that Python,
DataParallel or yet another check raises stay. Each lesson is judged by at least one of its failures.
"""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from checks_off import checks_of

pytestmark = pytest.mark.slow
LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9]*.ipynb"))
RUN = Path(__file__).with_name("lessons_without_the_checks.py")

# By which checks the cells of a lesson are judged. All others are judged by the device check alone.
JUDGED_BY = {
    "18-unfinished-reduction": {"reduction"},
    "13-async-transfers": {"pinning", "waiting"},
    "14-workers-and-forks": {"fork"},
    "21-sharded-and-compiled": {"mixed", "meta", "traced", "device"},  # the compiler quotes the device check
}


@pytest.mark.weekly
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork, which Windows has not")
@pytest.mark.timeout(900)  # for all lessons; each has a limit of its own
def test_with_the_checks_off_every_cell_that_shows_one_raises_nothing():
    run = subprocess.run(
        [sys.executable, RUN, *LESSONS],
        env={**os.environ, "SAMEDEVICE_GPUS": "simulated"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{path.name}::Cell {number}" for path in LESSONS for number in judged(path)]


def test_every_lesson_is_judged_by_the_checks_that_it_is_about():
    judged_by = {path.stem: set().union(*judged(path).values()) for path in LESSONS}
    assert judged_by == {path.stem: JUDGED_BY.get(path.stem, {"device"}) for path in LESSONS}


def test_of_these_lessons_every_failure_is_judged():
    for path in LESSONS:
        if path.stem in JUDGED_BY:
            assert len(judged(path)) == len(list(failures(path))), path.stem


def judged(path):
    """The numbers of the code cells that show an error of these checks, each with its checks."""
    return {number: checks_of(text) for number, text in failures(path) if checks_of(text)}


def failures(path):
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for number, cell in enumerate(code):
        if errors := [output.evalue for output in cell.outputs if output.output_type == "error"]:
            yield number, "\n".join(errors)
