"""Errors from public threads: the file holds what the doctor did at first and later, and nothing that others wrote."""

import re
import tomllib
from types import SimpleNamespace

import pytest

from public_threads import THREADS, figures, said_before_the_cause, with_later
from public_threads import is_right as is_right_for

TEXT = THREADS.read_text("utf-8")
LINKED = tomllib.loads(TEXT)["threads"]


def test_there_are_at_least_sixty_lines_and_forty_reports():
    kinds = [thread["kind"] for thread in LINKED]
    assert kinds.count("line") >= 60
    assert kinds.count("report") >= 40


def test_a_thread_is_linked_and_its_text_is_not_here():
    thread = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull|discussions)/\d+")
    assert all(thread.fullmatch(each["url"]) for each in LINKED)
    outcomes = [*LINKED, *(each["later"] for each in LINKED)]
    words = {value for each in outcomes for key, value in each.items() if key not in ("url", "later")}
    assert words <= {
        *("line", "report", "one right", "one wrong", "few right", "few wrong", "none", "unshown", True, False),
        *("first", "among three", "no", "not judged", "Most likely", "Most often", ""),
    }


def test_the_figures_of_the_site_are_of_these_threads(figures_on_file):
    """Both runs are of the same threads; tools/public_threads.py writes the later one, and the figures."""
    on_file = figures_on_file("threads")
    assert {run: on_file[run] for run in ("first", "now")} == figures(TEXT)


def test_the_later_outcomes_are_written_beside_the_first_ones_which_stay():
    later = [each["later"] for each in LINKED]
    assert with_later(TEXT, later) == TEXT
    changed = tomllib.loads(with_later(TEXT, [later[0] | {"named": "few wrong"}, *later[1:]]))["threads"]
    assert changed[0] == LINKED[0] | {"later": later[0] | {"named": "few wrong"}}
    assert changed[1:] == LINKED[1:]


@pytest.mark.parametrize(
    ("name", "blamed", "is_right"),
    [
        ("batch['x']", 'batch["x"]', True),
        ("batch", 'batch["x"]', True),
        ('batch["x"]', "batch", True),
        ("self.mask", "self", False),
        ("self", "self.mask", False),
        ("batches", "batch", False),
    ],
)
def test_a_name_is_right_if_it_is_the_blamed_one_holds_it_or_is_a_part_of_it(name, blamed, is_right):
    assert is_right_for(name, blamed) == is_right


def test_alternatives_have_no_words_before_a_first_cause():
    def diagnosis(**differs):
        cause, message = SimpleNamespace(because=()), SimpleNamespace(base="mixed-devices")
        about = {"message": message, "causes": (cause,), "culprits": (), "candidates": ()}
        return SimpleNamespace(**about | differs)

    assert said_before_the_cause(diagnosis()) == "Most often"
    assert said_before_the_cause(diagnosis(message=SimpleNamespace(base=""))) == "Most likely"
    assert said_before_the_cause(diagnosis(culprits=("x", "y"), candidates=("x", "y"))) == ""
    assert said_before_the_cause(diagnosis(causes=())) == ""
