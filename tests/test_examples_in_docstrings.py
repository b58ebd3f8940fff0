"""The examples in docstrings run and print what they say."""

import doctest
import importlib

import pytest

MODULES = [
    "doctor.explanation",
    "introspect.classes",
    "introspect.exceptions",
    "introspect.expressions",
    "placement.placements",
    "plurals",
    "placement.where",
]


@pytest.mark.parametrize("module", MODULES)
def test_an_example_prints_what_it_says(module):
    result = doctest.testmod(importlib.import_module(f"samedevice.{module}"))
    assert result.attempted > 0
    assert result.failed == 0
