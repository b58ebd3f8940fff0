"""What exercises and puzzles refuse, and what they accept.

They refuse the right numbers, computed by the very reference on the CPU and brought to the GPU, and what somebody might
write (wrong_answers.toml), which is told what is wrong with it. They accept what is right in another way than the
solution (right_answers.toml). Those of a practice notebook, right and wrong, are in one file (practice_1.toml)."""

import json
import random
import tomllib
from pathlib import Path

import pytest
import torch
from torch import nn

from lessons import check, start
from lessons.exercises import Exercise, _find

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*use of fork.* may lead to deadlocks:DeprecationWarning",
    "ignore:pin_memory_device is deprecated",  # a wrong answer names it
)

# What accepts it all the same, each with the reason.
ACCEPTED = {
    "04-b": "it returns a model, which the exercise moves",
    "18-b": "its processes are on the CPU",
    "p1-4": "it returns a model, which the puzzle moves",
    "p1-8": "it returns a model, which the puzzle moves",
}
ROOT = Path(__file__).parents[2]
NAMES = [
    name
    for path in sorted((ROOT / "src/lessons/exercises").glob("*_[0-9]*.py"))
    for which in (*"ab", *"12345678")
    if isinstance(_find(name := f"{path.stem.replace('lesson_', '').replace('practice_', 'p')}-{which}"), Exercise)
]
ANSWERS = [tomllib.loads(path.read_text("utf-8")) for path in sorted(Path(__file__).parent.glob("*.toml"))]
WRONG = [row for file in ANSWERS for row in file.get("wrong", [])]
OTHERS = [row for file in ANSWERS for row in file.get("right", [])]
# What answers are written with.
IMPORTS = """
import copy
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
"""


class Seeded(random.Random):
    def __init__(self, seed=0):
        super().__init__(seed)


def on_cpu(value):
    """The same, fetched to the CPU: modules are moved, as a reader would move them."""
    if isinstance(value, torch.Tensor | nn.Module):
        return value.cpu()
    if isinstance(value, list | tuple):
        return type(value)(map(on_cpu, value))
    if isinstance(value, dict):
        return {key: on_cpu(one) for key, one in value.items()}
    return value


@pytest.mark.parametrize("name", NAMES)
def test_all_on_the_cpu_and_the_result_brought_to_the_gpu_is_refused(name, machine, capsys):
    start(gpus=2)
    exercise = _find(name)

    def wrong(*arguments):
        result = exercise.reference(*on_cpu(arguments))
        return result.to(f"cuda:{exercise.result_on or 0}")

    capsys.readouterr()
    check(name, wrong)
    said = capsys.readouterr().out
    assert said == "passed\n" if name in ACCEPTED else said.startswith("Not right yet."), said


@pytest.fixture
def written(machine, monkeypatch):
    """Call with a row of a TOML file: the lesson's GPUs, and the answer that its code defines."""
    monkeypatch.setattr(random, "Random", Seeded)  # which places exercises take, in any order

    def answer(row):
        own = row["exercise"].partition("-")[0].replace("p", "practice-")
        (notebook,) = (ROOT / "notebooks").glob(f"{own}-*.ipynb")
        start(json.loads(notebook.read_text("utf-8"))["metadata"]["gpus"])
        names = {}
        exec(IMPORTS + row["code"], names)
        return names["answer"]

    return answer


def rows(several):
    return [pytest.param(row, id=f"{row['exercise']}-{row['what']}") for row in several]


@pytest.mark.parametrize("wrong", rows(WRONG))
def test_a_wrong_answer_is_told_what_is_wrong_with_it(wrong, written, capsys):
    answer = written(wrong)
    capsys.readouterr()
    check(wrong["exercise"], answer)
    told = capsys.readouterr().out
    assert told.startswith("Not right yet.") and "passed" not in told
    for _ in range(3):  # each of the hints
        check(wrong["exercise"], answer, hint=True)
    assert wrong["told"] in told + capsys.readouterr().out


@pytest.mark.parametrize("right", rows(OTHERS))
def test_an_answer_that_is_right_in_another_way_passes(right, written, capsys):
    answer = written(right)
    capsys.readouterr()
    check(right["exercise"], answer, hint=True)
    assert capsys.readouterr().out == "passed\n"


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_has_three_wrong_answers_and_two_right_ones_of_another_shape(name):
    assert sum(row["exercise"] == name for row in WRONG) >= 3
    assert sum(row["exercise"] == name for row in OTHERS) >= 2
