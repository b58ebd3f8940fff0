"""Tests that fail for one cause are shown once: the first as ever, with the names of the others below its diagnosis.

A cause is one where the same line failed with the same message, and the same line is to change. Only the numbers of the
GPUs in the message may differ: a test that is parametrized over GPUs fails on each of them for one bug. The others stay
in the short summary, in the reports and in the session's counts; `-vv` and `--full-trace` show each of them.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from samedevice.doctor.report import terminal_width
from samedevice.doctor.wrapping import wrapped

if TYPE_CHECKING:
    from samedevice.doctor import Diagnosis

# Attributes of a report, which pytest-xdist hands on with the rest.
_CAUSE = "samedevice_cause"
_NAMES_A_GPU = "samedevice_names_a_gpu"
_CATEGORIES = ("error", "failed")  # in the order in which pytest prints them
_NAMED = 8  # tests; the short summary has all


def note(report: Any, diagnosis: "Diagnosis") -> None:
    """Note in a report what two failures share if they have one cause, unless the line that failed is not known."""
    place, message = diagnosis.place, diagnosis.message
    if place is None or message is None:
        return
    culprits = [(each.expression, each.cause) for each in diagnosis.culprits]
    changed = [(edit.file, edit.line) for each in diagnosis.culprits for edit in each.edits]
    texts = [edit.text for each in diagnosis.culprits for edit in each.edits]
    cause = (message.id, _on_any_gpus(diagnosis.reads), place.file, place.line, culprits, changed)
    vars(report)[_CAUSE] = repr(cause)
    vars(report)[_NAMES_A_GPU] = any(map(_GPU.search, texts))


_GPU = re.compile(r"\b[a-z]+:\d+\b")  # cuda:0


def _on_any_gpus(reads: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what a message says with its GPUs numbered as they come, so that cuda:1 and cpu is cuda:0 and cpu.

    cpu and cuda:0 stay another pair than cuda:0 and cpu, and two GPUs stay two.
    """
    gpus: dict[str, str] = {}

    def numbered(gpu: re.Match[str]) -> str:
        return gpus.setdefault(gpu[0], f"GPU {len(gpus)}")

    return [(name, _GPU.sub(numbered, text)) for name, text in sorted(reads.items())]


def show_once(stats: dict[str, list[Any]], section: str) -> dict[str, list[Any]]:
    """Leave one report for each cause, which names the others. Return what there was.

    Args:
        stats: the terminal reporter's reports by category.
        section: the title of the section that holds the diagnosis.
    """
    everything = {category: list(stats[category]) for category in _CATEGORIES if category in stats}
    reports = [report for each in everything.values() for report in each]
    alike: dict[str, list[Any]] = {}
    for report in reports:
        if cause := getattr(report, _CAUSE, ""):
            alike.setdefault(cause, []).append(report)
    hidden: set[int] = set()
    for those in alike.values():
        shown = min(those, key=_names_a_gpu)
        others = [report for report in those if report is not shown]
        hidden.update(map(id, others))
        if others:
            names = f"\n{_more(list(dict.fromkeys(report.nodeid for report in others)))}"
            shown.sections = [(title, text + names if title == section else text) for title, text in shown.sections]
    for category, each in everything.items():
        stats[category] = [report for report in each if id(report) not in hidden]
    return everything


def _names_a_gpu(report: Any) -> bool:
    """Tell whether the change to make names a GPU by its number, so that it fixes the tests on that GPU alone."""
    return getattr(report, _NAMES_A_GPU)


def _more(ids: Sequence[str]) -> str:
    count = f"{len(ids)} more tests fail" if len(ids) > 1 else "1 more test fails"
    named, rest = ids[:_NAMED], len(ids) - _NAMED
    others = f" and {rest} other{'s' * (rest > 1)}" if rest > 0 else ""
    each = "each of them" if len(ids) > 1 else "it"
    text = f"And {count} at this line for the same reason: {_short(named)}{others}. `pytest -vv` shows {each}."
    return "\n".join(wrapped(text, terminal_width(80))) + "\n"


def _short(ids: Sequence[str]) -> str:
    """Name tests without their file, and a parametrized test once: test_size[1], [2]."""
    names = [node.rpartition("::")[2].partition("[") for node in ids]
    return ", ".join(
        name + ", ".join(f"{bracket}{parameter}" for _, bracket, parameter in those)
        for name, those in groupby(names, lambda parts: parts[0])
    )
