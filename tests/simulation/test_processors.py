"""CUDA's answers do not depend on the processor that computes here, as the words of PyTorch's kernels for it do.

Each setting is a process of its own, since PyTorch and oneDNN look once at what the processor can do.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What oneDNN may use (ONEDNN_MAX_CPU_ISA), and PyTorch's own kernels (ATEN_CPU_CAPABILITY). A processor that has less
# than a setting allows uses what it has.
SETTINGS = [
    {"ONEDNN_MAX_CPU_ISA": "SSE41"},
    pytest.param({"ONEDNN_MAX_CPU_ISA": "AVX2"}, marks=pytest.mark.weekly),
    pytest.param({"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"}, marks=pytest.mark.weekly),
    pytest.param({"ATEN_CPU_CAPABILITY": "default"}, marks=pytest.mark.weekly),
]
ASKED = ("tests/simulation/rules", "tests/conformance/test_dtypes.py::test_every_two_dtypes_answer_as_on_cuda")


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: " ".join(setting.values()))
def test_rules_and_dtypes_answer_the_same_on_a_processor_that_can_do_less(setting: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", *ASKED]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "2"} | setting, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-3000:]
    assert " passed" in run.stdout
