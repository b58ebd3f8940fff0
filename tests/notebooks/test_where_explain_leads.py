"""What `explain()` answers in a lesson leads to that lesson, unless another one is about that very failure."""

import html
import json
import re
from pathlib import Path

import pytest

from samedevice.catalog import load

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9]*.ipynb"))

# A failure that another lesson is about stands in these for another reason: how to read it, or how to find it.
ELSEWHERE = {
    "01-two-tensors": {"03-unmoved-model"},
    "08-find-the-culprit": {"05-born-on-cpu"},
    "22-catch-it-before-the-gpu": {"09-indexing-and-numpy"},
}


@pytest.mark.parametrize("notebook", LESSONS, ids=lambda path: path.stem)
def test_an_answer_leads_to_the_lesson_that_it_stands_in(notebook):
    slugs = {lesson.title: slug for slug, lesson in load().lessons.items()}
    led_to = set()
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code" and "explain()" in "".join(cell["source"]):
            written = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
            led_to |= {slugs[html.unescape(title)] for title in re.findall(r"Lesson: &quot;(.+?)&quot;", written)}
    assert led_to - {notebook.stem} == ELSEWHERE.get(notebook.stem, set())
    assert notebook.stem in {*led_to, *ELSEWHERE}
