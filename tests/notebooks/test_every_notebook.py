"""The form that every notebook keeps, a lesson or practice: so it runs, compares and looks the same everywhere."""

import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from headings import all_headings

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
FIRST_CELL = """\
try:
    from lessons import check, start
except ImportError:
    %pip install -q "samedevice @ git+{repository}"
    import sys; sys.modules.pop("lessons", None)  # a folder of that name?
    try:
        from lessons import check, start
    except ImportError:
        raise ImportError("pip could not install samedevice, as it says above.") from None
start(gpus={gpus})"""
# Labels that come back under every failure: as headings they would give anchors that lead to the first one only.
LABELS = {"reproduce", "read the message", "why", "find it", "fix", "not a fix", "exercise"}
MACHINE = re.compile(
    r"\x1b|0x[0-9a-fA-F]{6,}|(?<![\w.])(?:~|/(?:home|root|Users|tmp|opt|usr|private|var))/|\b[A-Za-z]:\\"
)  # colours, addresses, paths


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


def test_the_first_code_cell_is_the_same_everywhere_but_for_the_gpus(notebook, code):
    assert notebook.metadata.gpus in (1, 2)
    assert code[0].source == FIRST_CELL.format(repository=REPOSITORY, gpus=notebook.metadata.gpus)
    assert code[0].metadata.tags == ["nbval-ignore-output"]
    gpus = {1: "1 simulated GPU", 2: "2 simulated GPUs"}[notebook.metadata.gpus]
    assert [output.text for output in code[0].outputs] == [f"{gpus}, on the CPU.\n"]


def test_where_samedevice_cannot_be_installed_the_first_cell_ends_in_one_sentence():
    """As on Colab without a network: `lessons` is not there, and pip could not bring it."""
    cell = FIRST_CELL.format(repository=REPOSITORY, gpus=1)
    program = f"""
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic = lambda *_, **__: print("pip failed")
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "lessons":
            raise ModuleNotFoundError("No module named 'lessons'")
sys.meta_path.insert(0, Missing())
shell.run_cell({cell!r})
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    said = re.sub(r"\x1b\[[\d;]*m", "", run.stdout)
    assert said.rstrip().endswith("\nImportError: pip could not install samedevice, as it says above."), run.stderr
    assert said.count("Traceback") == 1
    assert "During handling" not in said


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


def test_every_cell_was_executed_and_is_numbered_in_its_order(path, code):
    """The page shows the numbers, and a reader looks there for the cell that a traceback names."""
    again = f"run `make check NB=notebooks/{path.name}`"
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), again
    for cell in code:
        for output in cell.outputs:
            assert output.get("execution_count", cell.execution_count) == cell.execution_count, again
            if output.output_type == "error":
                frames = re.findall(r"^Cell In\[(\d+)\]", "\n".join(output.traceback), re.M)
                assert frames[:1] in ([], [str(cell.execution_count)]), again
                assert all(int(frame) <= cell.execution_count for frame in frames), again


ALTERNATIVE = re.compile(r"^\d\. (?P<text>.*\S) <!-- (?P<why>.+) -->$")


def test_a_question_to_predict_ends_in_alternatives_of_which_one_is_right(notebook):
    for cell, following in itertools.pairwise(notebook.cells):
        if "predict" not in cell.metadata.get("tags", []):
            assert "<!-- right -->" not in cell.source, "tag it predict"
            continue
        assert cell.cell_type == "markdown"
        assert following.cell_type == "code" and following.outputs, cell.source
        *_, question, alternatives = cell.source.split("\n\n")
        found = [ALTERNATIVE.match(line) for line in alternatives.splitlines()]
        assert 2 <= len(found) <= 4 and all(found), cell.source
        whys = [line["why"] for line in found]
        assert whys.count("right") == 1, cell.source
        assert all(why == "right" or re.fullmatch(r"[A-Z`].*[.!]", why) for why in whys), cell.source
        assert "?" in question or question.endswith(":"), cell.source


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


def test_code_cells_are_short(code):
    for cell in code:
        assert len(cell.source.splitlines()) <= 25, cell.source


def test_headings_name_no_label_and_no_two_are_the_same(notebook):
    headings = list(all_headings(notebook))
    assert headings[0][0] == 0
    assert headings[0][1].startswith("# ")
    assert all(line.startswith("## ") for _, line in headings[1:])
    texts = [line.lstrip("# ").strip().lower() for _, line in headings]
    assert len(texts) == len(set(texts))
    assert not LABELS & {text.rstrip(".:") for text in texts}


def test_a_heading_begins_its_cell(notebook):
    assert all(notebook.cells[index].source.startswith(line) for index, line in all_headings(notebook))


def test_no_line_of_code_is_cut(notebook):
    for cell in notebook.cells:
        fences = re.findall(r"^```python\n(.*?)^```", cell.source, re.M | re.S)
        for code in [cell.source] if cell.cell_type == "code" else fences:
            long = [line for line in code.splitlines() if len(line) > 80]
            assert not long or "%pip install" in code, long  # the set-up cell, which is folded
