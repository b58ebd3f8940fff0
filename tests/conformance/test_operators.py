"""Operators answer as PyTorch's CUDA build does: its recorded answers, replayed by tools/conformance.py.

On the torch and the kind of machine that were recorded, what differs is exactly what the list of known misses says: one
more is a fault, and one less is to be taken off the list. Another torch has other texts, and another kind of machine
other kernels, so there a share of the cases may differ.
"""

import json
import platform
import sys
import warnings

import pytest
import torch

import conformance

HEADER, ROWS = conformance.recording("operators")
AS_RECORDED = (sys.platform, platform.machine(), torch.__version__.partition("+")[0]) == (
    "linux",
    HEADER["machine"],
    HEADER["torch"].partition("+")[0],
)
OUTCOME, EXACT = 0.995, 0.97  # of the cases, elsewhere


@pytest.fixture(scope="module")
def replayed():
    """Recorded cases beside what the simulation says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples do what is deprecated; what is answered is the point
        return list(conformance.replay_operators(ROWS))


def told(misses):
    return "\n".join(str(miss) for miss in misses[:20])


@pytest.mark.skipif(not AS_RECORDED, reason=f"recorded on Linux, {HEADER['machine']}, torch {HEADER['torch']}")
class TestAsRecorded:
    def test_no_case_differs_from_cuda_but_those_that_are_known_to(self, replayed):
        known = set(conformance.known_misses().read_text("utf-8").splitlines())
        new = [case for case in replayed if not case.exact and conformance.as_line(case) not in known]
        lines = "\n".join(map(conformance.as_line, new))
        assert not new, (
            f"{len(new)} cases differ from CUDA's answer, or in another way than known. Make the simulation answer as "
            f"recorded; where it cannot, put these lines into {conformance.known_misses().name}:\n{lines}\n{told(new)}"
        )

    def test_every_known_miss_still_differs(self, replayed):
        missed = {case.question for case in replayed if not case.exact}
        lines = conformance.known_misses().read_text("utf-8").splitlines()
        gone = [line for line in lines if json.loads(line)["question"] not in missed]
        assert not gone, (
            f"{len(gone)} known misses now answer as CUDA does. Take these lines out of "
            f"{conformance.known_misses().name}:\n" + "\n".join(gone)
        )


@pytest.mark.skipif(AS_RECORDED, reason="compared case by case above")
class TestElsewhere:
    def test_what_works_on_cuda_works_and_what_fails_there_fails(self, replayed):
        cases = [case for case in replayed if case.simulated is not None]
        misses = [case for case in cases if not case.same_outcome]
        assert len(misses) <= (1 - OUTCOME) * len(cases), told(misses)

    def test_devices_and_messages_are_those_of_cuda(self, replayed):
        cases = [case for case in replayed if case.simulated is not None]
        misses = [case for case in cases if not case.exact]
        assert len(misses) <= (1 - EXACT) * len(cases), told(misses)

    def test_nearly_every_recorded_case_can_be_asked(self, replayed):
        assert sum(case.simulated is None for case in replayed) < 0.1 * len(replayed)


def test_the_recording_says_how_it_was_made():
    assert {"torch", "cuda", "asked", "how", "recorded", "python", "machine", "lost"} <= set(HEADER)
    assert HEADER["cases"] == len(ROWS)


def test_recordings_are_small():
    assert all(path.stat().st_size < 1e6 for path in conformance.RECORDED.glob("*.gz"))
