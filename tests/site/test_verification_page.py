"""What pages say of runs is what the runs wrote; what nobody has run is said so."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from mkdocs.exceptions import PluginError
from tests.site.conftest import UPSTREAM

from lessons.measured import SIMULATED
from results import digest_of_code
from samedevice.catalog import load
from site_build.run_tables import Runs

ROOT = Path(__file__).parents[2]
PAGE = "how-it-is-verified/"
CELLS = [
    {"cell_type": "code", "metadata": {}, "source": ["measured(1)"], "outputs": []},
    {"cell_type": "code", "metadata": {"tags": ["raises-exception"]}, "source": [], "outputs": []},
]
CODE = digest_of_code({"cells": CELLS})
RUN = {
    "date": "2026-03-01",
    "torch": "2.13.0+cu130",
    "gpus": ["NVIDIA Example", "NVIDIA Example"],
    "lessons": {
        "01-two-tensors": {"standing": "real", "passed": True, "cells": 2, "failed": [], "code": CODE},
        "02-unmoved-batches": {"standing": "real", "passed": False, "cells": 2, "failed": ["Cell 1"], "code": CODE},
        "16-split-device-models": {"standing": "skipped", "why": "needs 2 GPUs, this machine has 1"},
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
    for folder in ("notebooks", "results"):
        (tmp_path / folder).mkdir()
    for name in RUN["lessons"]:
        (tmp_path / f"notebooks/{name}.ipynb").write_text(json.dumps({"cells": CELLS}), "utf-8")
    return tmp_path


def wrote(project, name, run):
    (project / f"results/{name}.json").write_text(json.dumps(run), "utf-8")


def test_each_notebook_stands_there_with_its_cells_those_that_must_raise_and_how_it_stands(page, simulated_run):
    run = simulated_run["lessons"]
    names = {slug: f"{slug[:2]} · {lesson.title}" for slug, lesson in load().lessons.items()}
    names |= {slug: practice.title for slug, practice in load().practice.items()}
    files = {slug: ROOT / f"notebooks/{slug}.ipynb" for slug in names}
    notebooks = {slug: nbformat.read(file, 4) for slug, file in files.items() if file.exists()}
    for (slug, notebook), (name, cells, raising, simulated, *_) in zip(
        notebooks.items(), rows(page.select_one("#the-lessons ~ details table")), strict=True
    ):
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert name == names[slug]
        assert int(cells) == len(code)
        assert int(raising) == sum("raises-exception" in cell.metadata.get("tags", []) for cell in code)
        if slug not in run:
            assert simulated == "not run yet"
        elif run[slug]["code"] == digest_of_code(notebook):
            assert simulated == "passed"
        else:
            assert simulated.endswith("changed since")


def test_home_and_page_have_the_figures_of_the_runs(site, simulated_run):
    run, conformance, errors = simulated_run["lessons"], results("conformance"), results("errors")
    home, text = (words(site.page(place).select_one("article")) for place in ("", PAGE))
    cells = sum(each["cells"] for each in run.values())
    lessons, practice = len(run.keys() & load().lessons.keys()), len(run.keys() & load().practice.keys())
    assert f"{cells:,} cells passed, in {lessons} lessons" in text
    assert f"{lessons} lessons{f' and {practice} practice notebook' if practice else ','}" in text
    assert f"{cells} of {cells} cells" in home
    assert f"{int(conformance['outcome'] * 1000) / 10:g} % of {conformance['cases']:,} calls" in home
    assert f"{errors['same']} of {errors['errors']} errors" in home
    assert f"{len(load().messages)} messages" in home
    for page in (home, text):
        assert ("No run on a real GPU has been recorded yet." in page) == (not (ROOT / "results/gpu.json").exists())


def test_the_page_says_what_was_recorded_of_cuda_and_how_much_of_it_is_answered_alike(page):
    conformance = results("conformance")
    assert f"{conformance['cases']:,} cases" in words(page)
    assert f"{int(conformance['outcome'] * 1000) / 10:g} %" in words(page)


def test_the_page_leads_with_five_figures_of_runs_and_with_what_was_never_verified(page, simulated_run):
    conformance, errors, doctor, mutation = map(results, ("conformance", "errors", "doctor", "mutation"))
    lessons = simulated_run["lessons"].values()
    cells = sum(lesson["cells"] for lesson in lessons)
    broken = [mutation[kind] for kind in ("fixes", "messages")]
    caught, mutants = (sum(kind[key] for kind in broken) for key in ("caught", "mutants"))
    figures = [words(item.strong) for item in page.select_one("h1 ~ ul").select("li")]
    assert figures == [
        f"{cells - sum(len(lesson['failed']) for lesson in lessons):,} of {cells:,} cells",
        f"{int(conformance['outcome'] * 1000) / 10:g} % of {conformance['cases']:,} calls",
        f"{errors['same']} of {errors['errors']} errors",
        f"{doctor['right']['cause']} of {doctor['programs']} broken programs",
        f"{caught:,} of {mutants:,} faults",
    ]
    assert page.h2["id"] == "what-is-not-verified"
    never = [words(item.strong) for item in page.select_one("h2 ~ ul").select("li")]
    real = (ROOT / "results/gpu.json").exists()
    assert never[: 3 - real] == ["A real GPU."] * (not real) + ["GitHub.", "macOS and Windows."]
    assert all(table.find_parent("details") for table in page.select("table"))


def test_a_system_on_which_a_run_was_recorded_is_not_named_among_the_others(project):
    wrote(project, "one", {"machine": "Darwin arm64, 8 CPUs"})
    wrote(project, "two", {"machine": "Linux x86_64, 2 CPUs"})
    wrote(project, "three", {"date": "2026-03-01"})
    assert Runs(project).systems() == ["Linux", "macOS"]


def test_the_page_names_how_the_answers_were_recorded(page):
    recorded = results("conformance")["recorded"]
    assert f"from torch {recorded['torch']} itself, CUDA {recorded['cuda']}, asked {recorded['asked']}" in words(page)


def test_the_page_says_how_often_one_name_was_right_and_how_often_it_was_one_of_several(page):
    lines, pastes, threads = map(results, ("lines", "pastes", "threads"))
    sets = [lines, pastes, *(threads[run][kind] for kind in ("lines", "reports") for run in ("first", "now"))]
    table = page.select_one("#what-the-paste-box-knows ~ details table")
    for row, counted in zip(rows(table), sets, strict=True):
        one, few, none = counted["one"], counted["few"], counted["none"]
        named = [f"{each['right']:,} of {each['named']:,}" for each in (one, few)]
        assert row[1:] == [f"{one['named'] + few['named'] + none:,}", *named, f"{none:,}"]
    # A figure of a command has no comma.
    assert f"--count {lines['lines']} --seed {lines['seed']} repeats it" in words(page)
    text, of = words(page), "{right} of {named}".format_map
    wrong = lines["one"]["named"] - lines["one"]["right"]
    assert f"{wrong or 'none'} of these {lines['one']['named']:,} names" in text
    assert sum(lines["why_none"].values()) == lines["none"]
    assert f"{lines['why_none']['cut']:,} because part of the line was cut off" in text
    one = pastes["one"]
    assert f"{one['runs']} run. In {one['next']} of the others that tensor is fixed" in text
    first, now = threads["first"], threads["now"]
    for named in ("one", "few"):
        for kind in ("lines", "reports"):
            at_first, later = (of(run[kind][named]) for run in (first, now))
            assert f"{at_first} times at first, and {later} times later" in text
    for words_before in ("likely", "often"):
        causes = [run["reports"]["causes"][words_before] for run in (first, now)]
        at_first, later = (f"{each['right']} of {each['said']}" for each in causes)
        assert f"right in {at_first} reports at first, and in {later} later" in text
    assert f"{first['lines']['none']} of the {first['lines']['threads']} lines got no name" in text


def test_no_figure_is_typed_into_the_page():
    text = (ROOT / "docs/how-it-is-verified.md").read_text("utf-8")
    typed = re.sub(r"{{.*?}}|{%.*?%}|<[^>]*>|`[^`]*`|\]\([^)]*\)", "", text)
    assert re.findall(r".*\d.*", typed) == []


def test_each_file_of_the_project_that_a_page_leads_to_is_there(site):
    link = re.compile(rf'"https://github\.com/{UPSTREAM}/blob/main/([^"#]+)')
    found = {path for place in site.pages for path in link.findall(site.read(f"{place}index.html"))}
    assert len(found) > 10
    assert [path for path in sorted(found) if not (ROOT / path).exists()] == []


def test_without_a_run_on_a_real_gpu_that_is_said_and_no_column_is_made_for_it(project):
    wrote(project, "simulated", RUN)
    assert "No run on a real GPU has been recorded yet" in Runs(project).real_gpus()
    assert Runs(project).real_gpus_in_short() == "No run on a real GPU has been recorded yet."
    assert "Real" not in Runs(project).lessons()


def test_a_run_on_a_real_gpu_is_named_with_gpu_torch_date_and_what_did_not_pass(project):
    wrote(project, "simulated", RUN)
    wrote(project, "gpu", RUN)
    expected = (
        "On NVIDIA Example: 3 of 4 cells passed, in 2 lessons, with torch 2.13.0+cu130, 1 March 2026."
        " Skipped for want of GPUs: 1."
    )
    assert Runs(project).real_gpus() == expected
    in_short = "On a real GPU (NVIDIA Example, 1 March 2026) 3 of 4 cells passed in 2 lessons."
    assert Runs(project).real_gpus_in_short() == in_short
    head, _, first, second, third = Runs(project).lessons().splitlines()
    assert head.endswith("| Simulated | Real |")
    assert first.endswith("| 2 | 1 | passed | passed |")
    assert second.endswith("| 1 failed | 1 failed |")
    assert third.endswith("| skipped: needs 2 GPUs, this machine has 1 |")


def test_how_many_lessons_were_changed_after_a_run_on_a_real_gpu_is_said(project):
    lessons = RUN["lessons"] | {"01-two-tensors": RUN["lessons"]["01-two-tensors"] | {"code": "of another"}}
    wrote(project, "gpu", RUN | {"lessons": lessons})
    assert Runs(project).real_gpus().endswith(" Changed since, so not run as they are now: 1.")
    assert Runs(project).real_gpus_in_short().endswith(" in 2 lessons, 1 of which were changed since.")


def test_a_lesson_that_was_changed_after_its_run_or_never_run_is_named_as_such(project):
    lessons = {"01-two-tensors": RUN["lessons"]["01-two-tensors"] | {"code": "of another"}}
    wrote(project, "simulated", RUN | {"lessons": lessons})
    _, _, first, second, _ = Runs(project).lessons().splitlines()
    assert first.endswith("| passed, and was changed since |")
    assert second.endswith("| not run yet |")


def test_what_only_a_real_gpu_measures_is_counted_and_how_much_of_it_is_recorded(project):
    told = "3 cells measure on a real GPU only; numbers of {} of them are recorded"
    assert Runs(project).real_numbers() == told.format(3)
    for path in (project / "notebooks").iterdir():
        path.write_text(path.read_text("utf-8").replace('"outputs": []', f'"outputs": ["{SIMULATED}"]'), "utf-8")
    assert Runs(project).real_numbers() == told.format("none")


def test_a_package_that_a_run_adds_is_a_row(project):
    packages = results("suites")["packages"]
    wrote(project, "suites", {"packages": packages | {"new": packages["skorch"] | {"version": "7.0"}}})
    table = Runs(project).suites().splitlines()
    assert len(table) == len(packages) + 3
    assert table[-1].startswith("| new 7.0 | ")


@pytest.mark.parametrize(
    "part",
    [Runs.lessons_in_short, Runs.cells, Runs.suites, Runs.suite_tests, Runs.suites_in_short, Runs.pastes],
)
def test_a_run_that_a_page_cannot_do_without_is_asked_for_by_its_file(project, part):
    with pytest.raises(PluginError, match=r"results/(simulated|suites|lines)\.json"):
        part(Runs(project))
