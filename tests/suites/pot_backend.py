"""A pytest plugin with what POT's test/conftest.py gives its tests, for torch: the sdist lacks that file.

The fixture nx is a backend, and two markers skip a test for a backend. None of the tests that are run skip torch.
"""

import functools
from collections.abc import Callable
from typing import Any

import pytest
from ot.backend import TorchBackend


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "nx" in metafunc.fixturenames:
        metafunc.parametrize("nx", [TorchBackend()], ids=["torch"])


def pytest_configure() -> None:
    pytest.skip_arg = _skip_arg
    pytest.skip_backend = functools.partial(_skip_arg, "nx", getter=str)


def _skip_arg(
    names: Any, values: Any, reason: str | None = None, getter: Any = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda test: test
