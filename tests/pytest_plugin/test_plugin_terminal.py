"""What a session prints: each cause once, with the names of the tests that it fails, in the terminal's width."""

import re

import pytest

pytestmark = pytest.mark.slow  # each asks a session of some forty failing tests

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
    assert once.out.count("More about SD001") == 2
    _, _, more = once.out.partition("And 29 more tests fail at this line with this message:")
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


@pytest.mark.parametrize("option", ["-vv", "--full-trace"])
def test_asked_for_all_it_shows_all(run_session, option):
    project = {"test_many.py": PROJECT["test_many.py"].replace("range(28)", "range(2)")}
    session = run_session(project, "--simulate-cuda", "2", option)
    assert len(blocks(session)) == 7
    assert "more tests fail" not in session.out


def test_workers_of_xdist_do_the_same(run_session):
    session = run_session(PROJECT, "--simulate-cuda", "2", "-p", "xdist", "-n", "1")
    assert len(blocks(session)) == 4
    assert "And 29 more tests fail at this line with this message:" in session.out


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("500", 100), ("20", 40)])
def test_the_diagnosis_has_the_terminals_width(once, run_session, columns, widest):
    project = {"test_many.py": PROJECT["test_many.py"].replace("range(28)", "range(1)")}
    session = once if columns == "60" else run_session(project, "--simulate-cuda", "2", COLUMNS=columns)
    said = session.reports["test_size[0]"]["said"]
    prose = [line for line in said.splitlines() if "/" not in line and not line.startswith("    ")]
    assert widest - 25 < max(map(len, prose)) <= widest
