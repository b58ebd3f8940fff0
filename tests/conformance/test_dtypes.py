"""Operators of any dtype answer as on CUDA, on every processor: some of what test_recordings.py asks in full."""

import itertools
import json
import warnings

import pytest
import torch

import conformance
from record.dtypes import PAIRS, name_of

HEADER, ROWS = conformance.recording("dtypes")
CONVOLUTIONS = [name for name in PAIRS if name.startswith("conv")]


@pytest.fixture(scope="module")
def replayed():
    """Each eighth case, and all of convolutions, whose CPU kernels depend on the processor."""
    chosen = [row for at, row in enumerate(ROWS) if at % 8 == 0 or (row["kind"], row["of"]) == ("pair", "conv2d")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples do what is deprecated
        return list(conformance.replay_dtypes(chosen))


@pytest.mark.skipif(
    HEADER["torch"].partition("+")[0] != torch.__version__.partition("+")[0], reason=f"recorded on {HEADER['torch']}"
)
def test_no_case_differs_from_cuda_but_those_that_are_known_to(replayed):
    known = set(conformance.known_misses("dtypes").read_text("utf-8").splitlines())
    new = [case for case in replayed if not case.exact and conformance.as_line(case) not in known]
    assert not new, "\n".join(map(str, new[:20]))


def test_no_error_on_one_gpu_speaks_of_the_cpu_where_cuda_does_not(replayed):
    assert not (leaks := [case for case in replayed if case.speaks_of_the_cpu]), "\n".join(map(str, leaks[:20]))


def test_convolutions_were_asked_with_every_two_of_twelve_dtypes():
    twelve = {tuple(row["dtypes"]) for row in ROWS if row["kind"] == "pair" and row["of"] == "conv2d, depthwise"}
    names = [name_of(dtype) for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64)]
    assert twelve >= set(itertools.permutations(names, 2)), json.dumps(sorted(twelve))
    assert len(CONVOLUTIONS) > 10
