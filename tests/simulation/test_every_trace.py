"""No way to trace, to export or to compute with fake tensors ends Python; what is not simulated says so."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("every_trace.py")

# What raises, and what it says. The first is PyTorch's.
REFUSED = {
    "real tensors under FakeTensorMode": r"AssertionError: Please convert all Tensors to FakeTensors first or .*",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it forks")
def test_none_ends_python_and_each_works_or_says_why_not() -> None:
    run = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert run.returncode == 0, f"{lines[-1]} ended Python:\n{run.stderr[-2000:]}"
    assert [line for line in lines if line.startswith("ended: ")] == []
    unexpected = []
    for line in lines:
        raised = re.fullmatch("raised: (.*), (.*?): (.*)", line)
        if raised is not None and not re.fullmatch(REFUSED.get(raised[1], "-"), raised[3]):
            unexpected.append(line)
    assert unexpected == []
    assert len(lines) > 180
