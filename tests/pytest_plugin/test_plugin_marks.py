"""The marker `gpus` and the fixture `simulated_cuda`, on a machine that seems to have one real GPU."""

import pytest

PROJECT = {
    "conftest.py": """
import pytest, torch

from samedevice.simulation.device import devices

torch.cuda.device_count = lambda: 1

@pytest.fixture(autouse=True)
def count(record_property):
    record_property("simulated", devices.installed())
""",
    "test_marks.py": """
import unittest

import pytest, torch

@pytest.mark.gpus(1)
def test_one():
    pass

@pytest.mark.gpus(2)
def test_two():
    pass

@pytest.mark.gpus(1)
def test_one_or_simulated(simulated_cuda):
    assert simulated_cuda == [torch.device("cuda:0")]

@pytest.mark.gpus(2)
def test_two_or_simulated(simulated_cuda):
    assert simulated_cuda == [torch.device("cuda:0"), torch.device("cuda:1")]

def test_fixture(simulated_cuda):
    assert torch.ones(1, device=simulated_cuda[0]).is_cuda

def test_fixture_late(request):
    request.getfixturevalue("simulated_cuda")
    assert torch.ones(1, device="cuda").is_cuda

def test_unmarked():
    pass

@pytest.mark.gpus(2)
@pytest.mark.usefixtures("simulated_cuda")
class TestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.weight = torch.ones(1, device="cuda:1")

    @classmethod
    def tearDownClass(cls):
        cls.weight + torch.ones(1, device="cuda:1")

    def test_case(self):
        self.assertEqual((self.weight + 1).item(), 2)

    def test_case_again(self):
        self.assertEqual((self.weight + 1).item(), 2)

@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.gpus(2))])
def test_parameter(number):
    pass

@pytest.mark.gpus("two")
def test_wrong():
    pass
""",
}
# Three sessions in one process.
MAIN = """
import os, pathlib, pytest

for choice in ("neither", "simulated", "real"):
    if choice != "neither":
        os.environ["SAMEDEVICE_GPUS"] = choice
    print(choice + ":")
    pytest.main(["-p", "samedevice", *(["--simulate-cuda", "2"] if choice == "real" else [])])
    pathlib.Path("reports.jsonl").rename(choice)
"""
TWO_OF_ONE = "needs 2 GPUs, and this machine has 1"


@pytest.fixture(scope="module")
def session(run_session):
    return run_session(PROJECT, start=("-c", MAIN))


def outcomes(session, choice):
    """By test: how many GPUs were simulated when it passed, or why it was skipped."""
    found = {}
    for name, report in session.kept_in(choice).items():
        assert report["outcome"] != "failed" or name == "test_wrong, setup", session
        if report["outcome"] == "passed":
            found[name] = report["simulated"]
        elif report["outcome"] == "skipped":
            found[name.removesuffix(", setup")] = report["text"].partition("Skipped: ")[2].strip("')")
    return found


@pytest.mark.slow
def test_real_gpus_where_there_are_enough_else_simulated_where_the_fixture_allows_else_skipped(session):
    assert outcomes(session, "neither") == {
        "test_one": 0,
        "test_two": f"{TWO_OF_ONE}; pytest --simulate-cuda 2 simulates them",
        "test_one_or_simulated": 0,
        "test_two_or_simulated": 2,
        "test_fixture": 1,
        "test_fixture_late": 0,  # it began in the test
        "test_unmarked": 0,
        "test_case": 2,
        "test_case_again": 2,
        "test_parameter[1]": 0,
        "test_parameter[2]": f"{TWO_OF_ONE}; pytest --simulate-cuda 2 simulates them",
    }
    assert "samedevice:" not in session.out.partition("real:\n")[0]
    wrong = session.kept_in("neither")["test_wrong, setup"]["text"]
    assert wrong == "@pytest.mark.gpus takes the number of GPUs that the test needs, 1 to 16: gpus(2)."


def test_simulated_forbids_real_gpus(session):
    found = outcomes(session, "simulated")
    assert found["test_one"] == found["test_one_or_simulated"] == 1
    assert found["test_two"] == found["test_parameter[2]"] == 2
    assert found["test_unmarked"] == 0


def test_real_forbids_simulated_gpus_and_the_option(session):
    found = outcomes(session, "real")
    assert found["test_one"] == found["test_one_or_simulated"] == found["test_unmarked"] == 0
    for name in ("test_two", "test_two_or_simulated", "test_case"):
        assert found[name] == f"{TWO_OF_ONE}; SAMEDEVICE_GPUS=real forbids simulated ones"
    assert "SAMEDEVICE_GPUS=real forbids simulated ones" in found["test_fixture"]
    assert "samedevice: no simulated GPUs, as SAMEDEVICE_GPUS=real forbids --simulate-cuda." in session.out
