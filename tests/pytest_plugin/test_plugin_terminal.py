"""What a session prints: each cause once, with the names of the tests that it fails, in the terminal's width."""

import re
from types import SimpleNamespace

import pytest

from samedevice.doors.pytest_causes import show_once

pytestmark = pytest.mark.slow  # each but the last asks a session of some forty failing tests

PROJECT = {
    "test_many.py": """
import pytest, torch

def step(model, batch):
    return model(batch)

@pytest.mark.parametrize("size", range(28))
def test_size(size):
    step(torch.nn.Linear(3, 1).cuda(), torch.ones(2, 3))

def test_same_line():
    print("captured")
    step(torch.nn.Linear(3, 1).cuda(), torch.ones(4, 3))

class TestSame:
    def test_in_a_class(self):
        step(torch.nn.Linear(3, 1).cuda(), torch.ones(4, 3))

def test_other_line():
    weight = torch.ones(3)
    torch.ones(3, device="cuda") * weight

def test_other_message():
    step(torch.nn.Linear(3, 1).cuda(1), torch.ones(2, 3, device="cuda:0"))

def test_of_values():
    assert torch.ones(2, device="cuda").sum() == 3
""",
}


def blocks(session):
    """The tests with a block of their own below FAILURES."""
    return re.findall(r"^_{3,} (\S+) _{3,}$", session.out, re.MULTILINE)


@pytest.fixture(scope="module")
def once(run_session):
    return run_session(PROJECT, "--simulate-cuda", "2", COLUMNS="60")


def test_a_cause_is_shown_once_with_the_tests_that_it_fails(once):
    assert blocks(once) == ["test_size[0]", "test_other_line", "test_other_message", "test_of_values"]
    assert once.out.count("samedevice explain SD001") == 2
    _, _, more = once.out.partition("And 29 more tests fail at this line for the same reason:")
    names, _, _ = more.partition("____")
    assert " ".join(names.split()) == (
        "test_size[1], [2], [3], [4], [5], [6], [7], [8] and 21 others. `pytest -vv` shows each of them."
    )


def test_the_tests_stay_in_the_summary_and_in_the_reports(once):
    assert once.out.count("\nFAILED test_many.py::test_size[") == 28
    assert "33 failed" in once.out
    for name in ("test_size[27]", "test_in_a_class"):
        assert "`batch` (shape" in once.reports[name]["said"]
        assert "And 29 more" not in once.reports[name]["said"]


@pytest.mark.weekly
@pytest.mark.parametrize("option", ["-vv", "--full-trace"])
def test_asked_for_all_it_shows_all(run_session, option):
    project = {"test_many.py": PROJECT["test_many.py"].replace("range(28)", "range(2)")}
    session = run_session(project, "--simulate-cuda", "2", option)
    assert len(blocks(session)) == 7
    assert "more tests fail" not in session.out


@pytest.mark.weekly
def test_workers_of_xdist_do_the_same(run_session):
    session = run_session(PROJECT, "--simulate-cuda", "2", "-p", "xdist", "-n", "1")
    assert len(blocks(session)) == 4
    assert "And 29 more tests fail at this line for the same reason:" in session.out


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("500", 100), ("20", 40)])
def test_the_diagnosis_has_the_terminals_width(once, run_session, columns, widest):
    project = {"test_many.py": PROJECT["test_many.py"].replace("range(28)", "range(1)")}
    session = once if columns == "60" else run_session(project, "--simulate-cuda", "2", COLUMNS=columns)
    said = session.reports["test_size[0]"]["said"]
    prose = [line for line in said.splitlines() if "/" not in line and not line.startswith("    ")]
    assert widest - 25 < max(map(len, prose)) <= widest


EACH_GPU = {
    "test_gpus.py": """
import unittest

import pytest, torch

def step(model, batch):
    return model(batch)

@pytest.mark.parametrize("index", range(torch.cuda.device_count()))
def test_each_gpu(index):
    step(torch.nn.Linear(3, 1).cuda(index), torch.ones(2, 3))

class TestGpus(unittest.TestCase):
    def test_second(self):
        step(torch.nn.Linear(3, 1).cuda(1), torch.ones(2, 3))

    def test_all(self):
        for index in range(2):
            with self.subTest(index=index):
                step(torch.nn.Linear(3, 1).cuda(index), torch.ones(2, 3))
""",
    "test_pairs.py": """
import pytest, torch

def add(a, b):
    return a + b

@pytest.mark.parametrize("b", ["cpu", "cuda:0", "cuda:1"])
@pytest.mark.parametrize("a", ["cpu", "cuda:0", "cuda:1"])
def test_pair(a, b):
    add(torch.ones(3, device=a), torch.ones(3, device=b))
""",
}


@pytest.mark.parametrize("options", [("-q",), ("-p", "xdist", "-n", "1")], ids=["quiet", "xdist"])
def test_a_bug_that_shows_on_each_gpu_is_shown_once_with_a_fix_for_all_of_them(run_session, options):
    session = run_session(EACH_GPU, "--simulate-cuda", "2", *options, COLUMNS="62")
    shown = dict(re.findall(r"^_{3,} (\S+) _{3,}$(.*?)(?=^[_=]{3,} )", session.out, re.MULTILINE | re.DOTALL))
    assert [*shown] == [
        "test_each_gpu[0]",
        # The one operand is on the CPU, or the other, or they are on two GPUs: each is another bug.
        "test_pair[cpu-cuda:0]",
        "test_pair[cuda:0-cpu]",
        "test_pair[cuda:0-cuda:1]",
        "test_pair[cuda:1-cuda:0]",
    ]
    said = shown["test_each_gpu[0]"]
    assert "+ batch = batch.to(next(model.parameters()).device)" in said
    assert "And 3 more tests fail" in said
    assert "test_each_gpu[1], test_all, test_second. `pytest -vv` shows" in " ".join(said.split())


def test_of_the_tests_with_one_bug_one_is_shown_whose_fix_names_no_gpu():
    of_one_gpu, of_all = (
        SimpleNamespace(nodeid=name, sections=[], samedevice_cause="a", samedevice_names_a_gpu=names)
        for name, names in (("test[0]", True), ("test[1]", False))
    )
    stats = {"failed": [of_one_gpu, of_all]}
    show_once(stats, "said")
    assert stats["failed"] == [of_all]


@pytest.mark.parametrize("columns", range(55, 70))
def test_a_command_to_type_is_never_broken(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    first, second = (
        SimpleNamespace(nodeid=name, sections=[("said", "")], samedevice_cause="a", samedevice_names_a_gpu=False)
        for name in ("test_first", "test_second")
    )
    show_once({"failed": [first, second]}, "said")
    ((_, text),) = first.sections
    assert "`pytest -vv`" in text
    assert max(map(len, text.splitlines())) <= columns
