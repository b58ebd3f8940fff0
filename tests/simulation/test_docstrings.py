"""The examples in samedevice's docstrings run and print what they say."""

import doctest

from samedevice.simulation import session


def test_the_example_of_simulate_cuda_prints_what_it_says() -> None:
    result = doctest.testmod(session)
    assert result.attempted > 0
    assert result.failed == 0
