"""Programs that no line of theirs mends for certain: the culprit and the cause are right, and nothing is changed.

Each file of advised_programs/ begins with the culprits and the causes that are right. What to do is told in words: to
choose another device, to give the process group another backend, to run an encoder outside of the workers.
"""

import os
from pathlib import Path

import pytest
import torch

from real_programs import is_of, labels, outcome
from samedevice import explain, simulate_cuda

PROGRAMS = sorted(Path(__file__).with_name("advised_programs").glob("*.py"))


@pytest.mark.filterwarnings("ignore")  # of the programs' own
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_the_culprit_is_named_and_no_line_is_changed(program):
    culprits, causes = labels(program)
    if "fork_cuda" in causes and not hasattr(os, "fork"):
        pytest.skip("needs fork")
    diagnosis = outcome(program)
    assert diagnosis is not None
    assert diagnosis.culprits
    first = diagnosis.culprits[0]
    assert is_of(first.expression, culprits), first
    assert {first.case, first.cause} & causes, first
    assert first.fix
    assert first.edits == ()


def describe(row):
    values = torch.tensor(row).to("cuda")
    return float(values.sum())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_of_a_pool_the_line_is_named_that_its_process_ran():
    with simulate_cuda(devices=2):
        mean = describe([1.0])
        with torch.multiprocessing.get_context("fork").Pool(1) as pool:
            try:
                pool.map(describe, [[mean]])
            except RuntimeError as error:
                (culprit,) = explain(error).culprits
                error.__traceback__ = None
    assert (culprit.expression, culprit.cause, culprit.edits) == ('torch.tensor(row).to("cuda")', "fork_cuda", ())
    assert 'set_start_method("spawn")' in culprit.fix
