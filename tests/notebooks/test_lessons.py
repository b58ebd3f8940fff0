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

import re
from pathlib import Path

import pytest
from headings import sections

from lessons.exercises import HOW_TO_ASK
from samedevice.catalog import load

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
# How PyTorch begins an error that another thread or process raised, which follows.
QUOTED = re.compile(r"^\w+: Caught \w+ in ")


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def path(request):
    return request.param


def test_there_are_lessons():
    assert LESSONS
    assert all(re.fullmatch(r"\d\d-[a-z0-9-]+", path.stem) for path in LESSONS)


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
