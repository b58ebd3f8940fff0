"""Programs that look at what they have done: their first fix has to be right, and not only to end the error.

Each file of self_checking_programs/ begins with the culprits and the causes that are right. Its `main` fails on
simulated GPUs, and asserts after the fix that averages were updated, that dtypes are what they were, that no device is
written into a function, and that the CPU still works. Some load checkpoints, run in a process group, call a library,
use the workers of a DataLoader or spread a model over two GPUs.
"""

from pathlib import Path

import pytest

from real_programs import judged

PROGRAMS = sorted(Path(__file__).with_name("self_checking_programs").glob("*.py"))


@pytest.mark.filterwarnings("ignore")  # of the programs' own
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_the_first_fix_is_right(program, tmp_path):
    judgement = judged(program, tmp_path)
    assert (judgement.culprit, judgement.cause, judgement.fix) == (True, True, True), judgement.said
