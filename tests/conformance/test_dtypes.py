"""Operators of any dtype answer as on CUDA, on every processor: some of what test_recordings.py asks in full."""

import itertools
import warnings

import pytest
import torch

import conformance
from record.dtypes import TWELVE, name_of

HEADER, ROWS = conformance.recording("dtypes")
AS_RECORDED = pytest.mark.skipif(
    HEADER["torch"].partition("+")[0] != torch.__version__.partition("+")[0], reason=f"recorded on {HEADER['torch']}"
)


def asked(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples do what is deprecated
        return list(conformance.replay_dtypes(rows))


def differing(cases):
    known = set(map(without_backends, conformance.known_misses("dtypes").read_text("utf-8").splitlines()))
    return [case for case in cases if not case.exact and without_backends(conformance.as_line(case)) not in known]


def without_backends(line):
    """A known miss without the list of backends at its end, which is that of the build of torch that is installed."""
    return line.partition(" is only available for these backends")[0]


@pytest.fixture(scope="module")
def replayed():
    """Each eighth case, and all of one convolution, whose CPU kernels depend on the processor."""
    return asked([row for at, row in enumerate(ROWS) if at % 8 == 0 or row["of"] == "conv2d, depthwise"])


@AS_RECORDED
def test_no_case_differs_from_cuda_but_those_that_are_known_to(replayed):
    assert not (new := differing(replayed)), "\n".join(map(str, new[:20]))


@AS_RECORDED
@pytest.mark.slow
def test_every_two_dtypes_answer_as_on_cuda():
    """What test_processors.py asks of each processor: convolutions, products, layers and attention."""
    replayed = asked([row for row in ROWS if row["kind"] == "pair"])
    assert not (new := differing(replayed)), "\n".join(map(str, new[:20]))
    assert len(replayed) > 7000


def test_no_error_on_one_gpu_speaks_of_the_cpu_where_cuda_does_not(replayed):
    assert not (leaks := [case for case in replayed if case.speaks_of_the_cpu]), "\n".join(map(str, leaks[:20]))


def test_convolutions_and_products_were_asked_with_every_two_of_twelve_dtypes():
    names = [name_of(dtype) for dtype in TWELVE]
    for name in ("conv2d, depthwise", "linear with a bias", "LSTM", "attention with a mask"):
        there = {tuple(row["dtypes"]) for row in ROWS if row["kind"] == "pair" and row["of"] == name}
        assert len(there & set(itertools.product(names, names))) > 100, name  # but for what only a GPU can answer
