"""Hypothesis times the program alone, and its explanation of a failure names lines of the program, as on CUDA."""

import re

import pytest

TEST = """
import sys

import torch
from hypothesis import given, settings, strategies as st

quiet = settings(deadline=None, database=None, derandomize=True)


@quiet
@given(st.none())
def test_of_time(nothing):
    # PyTorch imports it before the first simulated tensor: longer than a test may take.
    assert "torch.distributed.tensor" in sys.modules


def scale(x, factor):
    if factor > 10:
        weight = torch.tensor([1.0, 2.0])
        return x * weight
    return x * factor


@quiet
@given(st.integers(0, 100))
def test_of_a_branch(factor):
    scale(torch.ones(2, device="cuda"), factor)


@quiet
@given(st.integers(0, 100))
def test_of_a_value(factor):
    x = torch.ones(2, device="cuda" if factor > 10 else "cpu")
    x + torch.ones(2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("plugins", [(), ("-p", "_hypothesis_pytestplugin")], ids=["alone", "with its own plugin"])
def test_it_times_and_explains_the_program_alone(run_session, plugins):
    session = run_session({"test_scale.py": TEST}, "--simulate-cuda", "1", *plugins)
    said = session.out.partition("short test summary info")[0]  # where CI is set, pytest repeats messages there
    explained = re.findall(r"^E? *(\S+):(\d+)$", said.partition("Explanation:")[2], re.MULTILINE)
    line = TEST.splitlines().index("        weight = torch.tensor([1.0, 2.0])") + 1
    assert explained == [(str(session.folder / "test_scale.py"), str(line))], session.out
    assert session.reports["test_of_time"]["outcome"] == "passed"
    for name in ("test_of_a_branch", "test_of_a_value"):
        assert "Expected all tensors to be on the same device" in session.reports[name]["text"]
