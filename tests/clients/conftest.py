"""Real libraries on simulated GPUs, unmodified: `make test-clients`, in a virtual environment of their own.

Models are tiny, built from configurations with random weights; nothing is downloaded. The texts of PyTorch's errors are
those that its CUDA build gives for the same lines.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from samedevice import simulate_cuda

# Read by the libraries when they are imported, which is later.
os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_PROGRESS_BARS="1", HF_DATASETS_OFFLINE="1")

HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make test` has none of the libraries: collect only where the command names this folder."""
    named = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    return None if any(path.is_relative_to(HERE) for path in named) else True


@pytest.fixture(autouse=True)
def two_gpus(request: pytest.FixtureRequest) -> Iterator[None]:
    """Two simulated GPUs, or as many as @pytest.mark.parametrize("two_gpus", [1], indirect=True) says."""
    torch.set_num_threads(1)
    with simulate_cuda(devices=getattr(request, "param", 2)):
        yield
    torch.use_deterministic_algorithms(False)  # Lightning sets it, and leaves it so
