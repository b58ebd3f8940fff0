"""What pages say of runs and of tests is what the runs wrote and the sources hold; what nobody has run is said so."""

import json
import re
from pathlib import Path

import nbformat
import pytest
import yaml
from mkdocs.exceptions import PluginError
from tests.doctor.broken_programs import behind_names, models_and_batches, of_other_people, one_thing, state  # noqa: F401
from tests.doctor.broken_programs.kept import PROGRAMS
from tests.doctor.broken_programs.mendable import MENDABLE
from tests.doctor.test_not_device_errors import TEXTS

from conformance import known_misses
from lessons.site.run_tables import with_runs
from lessons.site.source_counts import with_counts
from samedevice.catalog import load

ROOT = Path(__file__).parents[2]
PAGE = "how-it-is-verified/"
RUN = {
    "date": "2026-03-01",
    "torch": "2.13.0+cu130",
    "gpus": ["NVIDIA Example", "NVIDIA Example"],
    "lessons": {
        "01-two-tensors": {"standing": "real", "passed": True, "cells": 2, "failed": []},
        "02-unmoved-batches": {"standing": "real", "passed": False, "cells": 2, "failed": ["Cell 1"]},
        "10-split-device-models": {"standing": "skipped", "why": "needs 2 GPUs, this machine has 1"},
    },
}


def results(name):
    return json.loads((ROOT / f"results/{name}.json").read_text("utf-8"))


def words(element):
    return " ".join(element.get_text().split())


def rows(table):
    return [[words(cell) for cell in row.select("td")] for row in table.select("tbody tr")]


@pytest.fixture(scope="module")
def page(site):
    return site.page(PAGE).select_one("article")


