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
from samedevice.doors import where_they_fail

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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("program", "edits"),
    [
        ("advised_programs/encoder_in_a_worker.py", []),
        (
            "self_checking_programs/features_read_to_the_gpu.py",
            ['self.features = torch.load(path, map_location="cpu")'],
        ),
    ],
)
def test_of_a_worker_the_same_is_found_in_its_own_frames(monkeypatch, program, edits):
    """As `samedevice run` does, which explains an error where it fails."""
    wrapper = torch._utils.ExceptionWrapper
    monkeypatch.setattr(wrapper, "__init__", wrapper.__init__)  # taken back at the end
    where_they_fail._patch_wrapper(torch._utils)
    file = Path(__file__).parent / program
    culprits, causes = labels(file)
    first = outcome(file).culprits[0]
    assert is_of(first.expression, culprits)
    assert first.cause in causes
    assert [edit.text for edit in first.edits] == edits
