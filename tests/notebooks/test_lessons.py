"""The form that every lesson keeps, so that it reads, runs and compares the same everywhere.

- The first cell is the first screen: the lesson's name, the exact error, one sentence on what the reader sees, how many
  minutes it takes and which lessons come before it. The first code cell is the same everywhere but for the number of
  GPUs.
- "It works on the CPU": the first code that a reader meets is a small program that runs, with its output.
- "What is going on" explains the one idea in whole sentences. A drawing stands before anything fails: `picture` (what
  is where), `steps` and `steps_on_ranks` (where it is after each line), `timeline` (where it is at each step),
  `schedule` (what the CPU and the GPU do at the same time) or `gradients` (which rank has which gradient).
- Two to four sections show a failure. A question before it says what to look at. The cell that raises it has the tag
  `raises-exception`.
- A question to predict is a cell of Markdown with the tag `predict`, above the code that answers it. It ends in two to
  four alternatives, each with a comment: `<!-- right -->`, or one sentence on why not. On the page, what happens and
  what is said of it, up to the next code, question or heading, is folded until the reader has chosen.
- The fix is a cell of its own, with the tag `fix`. The next code cell shows that it works, so it fails without the fix.
- `explain()` and `where(...)` are called as people call them, and show all that they say.
- "A trap: ..." runs advice that is really given, and links to it.
- What is rarer stands under "More", which the page folds.
- Above the exercises, a question recalls an earlier lesson. Of the two exercises, the first asks for a prediction, and
  the second hands over a program after a real report. `check` says that the answer passed or what is wrong with it; a
  hint has to be asked for, with `hint=True`.
- "Remember" has three lines. All texts that the lesson raises come after it, folded.
- A lesson has at most 34 cells and 1,400 words that are not folded, in lines of code of at most 80 characters. One that
  writes a program to a file or runs a command calls `new_folder()` first; each command that imports torch takes two
  seconds or more.
- The output must be the same on a real GPU. So random numbers are made on the CPU, those of a layer that is made on the
  GPU included. Shapes, devices and comparisons are printed, but no `grad_fn`, and at most two digits of a computed
  number.
"""

import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest

from lessons.exercises import HOW_TO_ASK
from samedevice.catalog import load

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
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
# How PyTorch begins an error that another thread or process raised, which follows.
QUOTED = re.compile(r"^\w+: Caught \w+ in ")
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


def test_under_every_failure_a_cell_that_fixes_it_is_tagged(notebook, code):
    """`make test-mutation` removes these, and expects the next code cell to fail."""
    for line, cells in sections(notebook):
        tags = [tag for cell in cells for tag in cell.metadata.get("tags", [])]
        assert "raises-exception" not in tags or "fix" in tags, f"no cell is tagged `fix` under {line!r}"
    assert "fix" not in code[-1].metadata.get("tags", []), "no cell after it could need it"


# The first screen, which a reader with an error sees and may need nothing else of.


def test_the_first_cell_has_the_lessons_name_the_error_and_what_it_takes(notebook, path):
    first = notebook.cells[0].source
    name, message, _, rest = re.split(r"\n\n", first, maxsplit=3)
    assert name == f"# {load().lessons[path.stem].title}"
    assert len(name.split()) - 1 <= 4
    error = re.fullmatch(r"```text\n(.+)\n```", message)
    assert error, "the exact text of the error stands below the name"
    beginnings = [re.split(r"(?<=\.)(?= [A-Z])", text)[0] for text in texts_raised(notebook)]
    assert error[1] in texts_raised(notebook) + beginnings, "a cell of the lesson raises it; a first sentence is enough"
    assert re.fullmatch(r"\d+ minutes(, after .+|\. No lesson comes before it)\.", rest), (
        "'10 minutes, after [01](...).'"
    )
    earlier = re.findall(r"\]\((\d\d)-[a-z0-9-]+\.ipynb\)", rest)
    assert earlier or path.stem == LESSONS[0].stem
    assert all(number < path.stem[:2] for number in earlier)


