"""Tables and sentences of pages, from what runs wrote to results/: `{{ runs.lessons() }}` puts one into a page.

They say if nobody has made a run yet, or if a lesson was changed after it: both are facts for a reader.
"""

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from lessons.measured import SIMULATED
from results import digest_of_code
from samedevice.catalog import load
from site_build.build_error import BuildError
from site_build.escaping import escaped
from site_build.figures import written

# What a rival can do, and what the table calls it.
_ABILITIES = {
    "computes_values": "Computes values",
    "calls_it_cuda": "The device is `cuda:0`",
    "takes_a_module": "Takes a module that exists",
    "refuses_a_batch_on_the_cpu": "Its layer refuses a batch on the CPU",
    "trains": "A step of training changes weights",
    "runs_a_script_unchanged": "Runs a script that says `.cuda()`",
    "refuses_numpy": "`.numpy()` on the GPU fails as on CUDA",
    "has_several": "Two GPUs, kept apart",
    "runs_out_of_memory": "Memory runs out",
    "is_a_model": "Is a Tesla T4, if wanted",
    "has_streams": "`torch.cuda` streams and events",
}
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


class Runs:
    """The statements of pages about runs; `root` is the folder of results/ and notebooks/."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def lessons(self) -> str:
        """Return a row for each notebook: its cells, how many must raise, how it stands on simulated and real GPUs."""
        simulated, real = self._run("simulated"), self._run("gpu")
        rows = []
        titles = {lesson.slug: f"{lesson.slug[:2]} · {lesson.title}" for lesson in load().lessons.values()}
        for slug, title in (titles | {slug: practice.title for slug, practice in load().practice.items()}).items():
            file = self._root / f"notebooks/{slug}.ipynb"
            if not file.exists():
                continue
            notebook = json.loads(file.read_text("utf-8"))
            cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
            raising = sum("raises-exception" in cell["metadata"].get("tags", []) for cell in cells)
            name = f"[{escaped(title)}](../notebooks/{file.name})"
            standings = [_standing(run["lessons"].get(slug), notebook) for run in (simulated, real) if run]
            rows.append([name, str(len(cells)), str(raising), *standings])
        kinds = [name for name, run in (("Simulated", simulated), ("Real", real)) if run]
        return _table(["Notebook", "Cells", "Must raise", *kinds], rows, numbers=(1, 2))

    def lessons_in_short(self) -> str:
        """Say how many cells passed, in how many notebooks, on simulated GPUs, with torch and the date."""
        return _passed(self._run("simulated") or _missing("simulated"))

    def cells(self) -> dict[str, int]:
        """Say how many cells there are in the notebooks that ran on simulated GPUs, and how many passed."""
        return _cells(self._run("simulated") or _missing("simulated"))

    def systems(self) -> list[str]:
        """Return the operating systems on which runs were recorded."""
        runs = (json.loads(file.read_text("utf-8")) for file in (self._root / "results").glob("*.json"))
        names = {run["machine"].split()[0] for run in runs if "machine" in run}
        return sorted("macOS" if name == "Darwin" else name for name in names)

    def had_real_gpus(self) -> bool:
        return self._run("gpu") is not None

    def real_gpus(self) -> str:
        """Say what is known of real GPUs: their names, torch, the date and what passed; or that no run was recorded."""
        run = self._run("gpu")
        if not run:
            return (
                "No run on a real GPU has been recorded yet. `make test-gpu`, on a machine with one, runs every"
                " lesson against the same stored outputs and writes `results/gpu.json`; from then on its GPU, torch and"
                " date stand here."
            )
        skipped = sum(lesson["standing"] == "skipped" for lesson in run["lessons"].values())
        left = f" Skipped for want of GPUs: {skipped}." if skipped else ""
        changed = sum(self._was_changed(slug, lesson) for slug, lesson in run["lessons"].items())
        since = f" Changed since, so not run as they are now: {changed}." if changed else ""
        return f"On {escaped(', '.join(dict.fromkeys(run['gpus'])))}: {_passed(run)}.{left}{since}"

    def _was_changed(self, slug: str, lesson: dict[str, Any]) -> bool:
        file = self._root / f"notebooks/{slug}.ipynb"
        if lesson["standing"] == "skipped" or not file.exists():
            return False
        return bool(lesson.get("code") != digest_of_code(json.loads(file.read_text("utf-8"))))

    def real_gpus_in_short(self) -> str:
        """Say in one sentence what passed on real GPUs, and whether the lessons are still those that ran."""
        run = self._run("gpu")
        if not run:
            return "No run on a real GPU has been recorded yet."
        ran = {slug: lesson for slug, lesson in run["lessons"].items() if lesson["standing"] != "skipped"}
        changed = sum(self._was_changed(slug, lesson) for slug, lesson in ran.items())
        cells, gpus = _cells(run), escaped(", ".join(dict.fromkeys(run["gpus"])))
        how_many = "all" if changed == len(ran) else changed
        since = f", {how_many} of which were changed since" if changed else ""
        return (
            f"On a real GPU ({gpus}, {written(run['date'])}) {cells['passed']:,} of {cells['all']:,} cells passed in"
            f" {len(ran)} lessons{since}."
        )

    def real_numbers(self) -> str:
        """Say how many cells of lessons measure on a real GPU, and how many of these have recorded numbers."""
        notebooks = [json.loads(path.read_text("utf-8")) for path in sorted(self._root.glob("notebooks/*.ipynb"))]
        outputs = [
            json.dumps(cell["outputs"])
            for notebook in notebooks
            for cell in notebook["cells"]
            if cell["cell_type"] == "code" and re.search(r"^measured\(", "".join(cell["source"]), re.M)
        ]
        recorded = sum(SIMULATED not in output for output in outputs)
        return f"{len(outputs)} cells measure on a real GPU only; numbers of {recorded or 'none'} of them are recorded"

    def suites(self) -> str:
        packages = (self._run("suites") or _missing("suites"))["packages"]
        rows = [
            [escaped(f"{name} {package['version']}"), *(written(package[key]) for key in _SUITES.values())]
            for name, package in packages.items()
        ]
        return _table(["Package", *_SUITES], rows, numbers=range(1, len(_SUITES) + 1))

    def suite_tests(self) -> int:
        """Return how many tests of other people's packages ran on simulated GPUs."""
        return sum(package["tests"] for package in (self._run("suites") or _missing("suites"))["packages"].values())

    def suites_in_short(self) -> str:
        packages = (self._run("suites") or _missing("suites"))["packages"].values()
        tests, passed, bugs, ours = (
            sum(package[key] for package in packages)
            for key in ("tests", "passed", "found_a_device_bug", "because_of_us")
        )
        return (
            f"{tests:,} tests of {len(packages)} packages; {passed:,} pass, {bugs} found a device bug of the package,"
            f" {ours} fail because of the simulation"
        )

    def comparison(self) -> str:
        """Return a row for each question that was put to the rivals, and a column for each rival."""
        rivals = (self._run("comparison") or _missing("comparison"))["rivals"]
        mixes = [rival["mixes"] for rival in rivals.values()]
        asked = [counts["refused"] + counts["passed"] for counts in mixes]
        rows = [
            ["Lines that mix devices, asked", *map(written, asked)],
            ["Mixes that are refused", *(written(counts["refused"]) for counts in mixes)],
            ["Mixes refused in CUDA's words", *(written(counts["in_the_words_of_cuda"]) for counts in mixes)],
        ]
        for ability, says in _ABILITIES.items():
            rows.append([says, *("yes" if rival["can"][ability] else "no" for rival in rivals.values())])
        return _table(["", *rivals], rows, numbers=())

    def compared_with(self) -> str:
        """Say which versions were compared, and when."""
        run = self._run("comparison") or _missing("comparison")
        versions = ", ".join(dict.fromkeys(", ".join(rival["version"] for rival in run["rivals"].values()).split(", ")))
        return f"{escaped(versions)}; {written(run['date'])}"

    def pastes(self) -> str:
        """Return a row for each set of pastes: how often one tensor was named, two to four, or none, and rightly."""
        lines, programs, threads = (self._run(name) or _missing(name) for name in ("lines", "pastes", "threads"))
        first, now = threads["first"], threads["now"]
        sets = {
            "Lines generated at random": lines,
            "Programs in the style of real code": programs,
            "Lines from public threads, at first": first["lines"],
            "The same lines, later": now["lines"],
            "Reports from public threads, at first": first["reports"],
            "The same reports, later": now["reports"],
        }
        rows = []
        for name, counted in sets.items():
            one, few, none = counted["one"], counted["few"], counted["none"]
            pastes = one["named"] + few["named"] + none
            named = [f"{written(each['right'])} of {written(each['named'])}" for each in (one, few)]
            rows.append([name, written(pastes), *named, written(none)])
        columns = ["Pastes", "How many", "One name, right", "One of, with the culprit", "No name"]
        return _table(columns, rows, numbers=range(1, len(columns)))

    def _run(self, name: str) -> Any:
        file = self._root / f"results/{name}.json"
        return json.loads(file.read_text("utf-8")) if file.exists() else None


