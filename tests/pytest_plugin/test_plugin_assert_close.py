"""The commonest device error of test suites is explained where it is raised: in a session of pytest."""

import pytest

pytestmark = pytest.mark.slow  # a session of its own

PROJECT = {
    "test_one.py": """
import torch

def test_doubled():
    batch = torch.ones(2, device="cuda")
    expected = torch.tensor([2.0, 2.0])
    torch.testing.assert_close(batch * 2, expected)
""",
}


def test_assert_close_of_two_devices_is_explained(run_session):
    said = run_session(PROJECT, "--simulate-cuda", "1").reports["test_doubled"]["said"]
    assert "`assert_close` got a tensor on cuda:0 and expected one on cpu." in said
    assert "+ expected = torch.tensor([2.0, 2.0], device=batch.device)" in said