def test_a_picture_stands_before_anything_fails(notebook):
    first_picture = next(number for number, cell in enumerate(notebook.cells) if is_picture(cell))
    first_failure = next(number for number, cell in enumerate(notebook.cells) if is_raising(cell))
    assert first_picture < first_failure
    first_code = next(number for number, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    assert first_code == 1
    (works, cells), (second, _) = sections(notebook)[:2]
    assert (works, second) == ("## It works on the CPU", "## What is going on")
    assert any(cell.cell_type == "code" and cell.outputs for cell in cells), "it is seen to work"


def test_a_heading_begins_its_cell(notebook):
    assert all(notebook.cells[index].source.startswith(line) for index, line in all_headings(notebook))


def test_it_is_short(notebook):
    """Not counted: what a page folds or does not show, so neither "More" nor the comments of alternatives."""
    open_text = [
        re.sub(r"<!--.*?-->|<details>.*?</details>", "", cell.source, flags=re.S)
        for cell in notebook.cells
        if cell.cell_type == "markdown" and cell not in more(notebook)
    ]
    words = sum(len(text.split()) for text in open_text)
    assert len(notebook.cells) <= 34, len(notebook.cells)
    assert words <= 1400, words
    folded = sum(len(cell.source.split()) for cell in more(notebook) if cell.cell_type == "markdown")
    assert folded <= 600, folded


def test_no_line_of_code_is_cut(notebook):
    for cell in notebook.cells:
        fences = re.findall(r"^```python\n(.*?)^```", cell.source, re.M | re.S)
        for code in [cell.source] if cell.cell_type == "code" else fences:
            long = [line for line in code.splitlines() if len(line) > 80]
            assert not long or "%pip install" in code, long  # the set-up cell, which is folded


def test_at_most_four_things_fail_and_the_reader_is_asked_what_to_expect(notebook):
    failing = [
        cells for line, cells in sections(notebook) if line != "## More" and any(is_raising(cell) for cell in cells)
    ]
    assert 2 <= len(failing) <= 4
    for cells in failing:
        first = next(number for number, cell in enumerate(cells) if is_raising(cell))
        asked = "\n".join(cell.source for cell in cells[:first] if cell.cell_type == "markdown")
        assert "?" in asked, f"no question before {cells[first].source!r}"


def test_a_tool_is_called_as_people_call_it(notebook):
    """`explain()` shows its whole answer: nobody types `explain().culprits[0].sentence`."""
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert re.search(r"^(explain\(\)|where\(.*\))$", code, re.M), "explain() or where(...) ends a cell of the lesson"
    assert not re.search(r"explain\(\)\.", code)


def test_a_trap_links_to_the_advice_that_was_given(notebook):
    traps = [cells for line, cells in sections(notebook) if line.startswith("## A trap")]
    assert 1 <= len(traps) <= 2
    for cells in traps:
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        assert re.search(r"\]\(https://(?!docs\.pytorch)", text), text
        assert any(cell.cell_type == "code" and cell.outputs for cell in cells), "what the advice does is run"


def test_it_ends_with_exercises_three_lines_to_remember_and_its_messages(notebook, path):
    (exercises, asked), (remember, lines), (messages, texts) = sections(notebook)[-3:]
    assert (exercises, remember) == ("## Exercises", "## Remember")
    assert messages == "## Messages of this lesson"
    calls = [cell for cell in asked if cell.cell_type == "code"]
    if path != LESSONS[0]:
        recall, *calls = calls
        question = asked[asked.index(recall) - 1]
        assert "predict" in question.metadata.get("tags", [])
        earlier = re.search(r"\*\*From \[lesson (\d\d)\]\((\d\d)-[a-z0-9-]+\.ipynb\)\.\*\*", question.source)
        assert earlier and earlier[1] == earlier[2] < path.stem[:2], "'**From [lesson 01](...).** ...', before 'a'"
    assert len(calls) == 2
    said = [output.text.splitlines() for cell in calls for output in cell.outputs]
    assert [lines[0] for lines in said] == ['Write your prediction in place of each "?".', "Not right yet. This fails:"]
    assert {lines[-1] for lines in said} == {HOW_TO_ASK}, "the outputs give no hint away"
    assert len(re.findall(r"^\d\. ", lines[0].source, re.M)) <= 3
    assert texts[0].source.startswith(f"{messages}\n\n<details>\n"), "folded"
    for text in texts_raised(notebook):
        assert text in texts[0].source, "who searches for a text finds the lesson that raises it"


def more(notebook):
    """The cells of the section that the page folds."""
    return next((cells for line, cells in sections(notebook) if line == "## More"), [])


def is_raising(cell):
    return "raises-exception" in cell.metadata.get("tags", [])


def is_picture(cell):
    return any("<svg" in output.get("data", {}).get("text/html", "") for output in cell.get("outputs", []))


def texts_raised(notebook):
    """What the lesson's cells raise: the first line of each error, or where it quotes another process, that one's."""
    errors = [output for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "error"]
    texts = [f"{error.ename}: {error.evalue}".strip() for error in errors]
    return [text.splitlines()[-1 if QUOTED.search(text) else 0].strip() for text in texts]


def sections(notebook):
    """(heading, its cells) of each section; a heading's section begins with the cell that the heading is in."""
    headings = list(all_headings(notebook))[1:]
    ends = [begin for begin, _ in headings[1:]] + [len(notebook.cells)]
    return [(line, notebook.cells[begin:end]) for (begin, line), end in zip(headings, ends, strict=True)]


def all_headings(notebook):
    """(index of the cell, line) of every heading outside fenced code."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            prose = re.sub(r"^```.*?^```", "", cell.source, flags=re.M | re.S)
            yield from ((index, line) for line in prose.splitlines() if re.match(r"#{1,6} ", line))