def _standing(lesson: dict[str, Any] | None, notebook: dict[str, Any]) -> str:
    if lesson is None:
        return "not run yet"
    if lesson["standing"] == "skipped":
        return f"skipped: {escaped(lesson['why'])}"
    stands = "passed" if lesson["passed"] else f"{len(lesson['failed'])} failed"
    return stands if lesson.get("code") == digest_of_code(notebook) else f"{stands}, and was changed since"


def _ran(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [lesson for lesson in run["lessons"].values() if lesson["standing"] != "skipped"]


def _cells(run: dict[str, Any]) -> dict[str, int]:
    cells = sum(lesson["cells"] for lesson in _ran(run))
    return {"all": cells, "passed": cells - sum(len(lesson["failed"]) for lesson in _ran(run))}


def _passed(run: dict[str, Any]) -> str:
    cells = _cells(run)
    puzzles = sum(slug in load().practice and one["standing"] != "skipped" for slug, one in run["lessons"].items())
    notebooks = [f"{len(_ran(run)) - puzzles} lessons"]
    if puzzles:
        notebooks.append(f"{puzzles} practice {'notebook' if puzzles == 1 else 'notebooks'}")
    return (
        f"{cells['passed']:,} of {cells['all']:,} cells passed, in {' and '.join(notebooks)}, with"
        f" {escaped('torch ' + run['torch'])}, {written(run['date'])}"
    )


def _missing(name: str) -> Any:
    raise BuildError(f"A page wants what a run writes to results/{name}.json, and none has written it yet.")


def _table(columns: list[str], rows: list[list[str]], numbers: Collection[int]) -> str:
    rules = ["---:" if column in numbers else "---" for column in range(len(columns))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rules, *rows))