@pytest.fixture
def project(tmp_path):
    """A project of three lessons of two cells each, one of which must raise, before any run."""
    cells = [
        {"cell_type": "code", "metadata": {}, "source": ["measured(1)"], "outputs": []},
        {"cell_type": "code", "metadata": {"tags": ["raises-exception"]}, "source": [], "outputs": []},
    ]
    for folder in ("notebooks", "results"):
        (tmp_path / folder).mkdir()
    for name in RUN["lessons"]:
        (tmp_path / f"notebooks/{name}.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    return tmp_path


def wrote(project, name, run):
    (project / f"results/{name}.json").write_text(json.dumps(run), "utf-8")


def said(project, part):
    return with_runs(f"<!-- run: {part} -->", project)


def test_each_lesson_stands_there_with_its_cells_those_that_must_raise_and_how_it_stands(page, simulated_run):
    run = simulated_run["lessons"]
    lessons = {path.stem: nbformat.read(path, 4) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
    for (slug, notebook), (name, cells, raising, simulated, *_) in zip(
        lessons.items(), rows(page.select_one("#the-lessons ~ table")), strict=True
    ):
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert name == f"{slug[:2]} · {load().lessons[slug].title}"
        assert int(cells) == len(code)
        assert int(raising) == sum("raises-exception" in cell.metadata.get("tags", []) for cell in code)
        if run[slug]["cells"] == len(code):
            assert simulated == "passed"
        else:
            assert simulated.endswith("changed since")


@pytest.mark.parametrize("place", ["", PAGE])
def test_home_and_page_have_the_figures_of_the_runs(site, place, simulated_run):
    text = words(site.page(place).select_one("article"))
    conformance, lessons = results("conformance"), simulated_run["lessons"].values()
    assert f"{sum(lesson['cells'] for lesson in lessons):,} cells passed, in {len(lessons)} lessons" in text
    assert f"{conformance['cases']:,} cases" in text
    assert f"{int(conformance['outcome'] * 1000) / 10:g} %" in text
    assert ("No run on a real GPU has been recorded yet." in text) == (not (ROOT / "results/gpu.json").exists())


def test_the_page_names_how_the_answers_were_recorded(page):
    recorded = results("conformance")["recorded"]
    assert f"from torch {recorded['torch']} itself, CUDA {recorded['cuda']}, asked {recorded['asked']}" in words(page)


def test_no_figure_is_typed_into_the_page():
    text = (ROOT / "docs/how-it-is-verified.md").read_text("utf-8")
    typed = re.sub(r"<!--.*?-->|`[^`]*`|\]\([^)]*\)", "", text)
    assert re.findall(r".*\d.*", typed) == []


def test_each_file_of_the_project_that_a_page_leads_to_is_there(site):
    link = re.compile(r'"https://github\.com/your_name/same-device/blob/main/([^"#]+)')
    found = {path for place in site.pages for path in link.findall(site.read(f"{place}index.html"))}
    assert len(found) > 10
    assert [path for path in sorted(found) if not (ROOT / path).exists()] == []


def test_without_a_run_on_a_real_gpu_that_is_said_and_no_column_is_made_for_it(project):
    wrote(project, "simulated", RUN)
    assert "No run on a real GPU has been recorded yet" in said(project, "real GPUs")
    assert said(project, "real GPUs in short") == "No run on a real GPU has been recorded yet."
    assert "Real" not in said(project, "lessons")


def test_a_run_on_a_real_gpu_is_named_with_gpu_torch_date_and_what_did_not_pass(project):
    wrote(project, "simulated", RUN)
    wrote(project, "gpu", RUN)
    expected = (
        "On NVIDIA Example: 3 of 4 cells passed, in 2 lessons, with torch 2.13.0+cu130, 1 March 2026."
        " Skipped for want of GPUs: 1."
    )
    assert said(project, "real GPUs") == said(project, "real GPUs in short") == expected
    head, _, first, second, third = said(project, "lessons").splitlines()
    assert head.endswith("| Simulated | Real |")
    assert first.endswith("| 2 | 1 | passed | passed |")
    assert second.endswith("| 1 failed | 1 failed |")
    assert third.endswith("| skipped: needs 2 GPUs, this machine has 1 |")


def test_a_lesson_that_was_changed_after_its_run_or_never_run_is_named_as_such(project):
    lessons = {"01-two-tensors": RUN["lessons"]["01-two-tensors"] | {"cells": 3}}
    wrote(project, "simulated", RUN | {"lessons": lessons})
    _, _, first, second, _ = said(project, "lessons").splitlines()
    assert first.endswith("| passed, and was changed since |")
    assert second.endswith("| not run yet |")


def test_what_waits_for_a_real_gpu_is_counted(project):
    said_so = "3 cells give times that only a real GPU has; none of them still wait for one"
    assert said(project, "real numbers") == said_so


def test_a_package_that_a_run_adds_is_a_row(project):
    packages = results("suites")["packages"]
    wrote(project, "suites", {"packages": packages | {"new": packages["skorch"] | {"version": "7.0"}}})
    table = said(project, "suites").splitlines()
    assert len(table) == len(packages) + 3
    assert table[-1].startswith("| new 7.0 | ")


@pytest.mark.parametrize("part", ["lessons in short", "suites", "suites in short"])
def test_a_run_that_a_page_cannot_do_without_is_asked_for_by_its_file(project, part):
    with pytest.raises(PluginError, match=r"results/(simulated|suites)\.json"):
        said(project, part)


@pytest.mark.parametrize(
    ("name", "number"),
    [("broken programs", len(PROGRAMS)), ("programs mended", len(MENDABLE)), ("other errors", len(TEXTS))],
)
def test_what_is_counted_is_what_the_tests_run(name, number):
    assert with_counts(f"<!-- counted: {name} -->", ROOT) == str(number)


def test_the_known_misses_are_those_that_the_test_reads():
    assert with_counts("<!-- counted: known misses -->", ROOT) == str(
        len(known_misses().read_text("utf-8").splitlines())
    )


def test_the_versions_are_those_that_ci_has():
    jobs = yaml.safe_load((ROOT / ".github/workflows/cpu.yml").read_text("utf-8"))["jobs"]
    rows = jobs["matrix"]["strategy"]["matrix"]["include"]
    newest = "the newest that is admitted"
    others = with_counts("<!-- counted: other torch -->", ROOT).replace(newest, "2.x").split(" and ")
    assert {with_counts("<!-- counted: torch -->", ROOT), *others} == {row["torch"] for row in rows}
    pythons = with_counts("<!-- counted: Python -->", ROOT).replace(" and ", ", ").split(", ")
    assert pythons == sorted(pythons)
    assert set(pythons) == {"3.11", *(row["python"] for row in rows)}


def test_what_nobody_counts_is_refused():
    with pytest.raises(PluginError, match="'unicorns'"):
        with_counts("<!-- counted: unicorns -->", ROOT)
