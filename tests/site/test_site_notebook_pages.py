"""What a notebook's page shows: judged on the HTML built from a small notebook with every kind of cell and output."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tests.site.conftest import UPSTREAM

import repository
from results import digest_of_code
from site_build.verified import last_verified

ROOT = Path(__file__).parents[2]
RED, PLAIN = "\x1b[31m", "\x1b[39m"
MESSAGE = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
# As IPython stores one: colours, the cell's frame, a library's, the simulation's, with the paths of a machine.
TRACEBACK = f"""{RED}---------------------------------------------------------------------------{PLAIN}
{RED}RuntimeError{PLAIN}                              Traceback (most recent call last)
Cell {RED}In[2]{PLAIN}, line 3
      1 layer = Linear(4, 2)
      2 batch = ones(3, 4)
----> 3 layer(batch)

File /home/someone/.venv/lib/python3.11/site-packages/torch/nn/modules/linear.py:134, in Linear.forward(self, input)
    133 def forward(self, input):
--> 134     return F.linear(input, self.weight, self.bias)

File ~/same-device/src/samedevice/simulation/tensor/simulated_tensor.py:77, in check(*args)
     70 def check(*args):
   (...)     76     # the rule
---> 77     raise RuntimeError(message) from None

RuntimeError: {MESSAGE}"""
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def code(source, *outputs, **metadata):
    return new_code_cell(source, outputs=list(outputs), execution_count=1, metadata=metadata)


def shown(kind, data):
    return new_output("display_data", {kind: data, "text/plain": "<the text instead>"})


NOTEBOOK = new_notebook(
    metadata={"description": 'What "same device" means'},
    cells=[
        new_markdown_cell("# The `RuntimeError` & its cause\n\nIntroduction."),
        new_markdown_cell("## Fix `mat1`, not mat2\n\ntext\n\n## Fix `mat1`, not mat2\n\n### A part"),
        code(
            "layer(batch)  # the comment",
            new_output("error", ename="RuntimeError", evalue=f"{RED}{MESSAGE}{PLAIN}", traceback=TRACEBACK.split("\n")),
            tags=["raises-exception"],
        ),
        code(
            "print(path)",
            new_output("stream", name="stdout", text=f"{RED}/home/someone/run/model.pt{PLAIN} < 3\n"),
            new_output("stream", name="stderr", text="/opt/python/site-packages/torch/cuda.py:9: UserWarning: no\n"),
            new_output("execute_result", {"text/plain": "tensor([1.])"}, execution_count=1),
            tags=["nbval-ignore-output"],
        ),
        code("plot()", shown("image/png", PNG), alt='Time "on" cpu'),
        code("picture()", shown("image/svg+xml", '<svg viewBox="0 0 1 1"><title>Two devices</title></svg>')),
        code("table()", shown("text/html", "<table><tr><td>weight</td></tr></table>")),
        new_markdown_cell(
            "<details>\n<summary>Solution</summary>\n\n```python\ndef solve(x):\n    return x\n```\n\n</details>\n"
        ),
        new_markdown_cell("```text\nRuntimeError: as text\n```"),
    ],
)


@pytest.fixture(scope="module")
def built(build_small):
    built = build_small({"index.md": "# Home"}, {"01-a.ipynb": NOTEBOOK})
    assert built.returncode == 0, built.log
    return built


@pytest.fixture(scope="module")
def article(built):
    return built.page("notebooks/01-a/").select_one("article")


def test_an_error_shows_its_message_first_and_folds_the_traceback(article):
    error = article.select_one(".error")
    assert error.select_one("pre").get_text() == f"RuntimeError: {MESSAGE}"
    traceback = error.select_one("details:not([open])")
    assert traceback.select_one("summary").get_text() == "Traceback"
    assert "----> 3 layer(batch)" in traceback.get_text()


def test_a_traceback_has_a_line_for_a_librarys_frame_and_none_for_the_simulations(article):
    lines = article.select_one("pre.traceback").get_text().splitlines()
    assert "File torch/nn/modules/linear.py:134, in Linear.forward(self, input)" in lines
    assert lines[-2:] == ["", f"RuntimeError: {MESSAGE}"]
    assert not [line for line in lines if "samedevice" in line or "F.linear" in line or "the rule" in line]


def test_a_page_shows_no_terminal_colours_no_machines_paths_and_no_tags(built):
    page = built.read("notebooks/01-a/index.html")
    for hidden in ("\x1b", "[31m", "/home/someone", "~/", "/opt/python", "raises-exception", "nbval-ignore-output"):
        assert hidden not in page


def test_outputs_are_shown_as_text(article):
    assert [output.get_text() for output in article.select("pre.output") if not output.find_parent(class_="error")] == [
        "model.pt < 3",
        "torch/cuda.py:9: UserWarning: no",
        "tensor([1.])",
    ]


def test_pictures_and_tables_are_shown_in_place_of_their_text(article):
    assert article.select_one("img")["alt"] == 'Time "on" cpu'
    assert article.select_one("svg title").get_text() == "Two devices"
    assert article.select_one(".output-html td").get_text() == "weight"
    assert "the text instead" not in article.get_text()


def test_headings_anchors_are_githubs_and_the_table_of_contents_leads_to_them(built):
    page = built.page("notebooks/01-a/")
    anchors = [heading["id"] for heading in page.select("article :is(h1, h2, h3)")]
    assert anchors == ["the-runtimeerror--its-cause", "fix-mat1-not-mat2", "fix-mat1-not-mat2-1", "a-part"]
    contents = page.select(".md-sidebar--secondary nav a")
    assert [link["href"] for link in contents] == [f"#{anchor}" for anchor in anchors[1:]]
    assert contents[0].get_text(strip=True) == "Fix mat1, not mat2"


def test_title_and_description_keep_inline_code_and_quotes(built):
    page = built.page("notebooks/01-a/")
    assert page.title.get_text() == "The RuntimeError & its cause - Same Device"
    assert page.select_one("meta[name=description]")["content"] == 'What "same device" means'


def test_a_folded_solution_holds_highlighted_code(article):
    solution = article.find("summary", string="Solution").find_parent("details")
    assert solution.select(".highlight pre code span.k")
    assert "open" not in solution.attrs


def test_colab_and_download_stand_below_the_first_cell(built, article):
    assert article.select_one("h1 ~ .lesson-actions")
    colab, download = article.select(".lesson-actions a")
    assert colab["href"].startswith("https://colab.research.google.com/github/")
    assert colab["href"].endswith("/blob/colab/notebooks/01-a.ipynb")
    assert json.loads(built.read(f"notebooks/01-a/{download['href']}"))["cells"]


def test_search_holds_each_cell_once_by_section_without_tags_and_marks(built):
    entries = json.loads(built.read("search/pages.json"))["docs"]
    texts = {entry["location"].removeprefix("notebooks/01-a/"): entry for entry in entries}
    assert {"", "#fix-mat1-not-mat2", "#fix-mat1-not-mat2-1", "#a-part"} <= texts.keys()
    everything = json.dumps(entries)
    assert everything.count("the comment") == 1
    assert everything.count(MESSAGE) == 1
    assert MESSAGE in texts["#a-part"]["text"]
    for noise in ("¶", "\\u00b6", "raises-exception", "Run in Colab", "Traceback"):
        assert noise not in everything


def test_a_lesson_for_two_gpus_offers_kaggle_and_says_when_it_was_last_verified(site, lessons, simulated_run):
    for lesson in lessons:
        page = site.page(lesson)
        name = lesson.split("/")[1]
        gpus = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).metadata.gpus
        kaggle = page.select(".lesson-actions a[href*='kaggle.com']")
        assert len(kaggle) == (gpus == 2)
        assert all(link["href"].endswith(f"/blob/colab/notebooks/{name}.ipynb") for link in kaggle)
        said = page.select_one(".lesson-verified").get_text()
        assert f"torch {simulated_run['torch']} on simulated GPUs" in said


def test_only_a_run_of_this_code_in_which_every_cell_passed_counts_as_verified(tmp_path):
    run = {"date": "2026-03-04", "torch": "2.13.0", "gpus": ["NVIDIA H200", "NVIDIA H200"]}
    notebook = {"cells": [{"cell_type": "code", "source": ["x = 1"]}]}
    code = digest_of_code(notebook)
    standings = {
        "01-a": {"passed": True, "code": code},
        "02-b": {"passed": False, "code": code},
        "03-c": {"passed": True, "code": "of another"},
        "16-c": {"standing": "skipped", "why": "one GPU", "code": code},
    }
    (tmp_path / "gpu.json").write_text(json.dumps({**run, "lessons": standings}))
    assert last_verified("01-a", notebook, tmp_path) == ["torch 2.13.0 on NVIDIA H200, 4 March 2026"]
    assert [last_verified(lesson, notebook, tmp_path) for lesson in ("02-b", "03-c", "16-c", "new")] == [[]] * 4
    assert last_verified("01-a", notebook, tmp_path / "none") == []


def test_each_code_cell_and_each_fence_of_code_is_shown_as_code_and_can_be_copied(site, lessons):
    for lesson in lessons:
        notebook = nbformat.read(ROOT / f"{lesson.rstrip('/')}.ipynb", as_version=4)
        held = "/".join(repository.held(ROOT))  # the first cell installs from there
        cells = [cell.source.replace(held, UPSTREAM) for cell in notebook.cells if cell.cell_type == "code"]
        texts = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        fences = re.findall(r"^```py(?:thon)?\n(.*?)\n```$", texts, re.DOTALL | re.MULTILINE)
        copied = site.page(lesson).select("article .highlight:not(.language-text, .no-copy) > pre")
        assert {code.get_text().strip() for code in copied} >= {code.strip() for code in [*cells, *fences]}, lesson
