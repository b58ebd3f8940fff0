"""The form that every practice notebook keeps: eight puzzles, each a program that fails and that the reader repairs.

- The first cell has the name, what one does here, the lessons that it rests on, and how many minutes it takes. A cell
  of imports may follow the one that starts the GPUs.
- A puzzle has a heading, "## 3. Short name". Below it stand a link to the report that it is modelled on, a link to the
  lesson that it rests on, and what the program is to do. It does not give the cause away.
- The code is 5 to 15 lines, without imports, blank lines and the call of `check`, which ends the cell. Its stored
  output is what `check` says to who has not answered yet.
- The next cell has the solution, folded. tests/lessons/test_exercises.py runs it.
- In practice-5-mixed a puzzle shows a failure of a program instead, and asks. A cell prints its traceback. Below it, a
  question has the tag `predict` and ends in alternatives, and the code under the question shows what is true.
- The last cell leads on to the next notebook.
"""

import ast
import re
from pathlib import Path

import nbformat
import pytest
from headings import sections
from test_every_notebook import REPOSITORY

from lessons.exercises import HOW_TO_ASK
from samedevice.catalog import load

PRACTICE = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("practice-*.ipynb"))
MIXED = "practice-5-mixed"
REPAIRS = [path for path in PRACTICE if path.stem != MIXED]
CALL = re.compile(r'^check\("p(\d)-(\d)", \w+\)$')


def read(path):
    return nbformat.read(path, as_version=4)


def puzzles(path):
    """(number, name, cells) of each puzzle."""
    for line, cells in sections(read(path)):
        number, _, name = line.removeprefix("## ").partition(". ")
        yield number, name, cells


def each(paths):
    """Each puzzle as a parameter: its notebook, its number and its cells."""
    return [
        pytest.param(path, int(number), cells, id=f"{path.stem}-{number}")
        for path in paths
        for number, _, cells in puzzles(path)
    ]


def code_of(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


@pytest.mark.parametrize("path", PRACTICE, ids=lambda path: path.stem)
def test_a_notebook_has_eight_numbered_puzzles(path):
    assert [number for number, _, _ in puzzles(path)] == [*"12345678"]
    for _, name, _ in puzzles(path):
        assert name and not re.search("exercise|puzzle", name, re.IGNORECASE)


@pytest.mark.parametrize("path", PRACTICE, ids=lambda path: path.stem)
def test_the_first_cell_has_its_name_the_lessons_it_rests_on_and_its_minutes(path):
    notebook = read(path)
    first, last = notebook.cells[0].source, notebook.cells[-1]
    assert first.startswith(f"# {load().practice[path.stem].title}\n\n")
    assert re.search(r"\d minutes", first)
    if path.stem != MIXED:
        assert re.search(r"\]\(\d\d-[a-z0-9-]+\.ipynb\)", first)
    assert last.cell_type == "markdown" and re.search(r"\]\([a-z0-9-]+\.ipynb(#[a-z0-9-]+)?\)", last.source)
    assert all(cell.id.startswith(f"{path.stem[:10]}-") for cell in notebook.cells), "ids such as practice-1-p3-code"


@pytest.mark.parametrize(("path", "number", "cells"), each(PRACTICE))
def test_a_puzzle_links_to_a_report_and_to_a_lesson(path, number, cells):
    links = re.findall(r"\]\(([^)\s]+)\)", cells[0].source)
    reports = [link for link in links if link.startswith("https://") and not link.startswith(REPOSITORY)]
    assert any("docs.pytorch.org" not in link for link in reports), "a report"
    lessons = {f"{slug}.ipynb" for slug in load().lessons}
    assert any(link.partition("#")[0] in lessons for link in links), "a lesson"


@pytest.mark.parametrize(("path", "number", "cells"), each(REPAIRS))
def test_a_puzzle_is_five_to_fifteen_lines_that_end_in_its_check(path, number, cells):
    (cell,) = code_of(cells)
    written = cell.source.splitlines()
    call = written[-1]
    assert CALL.match(call) and CALL.match(call).groups() == (path.stem[9], str(number))
    imports = {
        line
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    lines = [line for at, line in enumerate(written, 1) if line.strip() and at not in imports]
    assert 5 <= len(lines) <= 16, "the imports apart, with the call"


@pytest.mark.parametrize(("path", "number", "cells"), each(REPAIRS))
def test_a_puzzle_has_three_cells_and_gives_nothing_away(path, number, cells):
    asked, code, solution = cells[:3]
    assert len(cells) <= 3 + (number == 8), "only the last puzzle is followed by the cell that leads on"
    assert (asked.cell_type, solution.cell_type) == ("markdown", "markdown")
    assert solution.source.startswith("<details>\n<summary>Solution</summary>\n\n")
    assert solution.source.rstrip().endswith("</details>")
    assert "<details>" not in asked.source and "```" not in asked.source
    (output,) = code.outputs
    said = output.text.splitlines()
    assert said[0].startswith("Not right yet.") and said[-1] == HOW_TO_ASK


@pytest.mark.parametrize("path", REPAIRS, ids=lambda path: path.stem)
def test_most_puzzles_fail_with_an_error(path):
    outputs = [output.text for _, _, cells in puzzles(path) for cell in code_of(cells) for output in cell.outputs]
    assert sum(text.startswith("Not right yet. This fails:\n") for text in outputs) >= 6


@pytest.mark.parametrize(("path", "number", "cells"), each([path for path in PRACTICE if path.stem == MIXED]))
def test_a_failure_is_shown_then_asked_about(path, number, cells):
    (question,) = [index for index, cell in enumerate(cells) if "predict" in tags(cell)]
    shown = "\n".join(output.get("text", "") for cell in code_of(cells[:question]) for output in cell.outputs)
    assert re.search(r"^[\w.]+(Error|Exception): ", shown, re.M), "a traceback, which a cell prints"
    assert code_of(cells[question + 1 :])[:1] == [cells[question + 1]]
