"""The comparison on the page about the simulated CUDA is what a run gives today, for all that PyTorch itself brings."""

import json
import sys
from pathlib import Path

import pytest
import torch

from comparison.__main__ import asked
from comparison.mixes import mixes

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = json.loads((ROOT / "results/comparison.json").read_text("utf-8"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore"),  # a line that warns is asked, too
    pytest.mark.skipif(sys.platform != "linux", reason="each question is asked in a fork"),
    pytest.mark.skipif(torch.__version__ != WRITTEN["torch"], reason="the comparison was made with another torch"),
]


@pytest.fixture(scope="module")
def lines():
    return mixes()


def test_the_lines_are_those_that_were_put_to_all(lines):
    assert len(lines) == WRITTEN["lines"]


@pytest.mark.parametrize("name", sorted(WRITTEN["rivals"].keys() - {"FakeGPU"}))
def test_a_rival_answers_as_written(name, lines):
    assert asked(name, lines) == WRITTEN["rivals"][name]
