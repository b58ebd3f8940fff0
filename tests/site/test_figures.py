"""A page's figures are those that a run wrote; a name or a figure that is not there fails the build and is named."""

import json

import pytest
from mkdocs.exceptions import PluginError

from samedevice.catalog import load
from site_build.page_template import filled_in
from site_build.verified import last_verified

RUN = {
    "date": "2026-03-01",
    "torch": "2.13.0+cpu",
    "ops": {"cases": 8932, "outcome": 0.99999, "exact": 1},
    "small": 3.7,
}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results/run.json").write_text(json.dumps(RUN), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("ops.cases", "8,932"),
        ("ops.cases + 1", "8,933"),
        ("ops.outcome | share", "99.9 %"),
        ("ops.exact | share", "100 %"),
        ("ops | length", "3"),
        ("small", "3.7"),
        ("date", "1 March 2026"),
        ("torch", "2.13.0+cpu"),
    ],
)
def test_a_figure_stands_where_it_is_asked_for(project, asked, written):
    assert filled_in(f"It is {{{{ figures.run.{asked} }}}}.\n", "a.md", project) == f"It is {written}.\n"


@pytest.mark.parametrize(
    ("asked", "named"),
    [("none.date", "results/none.json"), ("run.ops.none", "ops.none"), ("run.ops", "a group of figures at ops")],
)
def test_a_figure_that_no_run_wrote_is_refused_by_name(project, asked, named):
    with pytest.raises(PluginError, match=named):
        filled_in(f"{{{{ figures.{asked} }}}}", "a.md", project)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{{ unicorns }}", "docs/a.md cannot be filled in: 'unicorns' is undefined"),
        ("{{ runs.unicorns() }}", "no attribute 'unicorns'"),
        ("{{ catalog.unicorns | length }}", "no attribute 'unicorns'"),
        ('{{ picture("unicorns") }}', "the picture of 'unicorns'"),
        ("two\n{% if %}", "docs/a.md, line 2 below its front matter, cannot be filled in"),
        ("with: ${{ matrix.python }}", "'matrix' is undefined.*braces that are code stand between {% raw %}"),
    ],
)
def test_a_name_that_is_not_there_is_refused_in_one_sentence_with_the_page(project, text, named):
    with pytest.raises(PluginError, match=named):
        filled_in(text, "a.md", project)


def test_braces_that_are_code_stand_in_raw_and_attributes_of_headings_stay(project):
    text = "## A {#a}\n\n{% raw %}\n`${{ matrix.python }}`\n{% endraw %}\n{ .lead }\n{{# a comment #}}\n"
    filled = filled_in(text, "a.md", project)
    assert [line for line in filled.splitlines() if line] == ["## A {#a}", "`${{ matrix.python }}`", "{ .lead }"]


def test_what_is_counted_is_what_the_catalog_holds(project):
    assert filled_in("{{ catalog.causes | length }}", "a.md", project) == str(len(load().causes))


def test_each_known_difference_from_cuda_is_a_line_that_says_why(project):
    lines = filled_in("Known:\n\n{{ known_differences() }}\n", "a.md", project).splitlines()[2:]
    assert len(lines) > 5
    assert all(line.startswith("- ") and line.endswith(".") and len(line) > 60 for line in lines)


def test_a_notebook_is_no_template(build_small):
    built = build_small({"index.md": "# {{ 1 + 1 }}\n"}, {"01-a.ipynb": ["# A\n\n`{{ unicorns }}`"]})
    assert built.returncode == 0, built.log
    assert built.page("").h1.get_text().startswith("2")
    assert "{{ unicorns }}" in built.page("notebooks/01-a/").select_one("article").get_text()


def test_a_page_that_names_what_is_not_there_fails_the_build_without_a_traceback(build_small):
    built = build_small({"index.md": "# Home\n\n{{ unicorns }}\n"}, {"01-a.ipynb": ["# A"]})
    assert built.returncode == 1
    assert "docs/index.md cannot be filled in: 'unicorns' is undefined" in built.log
    assert "Traceback" not in built.log


def test_results_of_other_runs_say_nothing_about_a_lesson(project):
    assert last_verified("01-two-tensors", {"cells": []}, project / "results") == []
