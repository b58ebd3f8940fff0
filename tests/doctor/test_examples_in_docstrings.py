"""The examples in the docstrings of explain and where run and print what they say."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["diagnosis", "where", "placements"])
def test_an_example_prints_what_it_says(module):
    result = doctest.testmod(importlib.import_module(f"samedevice.doctor.{module}"))
    assert result.attempted > 0
    assert result.failed == 0
