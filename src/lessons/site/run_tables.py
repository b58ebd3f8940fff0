"""What runs wrote to results/, as tables and sentences of pages: `<!-- run: lessons -->` is where one comes.

Where nobody has made a run yet, or a lesson was changed after it, that is said: both are facts for a reader.
"""

import json
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

from lessons.measured import WAITS
from lessons.site.escaping import escaped
from lessons.site.figures import written
from samedevice.catalog import load

_PLACE = re.compile(r"<!-- run: ([\w ]+) -->")
# The columns of a suite's counts, in their order.
_SUITES = {
    "Tests": "tests",
    "Used the GPU": "used_the_gpu",
    "Passed": "passed",
    "Skipped": "skipped",
    "Fail on the CPU too": "failed_as_on_cpu",
    "A device bug found": "found_a_device_bug",
    "Another fault found": "found_another_fault",
    "Because of us": "because_of_us",
}


def with_runs(markdown: str, root: Path) -> str:
    """`markdown` with what the runs wrote in its places; `root` is the folder of results/ and notebooks/."""
    return _PLACE.sub(lambda place: _PARTS[place[1]](root), markdown)


def _lessons(root: Path) -> str:
    """Each lesson: its cells, how many of them must raise, how it stands on simulated GPUs and, once run, on real."""
    simulated, real = _run(root, "simulated"), _run(root, "gpu")
    rows = []
    for lesson in load().lessons.values():
        file = root / f"notebooks/{lesson.slug}.ipynb"
        if not file.exists():
            continue
        cells = [cell for cell in json.loads(file.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
        raising = sum("raises-exception" in cell["metadata"].get("tags", []) for cell in cells)
        name = f"[{escaped(f'{lesson.slug[:2]} · {lesson.title}')}](../notebooks/{file.name})"
        standings = [_standing(run["lessons"].get(lesson.slug), len(cells)) for run in (simulated, real) if run]
        rows.append([name, str(len(cells)), str(raising), *standings])
    kinds = [name for name, run in (("Simulated", simulated), ("Real", real)) if run]
    return _table(["Lesson", "Cells", "Must raise", *kinds], rows, numbers=(1, 2))


def _standing(lesson: dict[str, Any] | None, cells: int) -> str:
    if lesson is None:
        return "not run yet"
    if lesson["standing"] == "skipped":
        return f"skipped: {escaped(lesson['why'])}"
    stands = "passed" if lesson["passed"] else f"{len(lesson['failed'])} failed"
    return stands if lesson["cells"] == cells else f"{stands}, and was changed since"


def _total(root: Path) -> str:
    """How many cells and lessons passed on simulated GPUs, with torch and the date."""
    return _passed(_run(root, "simulated") or _missing("simulated"))


def _real(root: Path) -> str:
    """What is known of real GPUs: their names, torch, the date and what passed; or that no run was recorded."""
    run = _run(root, "gpu")
    if not run:
        return (
            "**No run on a real GPU has been recorded yet.** `make test-gpu`, on a machine with one, runs every lesson"
            " against the same stored outputs and writes `results/gpu.json`; from then on its GPU, torch and date"
            " stand here."
        )
    skipped = sum(lesson["standing"] == "skipped" for lesson in run["lessons"].values())
    left = f" Skipped for want of GPUs: {skipped}." if skipped else ""
    return f"On {escaped(', '.join(dict.fromkeys(run['gpus'])))}: {_passed(run)}.{left}"


def _real_in_short(root: Path) -> str:
    return _real(root) if _run(root, "gpu") else "No run on a real GPU has been recorded yet."


def _real_numbers(root: Path) -> str:
    """The cells of lessons that give a number which only a real GPU has, and how many still wait for one."""
    notebooks = [json.loads(path.read_text("utf-8")) for path in sorted(root.glob("notebooks/*.ipynb"))]
    outputs = [
        json.dumps(cell["outputs"])
        for notebook in notebooks
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and re.search(r"^measured\(", "".join(cell["source"]), re.M)
    ]
    waiting = sum(WAITS in output for output in outputs)
    return f"{len(outputs)} cells give times that only a real GPU has; {waiting or 'none'} of them still wait for one"


def _passed(run: dict[str, Any]) -> str:
    ran = [lesson for lesson in run["lessons"].values() if lesson["standing"] != "skipped"]
    cells, failed = sum(lesson["cells"] for lesson in ran), sum(len(lesson["failed"]) for lesson in ran)
    return (
        f"{cells - failed:,} of {cells:,} cells passed, in {len(ran)} lessons, with {escaped('torch ' + run['torch'])},"
        f" {written(run['date'])}"
    )


def _suites(root: Path) -> str:
    packages = (_run(root, "suites") or _missing("suites"))["packages"]
    rows = [
        [escaped(f"{name} {package['version']}"), *(written(package[key]) for key in _SUITES.values())]
        for name, package in packages.items()
    ]
    return _table(["Package", *_SUITES], rows, numbers=range(1, len(_SUITES) + 1))


def _suites_in_short(root: Path) -> str:
    packages = (_run(root, "suites") or _missing("suites"))["packages"].values()
    tests, passed, bugs, ours = (
        sum(package[key] for package in packages) for key in ("tests", "passed", "found_a_device_bug", "because_of_us")
    )
    return (
        f"{tests:,} tests of {len(packages)} packages; {passed:,} pass, {bugs} found a device bug of the package,"
        f" {ours} fail because of the simulation"
    )


def _run(root: Path, name: str) -> Any:
    file = root / f"results/{name}.json"
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def _missing(name: str) -> Any:
    raise PluginError(f"A page wants what a run writes to results/{name}.json, and none has written it yet.")


def _table(columns: list[str], rows: list[list[str]], numbers: Collection[int]) -> str:
    rules = ["---:" if column in numbers else "---" for column in range(len(columns))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rules, *rows))


_PARTS: dict[str, Callable[[Path], str]] = {
    "lessons": _lessons,
    "lessons in short": _total,
    "real GPUs": _real,
    "real GPUs in short": _real_in_short,
    "real numbers": _real_numbers,
    "suites": _suites,
    "suites in short": _suites_in_short,
}
