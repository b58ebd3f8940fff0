"""What a reader is asked to predict: the page keeps the answer folded, and a browser tells which choice is right."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect
from tests.site.conftest import ROOT

# Resolves once the page has kept that it was read.
KEPT = """new Promise((resolve) => {
    const kept = () => Object.keys(localStorage).some((key) => key.startsWith("samedevice-read"));
    const look = () => (kept() ? resolve() : setTimeout(look, 20));
    look();
})"""
MESSAGE = "Expected all tensors to be on the same device"
QUESTION = """## A section

Which line fails?

1. The first, with `x`. <!-- The `x` of the first is on the GPU. -->
2. The second. <!-- right -->"""
CELLS = [
    new_markdown_cell("# The title\n\nIntroduction."),
    new_markdown_cell(QUESTION, metadata={"tags": ["predict"]}),
    new_code_cell(
        "f(x)\ng(x)",
        outputs=[new_output("error", ename="RuntimeError", evalue=MESSAGE, traceback=[f"RuntimeError: {MESSAGE}"])],
        execution_count=1,
        metadata={"tags": ["raises-exception"]},
    ),
    new_markdown_cell("It was the second, as `g` says."),
    new_markdown_cell(QUESTION.replace("## A section\n\n", ""), metadata={"tags": ["predict"]}),
    new_code_cell("1", outputs=[new_output("stream", name="stdout", text="one\n")], execution_count=2),
    new_markdown_cell(QUESTION.replace("## A section\n\n", ""), metadata={"tags": ["predict"]}),
    new_code_cell("h(x)", outputs=[new_output("stream", name="stdout", text="two\n")], execution_count=3),
    new_code_cell("explain()", outputs=[new_output("stream", name="stdout", text="It is x.\n")], execution_count=4),
    new_markdown_cell("So move it."),
    new_code_cell("x.to(0)", execution_count=5),
    new_markdown_cell("## More\n\nRarer things."),
    new_code_cell("i(x)", outputs=[new_output("stream", name="stdout", text="three\n")], execution_count=6),
    new_markdown_cell(f"## Exercises\n\n{QUESTION.partition(chr(10))[2].strip()}", metadata={"tags": ["predict"]}),
    new_code_cell("j(x)", outputs=[new_output("stream", name="stdout", text="four\n")], execution_count=7),
    new_markdown_cell("It is as in lesson 01.\n\n`check` runs your answer.\n\n**Exercise 02-a: predict.** Which?"),
    new_code_cell("check()", execution_count=8),
    new_markdown_cell("## Remember\n\nThat."),
]


@pytest.fixture(scope="module")
def built(build_small):
    built = build_small({"index.md": "# Home"}, {"01-a.ipynb": new_notebook(cells=CELLS)})
    assert built.returncode == 0, built.log
    return built


def test_below_the_code_are_the_alternatives_and_below_them_the_answer_in_a_fold(built):
    article = built.page("notebooks/01-a/").select_one("article")
    first, second, *_ = article.select("ol.alternatives")
    assert "f(x)" in first.find_previous_sibling().get_text()
    answer = first.find_next_sibling()
    assert answer.name == "details" and "open" not in answer.attrs
    assert MESSAGE in answer.get_text() and "It was the second" in answer.get_text()
    assert "Which line fails?" not in answer.get_text(), "the next question is not part of the answer"
    assert "one" in second.find_next_sibling("details").get_text()
    assert article.select_one("h2#remember").find_parent("details") is None
    for fold in article.select("details.prediction"):
        fold.decompose()
    assert MESSAGE not in article.get_text()


def test_why_not_is_no_text_of_the_page(built):
    page = built.page("notebooks/01-a/")
    whys = [item["data-why"] for item in page.select_one("ol.alternatives").select("li")]
    assert whys == ["The `x` of the first is on the GPU.", ""]
    assert "is on the GPU" not in page.get_text()
    assert "<!-- right" not in built.read("notebooks/01-a/index.html")
    assert "is on the GPU" not in built.read("notebooks/01-a/index.md")


def test_the_notebook_to_download_has_no_answers(built):
    notebook = json.loads(built.read("notebooks/01-a/01-a.ipynb"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [bool(cell["outputs"]) for cell in code] == [False, False, False, True, False, True, False, False]
    assert [cell["execution_count"] for cell in code] == [None, None, None, 4, 5, 6, None, 8]
    assert ["".join(cell["source"]) for cell in code][:3] == ["f(x)\ng(x)", "1", "h(x)"]


def test_what_explain_says_of_a_predicted_cell_is_folded_with_it(built):
    fold = built.page("notebooks/01-a/").select("details.prediction")[2]
    assert "It is x." in fold.get_text() and "So move it." in fold.get_text()
    assert "x.to(0)" not in fold.get_text()


def test_the_exercises_below_a_recalled_question_are_not_folded(built):
    fold = built.page("notebooks/01-a/").select("details.prediction")[-1]
    assert "four" in fold.get_text() and "It is as in lesson 01." in fold.get_text()
    assert "check" not in fold.get_text() and "Which?" not in fold.get_text()


def test_what_is_rarer_is_one_fold_that_its_heading_opens(built):
    (more,) = built.page("notebooks/01-a/").select("details.more")
    assert more.select_one("summary h2").get_text() == "More"
    assert not more.select("summary a, summary [id]")
    assert more.select_one("summary + #more")
    assert all(text in more.get_text() for text in ("Rarer things.", "i(x)", "three"))
    assert not more.select("#exercises, #remember")
    assert "open" not in more.attrs


def test_no_lesson_shows_between_a_question_and_its_fold_what_happens(site, lessons):
    for lesson in lessons:
        page = site.page(lesson)
        notebook = nbformat.read(ROOT / f"{lesson.rstrip('/')}.ipynb", as_version=4)
        asked = [cell for cell in notebook.cells if "predict" in cell.metadata.get("tags", [])]
        folds = page.select("details.prediction")
        assert len(folds) == len(asked) == len(page.select("ol.alternatives")), lesson
        for fold in folds:
            outputs = fold.select(":scope > :is(.output, .error, .output-html, .picture, img)")
            assert outputs, lesson
            assert fold.find_previous_sibling("ol", class_="alternatives").find_next_sibling() is fold, lesson


def test_a_wrong_choice_says_why_not_and_the_right_one_unfolds_what_happens(visit, lessons):
    page = visit(lessons[0])
    choices = page.locator("ol.alternatives").first
    why, answer = page.locator(".why").first, page.locator("details.prediction").first
    wrong = choices.locator("li:not([data-why='']) button").first
    wrong.click()
    expect(why).to_contain_text("No. ")
    expect(answer).not_to_have_attribute("open", "")
    right = choices.locator("li[data-why=''] button")
    right.focus()
    page.keyboard.press("Enter")
    expect(why).to_have_text("Right.")
    expect(answer).to_have_attribute("open", "")
    questions = page.locator("ol.alternatives").count()
    counted = f"You predicted 1 of {questions} on this page."
    expect(page.locator(".predicted")).to_have_text(counted)
    page.reload()
    expect(page.locator(".predicted")).to_have_text(counted)
    expect(answer).not_to_have_attribute("open", "")


def test_without_javascript_there_are_a_list_and_a_fold(visit, lessons):
    page = visit(lessons[0], java_script_enabled=False)
    assert page.locator("ol.alternatives button").count() == 0
    answer = page.locator("details.prediction").first
    expect(answer.locator(".error").first).to_be_hidden()
    answer.locator("summary").first.click()
    expect(answer.locator(".error").first).to_be_visible()


def test_a_link_to_what_is_rarer_unfolds_it(visit, lessons):
    page = visit(lessons[0])
    more = page.locator("details.more")
    expect(more).not_to_have_attribute("open", "")
    page.locator("nav a[href='#more']:visible").first.click()
    expect(more).to_have_attribute("open", "")


def test_the_list_of_lessons_shows_what_was_read_and_predicted(visit, lessons, address):
    page = visit(lessons[1])
    asked = page.locator("ol.alternatives").count()
    page.locator("ol.alternatives [data-why=''] button").first.click()
    page.locator("#remember").scroll_into_view_if_needed()
    page.evaluate(KEPT)
    page.goto(f"{address}lessons/")
    rows = page.locator(".lesson-group + ul > li")
    expect(rows.nth(1).locator(".standing")).to_have_text(f"read, predicted 1 of {asked}")
    expect(rows.nth(0).locator(".standing")).to_be_empty()
    assert page.locator(".lesson-group + ul > .read").count() == 1
