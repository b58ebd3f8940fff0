"""Operators answer as PyTorch's CUDA build does: its recorded answers, replayed by tools/conformance.py.

A failing test names the first misses; `python tools/conformance.py --show 50` shows more.
"""

import warnings

import pytest

import conformance

OUTCOME, EXACT = 0.995, 0.97  # of the cases; see tools/conformance.py


@pytest.fixture(scope="module")
def replayed():
    """Recorded cases beside what the simulation says; None for a sample that this version of torch makes otherwise."""
    _, rows = conformance.recording("operators")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples do what is deprecated; what is answered is the point
        return list(conformance.replay_operators(rows))


def told(misses):
    return "\n".join(str(miss) for miss in misses[:20])


def test_what_works_on_cuda_works_and_what_fails_there_fails(replayed):
    cases = [case for case in replayed if case]
    misses = [case for case in cases if not case.same_outcome]
    assert len(misses) <= (1 - OUTCOME) * len(cases), told(misses)


def test_devices_and_messages_are_those_of_cuda(replayed):
    cases = [case for case in replayed if case]
    misses = [case for case in cases if not case.exact]
    assert len(misses) <= (1 - EXACT) * len(cases), told(misses)


def test_nearly_every_recorded_case_can_be_asked(replayed):
    assert replayed.count(None) < 0.1 * len(replayed)


def test_the_recording_says_how_it_was_made():
    header, rows = conformance.recording("operators")
    assert {"torch", "cuda", "asked", "how", "recorded", "python", "machine", "lost"} <= set(header)
    assert header["cases"] == len(rows)


def test_recordings_are_small():
    assert all(path.stat().st_size < 1e6 for path in conformance.RECORDED.glob("*.gz"))
