"""A pytest plugin for tools/suites.py: notes of each test whether it put a tensor on a simulated GPU, and seeds it.

Many suites do not skip a test where there is no GPU: they leave out a part of it. So it is not the skips that are gone
which tell how many tests the simulation has reached. And tests that draw numbers without a seed of their own must draw
the same ones without and with it, or the two runs could not be compared.
"""

import random

import numpy as np
import pytest
import torch

_before = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
        item.stash[_before] = torch.cuda.memory_allocated()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    # The report of the teardown, which junitxml reads, is made after this.
    if torch.cuda.is_available() and torch.cuda.max_memory_allocated() > item.stash.get(_before, 0):
        item.user_properties.append(("used_gpu", "yes"))
