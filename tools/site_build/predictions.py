"""Questions of a lesson that a reader answers before the cell runs: alternatives, and what happens folded below them.

A question is a cell of Markdown with the tag `predict`, just above the cell that answers it. It ends in a numbered list
of alternatives, each with a comment that no page shows: `<!-- right -->` for one of them, and why not for the others.
A page has the code first, then the alternatives, then the fold. docs/assets/predict.js makes buttons of the
alternatives; without JavaScript they are a list.
"""

import copy
import itertools
import json
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Comment, PageElement, Tag

RIGHT = "right"
_HEADINGS = ("h1", "h2", "h3", "h4")


def fold_predictions(soup: BeautifulSoup, notebook: dict[str, Any]) -> None:
    """Mark the alternatives of each question in a lesson's page, put them below the code, and fold what answers it."""
    for cell in _answers(notebook):
        code = soup.find("div", id=cell["id"])
        assert isinstance(code, Tag)
        question = code.find_previous_sibling("div", class_="question")
        assert isinstance(question, Tag)
        alternatives = question.find_all("ol", recursive=False)[-1]
        alternatives["class"] = "alternatives"
        code.insert_after(alternatives)
        for item in alternatives.find_all("li", recursive=False):
            for comment in item.find_all(string=lambda text: isinstance(text, Comment)):
                item["data-why"] = "" if comment.strip() == RIGHT else " ".join(comment.split())
                comment.extract()
        _fold(soup, alternatives)


def without_answers(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a notebook in which nothing that a reader is asked to predict is answered."""
    asked = copy.deepcopy(notebook)
    for cell in _answers(asked):
        cell.update(outputs=[], execution_count=None)
    return asked


def clear_downloads(site: Path) -> None:
    """Clear the answers in the notebooks that the built site offers for download."""
    for path in site.glob("notebooks/*/*.ipynb"):
        notebook = without_answers(json.loads(path.read_text("utf-8")))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _answers(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    cells = notebook["cells"]
    return [cell for question, cell in itertools.pairwise(cells) if "predict" in question["metadata"].get("tags", [])]


def _fold(soup: BeautifulSoup, alternatives: Tag) -> None:
    """Fold what follows, up to the next question, code or heading: the outputs, and what is said of them."""
    fold = soup.new_tag("details", attrs={"class": "prediction"})
    summary = soup.new_tag("summary")
    summary.string = "Show what happens"
    fold.append(summary)
    answer: list[PageElement] = []
    for following in alternatives.next_siblings:
        if isinstance(following, Tag) and (following.name in _HEADINGS or _begins_a_cell(following)):
            break
        answer.append(following)
    fold.extend(answer)
    alternatives.insert_after(fold)


def _begins_a_cell(element: Tag) -> bool:
    return "id" in element.attrs or "question" in element.get_attribute_list("class")
