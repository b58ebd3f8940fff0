"""A case of a wider cause is shown in its place, and counts as it."""

import pytest

from samedevice import explain
from samedevice.catalog import Possible, load

TEXT = "RuntimeError: No CUDA GPUs are available"
WIDER, CASE, ANOTHER = "no_cuda_build_or_driver", "cpu_only_build", "hardcoded_cuda"


@pytest.fixture
def with_causes(monkeypatch):
    """A function that gives the message of TEXT these causes."""

    def give(*causes):
        message = load().messages["SD067"]
        monkeypatch.setitem(vars(message), "causes", [Possible(*cause) for cause in causes])

    return give


def found():
    return [(likely.id, likely.case) for likely in explain(TEXT).causes]


def test_a_case_that_something_speaks_for_is_shown_instead_and_counts_as_both(with_causes):
    with_causes((WIDER, 2), (ANOTHER, 2.5), (CASE, 1))
    assert found() == [(WIDER, CASE), (ANOTHER, "")]


def test_a_case_that_nothing_speaks_for_is_not_shown(with_causes):
    with_causes((WIDER, 2), (ANOTHER, 2.5), (CASE, 0))
    assert found() == [(ANOTHER, ""), (WIDER, "")]


def test_a_case_has_the_reasons_of_both(with_causes):
    with_causes((WIDER, 2, {}, "There is no driver."), (CASE, 1, {}, "It is a CPU build."))
    assert explain(TEXT).causes[0].because == ("There is no driver.", "It is a CPU build.")


def test_the_fix_of_commands_is_the_commands(with_causes):
    with_causes((CASE, 1))
    likely = explain(TEXT).causes[0]
    assert likely.fix == "\n".join(likely.cause.steps)
    assert all(f"    {line}" in str(explain(TEXT)) for line in likely.fix.strip().splitlines())


def test_commands_are_whole_where_they_are_of_the_second_cause(with_causes):
    with_causes((ANOTHER, 2), (CASE, 1))
    text = explain(TEXT).more
    assert all(f"    {line}" in text for line in explain(TEXT).causes[1].fix.strip().splitlines())
