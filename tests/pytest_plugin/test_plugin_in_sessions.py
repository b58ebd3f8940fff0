"""A session with --simulate-cuda: who sees the GPUs, what a failing test says, and that workers do the same."""

import re

import pytest

PROJECT = {
    "conftest.py": """
import pytest, torch

import samedevice.doctor

SEEN = torch.cuda.device_count()  # earlier than any hook of a conftest.py

def pytest_configure():
    assert torch.cuda.device_count() == 2

def pytest_unconfigure():
    assert torch.cuda.device_count() == 2

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item):
    with pytest.MonkeyPatch.context() as patch:
        if item.name == "test_doctor_has_a_fault":
            patch.setattr(samedevice.doctor, "explain", lambda error: 1 / 0)
        return (yield)
""",
    "test_passes.py": """
import unittest

import pytest, torch
from conftest import SEEN

COUNT = torch.cuda.device_count()
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

@needs_gpu
def test_conftest_saw_them():
    assert SEEN == 2

@pytest.mark.parametrize("device", [f"cuda:{index}" for index in range(COUNT)])
def test_each(device):
    assert str(torch.ones(2, device=device).device) == device

@pytest.mark.gpus(n=2)
def test_two():
    assert torch.cuda.device_count() == 2

@pytest.mark.gpus(3)
def test_three():
    pass

@pytest.mark.gpus(2)
def test_two_devices(simulated_cuda):
    assert simulated_cuda == [torch.device("cuda:0"), torch.device("cuda:1")]

def test_one_device(simulated_cuda):
    assert simulated_cuda == [torch.device("cuda:0")]

class TestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.weight = torch.ones(2, device="cuda")

    @unittest.skipUnless(torch.cuda.is_available(), "needs a GPU")
    def test_of_unittest(self):
        self.assertEqual((self.weight + 1).sum().item(), 4)
""",
    "test_fails.py": """
import unittest

import pytest, torch

def run(model, batch):
    return model(batch)

def test_call():
    run(torch.nn.Linear(3, 1).to("cuda:1"), torch.ones(2, 3))

def test_assertion():
    batch = torch.ones(2)
    assert (torch.ones(2, device="cuda") + batch).sum() == 4

@pytest.fixture
def before():
    batch = torch.ones(2)
    torch.ones(2, device="cuda") + batch

def test_setup(before):
    pass

@pytest.fixture
def after():
    yield
    batch = torch.ones(2)
    torch.ones(2, device="cuda") + batch

def test_teardown(after):
    pass

class TestCase(unittest.TestCase):
    def test_of_unittest_fails(self):
        batch = torch.ones(2)
        torch.ones(2, device="cuda") + batch

    def test_of_subtests(self):
        with self.subTest("first"):
            batch = torch.ones(2)
            torch.ones(2, device="cuda") + batch

def test_doctor_has_a_fault():
    batch = torch.ones(2)
    torch.ones(2, device="cuda") + batch

def test_of_values():
    assert torch.ones(2, device="cuda").sum() == 3

def test_of_a_class():
    x = torch.ones(2, device="cuda")
    if type(x) is not torch.Tensor:
        raise ValueError("Expected x to be of type Tensor")

@pytest.mark.xfail(strict=True)
def test_expected():
    torch.ones(2, device="cuda") + torch.ones(2)

def example():
    '''
    >>> batch = torch.ones(2)
    >>> 1 + 1
    3
    >>> torch.ones(2, device="cuda") + batch
    '''
""",
    "test_import.py": """
import torch

batch = torch.ones(2)
torch.ones(2, device="cuda") + batch
""",
}
TWO_DEVICES = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
)
# In the process of pytest.main, which goes on when the session has ended.
MAIN = """
import pytest

pytest.main()
import samedevice, torch

print("after it:", torch.cuda.device_count())
with samedevice.simulate_cuda(2):
    pytest.main(["-p", "samedevice", "--simulate-cuda", "1", "--pdb", "test_fails.py::test_assertion"])
    pytest.main(["-p", "samedevice", "--simulate-cuda", "3"])
"""
DEBUGGER = "p 'batch has', batch.shape\nq\n"
DOCTESTS = ("--doctest-modules", "--doctest-continue-on-failure")
OPTIONS = ("--simulate-cuda", "2", "--continue-on-collection-errors", *DOCTESTS)


@pytest.fixture(scope="module")
def session(run_session):
    return run_session(PROJECT, *OPTIONS, start=("-c", MAIN), typed=DEBUGGER)


@pytest.mark.slow
def test_conftest_imports_skips_parametrize_and_setupclass_see_the_gpus(session):
    for name in ("test_conftest_saw_them", "test_each[cuda:0]", "test_each[cuda:1]", "test_of_unittest"):
        assert session.reports[name]["outcome"] == "passed", session


