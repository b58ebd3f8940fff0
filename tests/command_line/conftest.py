"""Each door is driven as a process, as a person's shell does.

`python` starts one. `forked` starts a fork of a process that has imported PyTorch, which takes a tenth of the time:
for tests of what a command does, and not of how Python begins or of what it reads.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import warm

Process = subprocess.CompletedProcess[str]
# What a shell, or the run of these tests itself, might have set.
SETTINGS = (
    *("CUDA_VISIBLE_DEVICES", "RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"),
    *("PYTHONSAFEPATH", "COLUMNS", "SAMEDEVICE_GPUS", "LOCAL_WORLD_SIZE", "TORCHELASTIC_ERROR_FILE"),
)


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the commands that a test calls in this process: a lesson's exercise may have set COLUMNS."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., Process]:
    """Runs this Python in tmp_path: python("-m", "samedevice", ..., input="stdin", RANK="0")."""

    def run(*arguments: str, input: str = "", **settings: str) -> Process:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, input=input, capture_output=True, text=True, cwd=tmp_path, env=_environment(settings)
        )

    return run


@pytest.fixture
def forked(tmp_path: Path) -> Callable[..., Process]:
    """Runs forked("-m", "samedevice", ..., RANK="0") in tmp_path, with nothing to read."""

    def run(*arguments: str, **settings: str) -> Process:
        return warm.run(list(arguments), timeout=120, cwd=tmp_path, env=_environment(settings))

    return run


def _environment(settings: dict[str, str]) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return environment | {"OMP_NUM_THREADS": "1", "PYTHON_COLORS": "0", "PYTHONUTF8": "1"} | settings
