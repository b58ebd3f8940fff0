"""Pastes of programs in the style of real code: how often the culprit is named, alone or as one of two to four.

The live doctor sees the tensors of these programs (test_real_programs.py); here it has the text of the traceback only.
"""

import platform
import warnings

import pytest
import torch

from pasted_programs import ALSO_RIGHT, answer, figures, of_the_changes, with_the_change
from real_programs import FOLDER

# The program moves everything to the device that it was given. The line shows neither that nor that its rotation does
# not: it shows a tensor on the CPU that meets one on the GPU, and the first is named.
WRONG = {"pointcloud_aug"}


def answers_to(programs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the programs' own
        return {program.stem: answer(program) for program in programs}


@pytest.fixture(scope="module")
def answers():
    return answers_to(sorted(FOLDER.glob("*.py")))


@pytest.fixture
def on_file(figures_on_file):
    """The figures of the site, if they were measured with this Python and torch: tracebacks differ between these."""
    read = figures_on_file("pastes")
    minor = read["python"].rpartition(".")[0]
    if minor != platform.python_version().rpartition(".")[0] or read["torch"] != torch.__version__:
        pytest.skip(f"measured with Python {minor} and torch {read['torch']}")
    return read


def test_the_culprit_of_a_handful_of_programs_is_named():
    handful = answers_to(
        FOLDER / f"{name}.py" for name in ("camera_rays", "lora_inject", "minigpt_batch", "ssim_window")
    )
    assert all(said.is_right for said in handful.values()), handful


@pytest.mark.filterwarnings("ignore")  # of the programs' own
@pytest.mark.parametrize(
    ("name", "outcome"), [("eye_smoothing", "runs"), ("camera_rays", "fails next"), ("ssim_window", "fails still")]
)
def test_the_change_is_made_and_what_fails_then_is_looked_at(name, outcome, tmp_path):
    program = FOLDER / f"{name}.py"
    assert with_the_change(program, answer(program), tmp_path) == outcome


@pytest.mark.slow
def test_the_culprit_is_named_and_a_single_name_is_it(answers):
    counted = figures(answers.values())
    assert counted["one"]["named"] + counted["few"]["named"] >= 110
    assert counted["one"]["right"] + counted["few"]["right"] >= 105
    assert counted["one"]["named"] - counted["one"]["right"] <= 3


@pytest.mark.slow
def test_what_is_wrong_and_what_is_right_by_another_name_is_listed(answers, on_file):
    wrong = {name for name, said in answers.items() if said.kind == "one" and not said.is_right}
    assert wrong == WRONG
    named = {name: [culprit.expression for culprit in answers[name].culprits] for name in ALSO_RIGHT}
    assert named == {name: [expression] for name, (expression, _) in ALSO_RIGHT.items()}


@pytest.mark.slow
def test_the_figures_of_the_site_are_of_these_programs(answers, on_file):
    """After a change, `make doctor` writes them anew."""
    changed = {key: on_file["one"].pop(key) for key in ("runs", "next")}
    assert sum(changed.values()) <= on_file["one"]["right"]
    counted = figures(answers.values())
    assert {key: on_file[key] for key in counted} == counted


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the programs' own
def test_as_many_programs_run_with_the_one_change_as_the_site_says(answers, on_file, tmp_path):
    alone = {name: said for name, said in answers.items() if said.kind == "one"}
    after = {name: with_the_change(FOLDER / f"{name}.py", said, tmp_path) for name, said in alone.items()}
    counted = of_the_changes(after.values())
    assert {key: on_file["one"][key] for key in counted} == counted, after