def test_it_says_so_in_one_line_and_ends_with_the_session(session):
    out, after, _ = session.out.partition("after it: 0\n")
    said = [line for line in out.splitlines() if line.startswith("samedevice:")]
    assert said == ["samedevice: 2 simulated GPUs, on the CPU."]
    assert after


def test_inside_another_simulation_it_joins_that(session):
    joined = session.out.partition("after it:")[2]
    assert "samedevice: 2 simulated GPUs, on the CPU.\n" in joined
    (error,) = session.err.strip().splitlines()
    assert error.startswith("ERROR: --simulate-cuda 3: a simulation of 2 GPU(s) is running")


def test_a_debugger_begins_at_the_programs_own_line(session):
    assert "(Pdb) ('batch has', torch.Size([2]))" in session.out


def test_marker_and_fixture_take_the_sessions_gpus(session):
    for name in ("test_two", "test_two_devices", "test_one_device"):
        assert session.reports[name]["outcome"] == "passed", session
    report = session.reports["test_three, setup"]
    assert report["outcome"] == "skipped"
    assert "needs 3 GPUs, and this session has 2 simulated GPUs" in report["text"]
    assert "test_passes.py" in report["text"]


@pytest.mark.parametrize(
    "name",
    [
        "test_assertion",
        "test_setup, setup",
        "test_teardown, teardown",
        "test_of_unittest_fails",
        "test_of_subtests",
        "test_import.py, collect",
    ],
)
def test_a_device_error_is_diagnosed_wherever_it_is_raised(session, name):
    report = session.reports[name]
    assert report["outcome"] == "failed"
    assert TWO_DEVICES in report["text"]
    assert "`batch` (shape (2,)) is on cpu" in report["said"]


def test_a_device_error_of_a_doctest_is_diagnosed(session):
    report = session.reports["test_fails.example"]
    assert TWO_DEVICES in report["text"]
    first, second = report["said"].splitlines()[:2]
    line = PROJECT["test_fails.py"].splitlines().index('    >>> torch.ones(2, device="cuda") + batch') + 1
    assert first == f"{session.folder / 'test_fails.py'}, line {line}, in the doctest test_fails.example"
    assert second == '    torch.ones(2, device="cuda") + batch'
    assert "`batch` is on cpu." in report["said"]  # doctest has forgotten its values
    assert "More: samedevice explain SD002" in report["said"]


def test_the_traceback_ends_as_on_cuda_and_the_diagnosis_stands_below_it(session):
    report = session.reports["test_call"]
    assert "linear.py" in report["text"]
    assert "simulation" not in report["text"]
    assert "`batch` (shape (2, 3)) is on cpu" in report["said"]
    shown = session.out.partition("_ test_call _")[2]
    assert re.search(r"linear\.py:\d+: RuntimeError\n-+ samedevice -+\n" + re.escape(report["said"]), shown)


def test_another_failure_and_an_expected_one_have_no_diagnosis(session):
    assert session.reports["test_of_values"]["outcome"] == "failed"
    assert session.reports["test_of_values"]["said"] is None
    assert session.reports["test_expected"]["outcome"] == "skipped"
    assert session.reports["test_expected"]["said"] is None


def test_a_test_for_the_very_class_of_a_tensor_is_named_as_a_known_difference(session):
    said = session.reports["test_of_a_class"]["said"]
    assert "a known difference of the simulation: `type(x) is not torch.Tensor` compares" in " ".join(said.split())


def test_a_fault_of_the_doctors_hides_nothing(session):
    report = session.reports["test_doctor_has_a_fault"]
    assert report["outcome"] == "failed"
    assert TWO_DEVICES in report["text"]
    assert "ZeroDivisionError: division by zero" in report["said"]


@pytest.mark.slow
def test_from_addopts_workers_of_xdist_do_the_same_with_the_gpus_that_are_visible(session, run_session):
    project = PROJECT | {"pytest.ini": f"[pytest]\naddopts = {' '.join(OPTIONS)} --simulate-cuda 3\n"}
    parallel = run_session(project, "-p", "xdist", "-n", "1", CUDA_VISIBLE_DEVICES="0,1")
    said = "samedevice: 3 simulated GPUs, on the CPU, 1 of them hidden by CUDA_VISIBLE_DEVICES='0,1'.\n"
    assert parallel.out.count(said) == parallel.out.count("samedevice:") == 1
    assert results(parallel) == results(session)


def results(session):
    folder = re.search("^rootdir: (.*)$", session.out, re.MULTILINE)[1]
    return {name: (one["outcome"], (one["said"] or "").replace(folder, "")) for name, one in session.reports.items()}
