"""The form that every lesson keeps, so that it reads, runs and compares the same everywhere."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
FIRST_CELL = """\
try:
    from lessons import check, start
except ImportError:
    %pip install -q "samedevice @ git+{repository}"
    import sys; sys.modules.pop("lessons", None)  # a folder of that name may have been imported
    from lessons import check, start
start(gpus={gpus})"""
# Labels that come back under every failure: as headings they would give anchors that lead to the first one only.
LABELS = {"reproduce", "read the message", "why", "find it", "fix", "not a fix", "exercise"}
MACHINE = re.compile(
    r"\x1b|0x[0-9a-fA-F]{6,}|(?<![\w.])(?:~|/(?:home|root|Users|tmp|opt|usr|private|var))/|\b[A-Za-z]:\\"
)  # colours, addresses, paths


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


@pytest.fixture
def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_lessons():
    assert LESSONS
    assert all(re.fullmatch(r"\d\d-[a-z0-9-]+", path.stem) for path in LESSONS)


def test_the_first_code_cell_is_the_same_everywhere_but_for_the_gpus(notebook, code):
    assert notebook.metadata.gpus in (1, 2)
    assert code[0].source == FIRST_CELL.format(repository=REPOSITORY, gpus=notebook.metadata.gpus)
    assert code[0].metadata.tags == ["nbval-ignore-output"]
    gpus = {1: "1 simulated GPU", 2: "2 simulated GPUs"}[notebook.metadata.gpus]
    assert [output.text for output in code[0].outputs] == [f"{gpus}, on the CPU.\n"]


def test_the_metadata_is_what_search_and_the_site_need(notebook):
    metadata = notebook.metadata
    assert set(metadata) == {"description", "gpus", "kernelspec", "language_info", "tags", "title"}
    assert metadata.title, "`title` is what the page's <title> and a link's preview say"
    length = len(metadata.description)
    assert 50 <= length <= 150, f"`description` is what a search engine shows: 50 to 150 characters, not {length}"
    assert metadata.tags, "`tags` are what people type who want this lesson; the first has to find it first"
    assert all(isinstance(tag, str) for tag in metadata.tags)


def test_every_other_cell_is_run_and_compared(code):
    for cell in code[1:]:
        assert_compared(cell)


def assert_compared(cell):
    tags = set(cell.metadata.get("tags", []))
    if re.search(r"^measured\(", cell.source, re.M):  # the guard in conftest.py compares it where it measured nothing
        assert tags == {"nbval-ignore-output"}
    else:
        assert tags <= {"raises-exception", "fix"}
    assert "NBVAL_" not in cell.source


@pytest.mark.parametrize(
    ("source", "tags"),
    [
        ("print(1)", ["nbval-ignore-output"]),
        ("print(1)  # measured(", ["nbval-ignore-output"]),
        ("print(1)", ["nbval-skip"]),
        ("# NBVAL_IGNORE_OUTPUT", []),
        ('measured("a", b)', []),
        ('measured("a", b)', ["nbval-ignore-output", "raises-exception"]),
    ],
)
def test_only_a_cell_that_measures_may_print_something_else(source, tags):
    with pytest.raises(AssertionError):
        assert_compared(nbformat.v4.new_code_cell(source, metadata={"tags": tags}))
    assert_compared(nbformat.v4.new_code_cell('measured("a", b)', metadata={"tags": ["nbval-ignore-output"]}))


def test_every_cell_was_executed_and_has_no_number_of_its_own(path, code):
    """Numbers would change below a cell that is put in; `make notebooks` stores 1 for each."""
    numbers = {cell.execution_count for cell in code}
    numbers |= {output.execution_count for cell in code for output in cell.outputs if "execution_count" in output}
    assert numbers == {1}, f"run `make check NB=notebooks/{path.name}`"


def test_a_cell_stores_an_error_only_where_it_says_so(code):
    for cell in code:
        raised = any(output.output_type == "error" for output in cell.outputs)
        assert raised == ("raises-exception" in cell.metadata.get("tags", [])), cell.source


def test_what_is_stored_names_no_machine(notebook, code):
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.language_info == {"name": "python"}
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags", "alt"}
    for cell in code:
        for output in cell.outputs:
            assert not MACHINE.search(re.sub(r"https?://\S+", "", written(output))), cell.source


def written(output):
    """All the text that an output stores."""
    texts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", [])]
    return "\n".join(texts + [data for kind, data in output.get("data", {}).items() if kind.startswith("text/")])


def test_a_stored_traceback_is_short_and_shows_no_frame_of_the_simulation(code):
    for cell in code:
        for output in cell.outputs:
            lines = "\n".join(output.get("traceback", [])).splitlines()
            assert len(lines) <= 30, cell.source
            assert not any("samedevice/" in line or "lessons/" in line for line in lines), cell.source


def test_a_stored_traceback_ends_with_the_error_which_alone_nbval_compares(code):
    for cell in code:
        for output in cell.outputs:
            if output.output_type == "error":
                error = f"{output.ename}: {output.evalue}".rstrip()
                assert "\n".join(output.traceback).rstrip().endswith(error), cell.source


def test_cells_are_short(path, notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= 25, cell.source
        else:
            assert len(cell.source.split()) <= 120, cell.source


def test_headings_are_the_title_and_the_failures(notebook):
    headings = [(index, line) for index, line in all_headings(notebook)]
    (first, title), *failures = headings
    assert first == 0
    assert title.startswith("# ")
    assert failures
    assert all(line.startswith("## ") for _, line in failures)
    texts = [line.lstrip("# ").strip().lower() for _, line in headings]
    assert len(texts) == len(set(texts))
    assert not LABELS & {text.rstrip(".:") for text in texts}
    for (begin, line), (end, _) in pairwise([*failures, (len(notebook.cells), "")]):
        tags = [tag for cell in notebook.cells[begin:end] for tag in cell.metadata.get("tags", [])]
        assert "raises-exception" in tags, f"nothing fails under {line!r}"


def test_under_every_failure_a_cell_that_fixes_it_is_tagged(notebook, code):
    """`make test-mutation` removes these, and expects the next code cell to fail."""
    starts = [index for index, line in all_headings(notebook) if line.startswith("## ")]
    for begin, end in pairwise([*starts, len(notebook.cells)]):
        tags = [tag for cell in notebook.cells[begin:end] for tag in cell.metadata.get("tags", [])]
        assert "fix" in tags, f"no cell is tagged `fix` after {notebook.cells[begin].source[:80]!r}"
    assert "fix" not in code[-1].metadata.get("tags", []), "no cell after it could need it"


def all_headings(notebook):
    """(index of the cell, line) of every heading outside fenced code."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            prose = re.sub(r"^```.*?^```", "", cell.source, flags=re.M | re.S)
            yield from ((index, line) for line in prose.splitlines() if re.match(r"#{1,6} ", line))
