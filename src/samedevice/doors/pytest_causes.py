"""Tests that fail for one cause are shown once: the first as ever, with the names of the others below its diagnosis.

A cause is one where the same line failed with the same message, and the same line is to change. The others stay in the
short summary, in the reports and in the session's counts; `-vv` and `--full-trace` show each of them.
"""

import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from samedevice.doctor.report import terminal_width

if TYPE_CHECKING:
    from samedevice.doctor import Diagnosis

_CAUSE = "samedevice_cause"  # an attribute of a report, which pytest-xdist hands on with the rest
_CATEGORIES = ("error", "failed")  # in the order in which pytest prints them
_NAMED = 8  # tests; the short summary has all


def note(report: Any, diagnosis: "Diagnosis") -> None:
    """Note in a report what two failures share if they have one cause, unless the line that failed is not known."""
    place, message = diagnosis.place, diagnosis.message
    if place is None or message is None:
        return
    culprits = [(each.expression, each.cause) for each in diagnosis.culprits]
    changed = [(edit.file, edit.line) for each in diagnosis.culprits for edit in each.edits]
    cause = (message.id, sorted(diagnosis.reads.items()), place.file, place.line, culprits, changed)
    vars(report)[_CAUSE] = repr(cause)


def show_once(stats: dict[str, list[Any]], section: str) -> dict[str, list[Any]]:
    """Leave one report for each cause, which names the others. Return what there was.

    Args:
        stats: the terminal reporter's reports by category.
        section: the title of the section that holds the diagnosis.
    """
    everything = {category: list(stats[category]) for category in _CATEGORIES if category in stats}
    reports = [report for each in everything.values() for report in each]
    first: dict[str, Any] = {}
    others: dict[str, list[pytest.TestReport]] = {}
    for report in reports:
        cause = getattr(report, _CAUSE, "")
        if cause and first.setdefault(cause, report) is not report:
            others.setdefault(cause, []).append(report)
    hidden = {id(report) for each in others.values() for report in each}
    for category, each in everything.items():
        stats[category] = [report for report in each if id(report) not in hidden]
    for cause, repeated in others.items():
        names = f"\n{_more([report.nodeid for report in repeated])}"
        shown = first[cause]
        shown.sections = [(title, text + names if title == section else text) for title, text in shown.sections]
    return everything


def _more(ids: Sequence[str]) -> str:
    count = f"{len(ids)} more tests fail" if len(ids) > 1 else "1 more test fails"
    named, rest = ids[:_NAMED], len(ids) - _NAMED
    others = f" and {rest} other{'s' * (rest > 1)}" if rest > 0 else ""
    each = "each of them" if len(ids) > 1 else "it"
    text = f"And {count} at this line with this message: {_short(named)}{others}. `pytest -vv` shows {each}."
    return "\n".join(textwrap.wrap(text, terminal_width(80), break_long_words=False, break_on_hyphens=False)) + "\n"


def _short(ids: Sequence[str]) -> str:
    """Name tests without their file, and a parametrized test once: test_size[1], [2]."""
    names = [node.rpartition("::")[2].partition("[") for node in ids]
    return ", ".join(
        name + ", ".join(f"{bracket}{parameter}" for _, bracket, parameter in those)
        for name, those in groupby(names, lambda parts: parts[0])
    )
