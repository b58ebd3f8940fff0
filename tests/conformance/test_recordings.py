"""Operators and single lines answer as PyTorch's CUDA build does: its answers, replayed by tools/conformance.py.

On the torch and the kind of machine that were recorded, what differs is exactly what the list of known misses says: one
more is a fault, and one less is to be taken off the list. Another torch has other texts, and another kind of machine
other kernels, so there a share of the cases may differ.
"""

import json
import platform
import sys
import warnings
from collections import Counter

import pytest
import torch

import conformance

# How many of the cases must have the same outcome elsewhere, and how many the same answer. The questions are about what
# is hard to simulate, and about texts.
ELSEWHERE = {
    "operators": (0.995, 0.97),
    "questions": (0.93, 0.8),
    "optimizers": (0.97, 0.97),
    "modules": (0.99, 0.97),
    "dtypes": (0.98, 0.95),
}
HEADER = conformance.recording("operators")[0]
# Only PyTorch's build for the CPU says so, and so do the lists: the one for CUDA answers as recorded.
OF_THE_CPU_BUILD = "PyTorch is not linked with support for cuda devices"
AS_RECORDED = (sys.platform, platform.machine(), torch.__version__.partition("+")[0]) == (
    "linux",
    HEADER["machine"],
    HEADER["torch"].partition("+")[0],
)


# TorchDynamo compiles nearly each of its 272 questions, which takes a third of the time of all 6,568.
COMPILED = "higher_order"
COMPILED_QUESTIONS = f"questions of {COMPILED}"
# Each eighth question, in every run of `make test`; all of them are slow.
SOME_QUESTIONS = "some questions"
# test_dtypes.py asks some of the 49,000 cases of dtypes each time; test_higher_order.py tests what its questions ask.
MARKS = {"questions": pytest.mark.slow, "dtypes": pytest.mark.weekly, COMPILED_QUESTIONS: pytest.mark.weekly}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(part, marks=[MARKS[part]] if part in MARKS else [])
        for part in (*conformance.WITH_KNOWN_MISSES, COMPILED_QUESTIONS, SOME_QUESTIONS)
    ],
)
def part(request):
    return request.param


@pytest.fixture(scope="module")
def what(part):
    return "questions" if part in (COMPILED_QUESTIONS, SOME_QUESTIONS) else part


@pytest.fixture(scope="module")
def rows(what, part):
    _, rows = conformance.recording(what)
    if what != "questions":
        return rows
    rows = [row for row in rows if (row["family"] == COMPILED) == (part == COMPILED_QUESTIONS)]
    return rows[::8] if part == SOME_QUESTIONS else rows


@pytest.fixture(scope="module")
def replayed(what, rows):
    """Recorded cases beside what the simulation says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples do what is deprecated; what is answered is the point
        return list(conformance.REPLAY[what](rows))


def told(misses):
    return "\n".join(str(miss) for miss in misses[:20])


@pytest.mark.skipif(not AS_RECORDED, reason=f"recorded on Linux, {HEADER['machine']}, torch {HEADER['torch']}")
class TestAsRecorded:
    def test_no_case_differs_from_cuda_but_those_that_are_known_to(self, what, replayed):
        file = conformance.known_misses(what)
        known = set(file.read_text("utf-8").splitlines())
        # Some processors cannot compute what an out= is to be like: three questions about _scaled_mm.
        assert sum(case.simulated is None for case in replayed) <= 3
        cases = [case for case in replayed if case.simulated is not None]
        new = [case for case in cases if not case.exact and conformance.as_line(case) not in known]
        lines = "\n".join(map(conformance.as_line, new))
        assert not new, (
            f"{len(new)} cases differ from CUDA's answer, or in another way than known. Make the simulation answer as "
            f"recorded; where it cannot, put these lines into {file.name}:\n{lines}\n{told(new)}"
        )

    def test_every_known_miss_still_differs(self, what, replayed):
        file = conformance.known_misses(what)
        missed = {case.question for case in replayed if not case.exact}
        lines = file.read_text("utf-8").splitlines()
        if torch.version.cuda:
            lines = [line for line in lines if OF_THE_CPU_BUILD not in line]
        known = [(line, json.loads(line)["question"]) for line in lines]
        if what == "questions":
            asked = {case.question for case in replayed}
            known = [each for each in known if each[1] in asked]
        gone = [line for line, question in known if question not in missed]
        assert not gone, (
            f"{len(gone)} known misses now answer as CUDA does. Take these lines out of {file.name}:\n"
            + "\n".join(gone)
        )

    def test_no_error_on_one_gpu_speaks_of_the_cpu(self, what, replayed):
        if what == "dtypes":
            assert not (leaks := [case for case in replayed if case.speaks_of_the_cpu]), told(leaks)


@pytest.mark.skipif(AS_RECORDED, reason="compared case by case above")
class TestElsewhere:
    def test_what_works_on_cuda_works_and_what_fails_there_fails(self, what, replayed):
        cases = [case for case in replayed if case.simulated is not None]
        misses = [case for case in cases if not case.same_outcome]
        assert len(misses) <= (1 - ELSEWHERE[what][0]) * len(cases), told(misses)

    def test_devices_and_messages_are_those_of_cuda(self, what, replayed):
        cases = [case for case in replayed if case.simulated is not None]
        misses = [case for case in cases if not case.exact]
        assert len(misses) <= (1 - ELSEWHERE[what][1]) * len(cases), told(misses)

    def test_nearly_every_recorded_case_can_be_asked(self, replayed):
        assert sum(case.simulated is None for case in replayed) < 0.1 * len(replayed)


def test_the_recording_says_how_it_was_made(what):
    header, rows = conformance.recording(what)
    assert {"torch", "cuda", "asked", "how", "recorded", "python", "machine", "lost"} <= set(header)
    assert header["cases"] == len(rows)


def test_each_recorded_question_is_one_of_the_files_and_recorded_once():
    recorded = Counter((row["family"], row["question"]) for row in conformance.recording("questions")[1])
    assert set(recorded.values()) == {1}
    assert set(recorded) <= set(conformance.questions.questions())


def test_recordings_are_small():
    assert all(path.stat().st_size < 1e6 for path in conformance.RECORDED.glob("*.gz"))


@pytest.mark.skipif(not AS_RECORDED, reason=f"recorded on Linux, {HEADER['machine']}, torch {HEADER['torch']}")
def test_each_known_miss_is_of_a_recorded_question():
    recorded = {f"{row['family']}: {row['question']}" for row in conformance.recording("questions")[1]}
    known = {
        json.loads(line)["question"] for line in conformance.known_misses("questions").read_text("utf-8").splitlines()
    }
    assert known <= recorded
