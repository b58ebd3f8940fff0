"""A page's figures are those that a run wrote; where no run did, the build fails and says so."""

import json

import pytest
from mkdocs.exceptions import PluginError

from lessons.site.figures import with_differences, with_figures
from lessons.site.verified import last_verified

RUN = {
    "date": "2026-03-01",
    "torch": "2.13.0+cpu",
    "ops": {"cases": 8932, "outcome": 0.99999, "exact": 1},
    "small": 3.7,
}


@pytest.fixture
def results(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(RUN), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("ops.cases", "8,932"),
        ("ops.outcome %", "99.9 %"),
        ("ops.exact %", "100 %"),
        ("small", "3.7"),
        ("date", "1 March 2026"),
        ("torch", "2.13.0+cpu"),
    ],
)
def test_a_figure_stands_where_it_is_asked_for(results, asked, written):
    assert with_figures(f"It is <!-- figure: run {asked} -->.", results) == f"It is {written}."


@pytest.mark.parametrize(
    ("asked", "named"), [("none date", "results/none.json"), ("run ops.none", "ops.none"), ("run torch.x", "torch.x")]
)
def test_a_figure_that_no_run_wrote_is_refused_by_name(results, asked, named):
    with pytest.raises(PluginError, match=named):
        with_figures(f"<!-- figure: {asked} -->", results)


def test_each_known_difference_from_cuda_is_a_line_that_says_why():
    lines = with_differences("Known:\n\n<!-- known differences -->\n").splitlines()[2:]
    assert len(lines) > 5
    assert all(line.startswith("- ") and line.endswith(".") and len(line) > 60 for line in lines)


def test_results_of_other_runs_say_nothing_about_a_lesson(results):
    assert last_verified("01-two-tensors", results) == []
