"""Questions of a lesson that a reader answers before the cell runs: alternatives, and what happens folded below them.

A question is a cell of Markdown with the tag `predict`, just above the cell that answers it. It ends in a numbered list
of alternatives, each with a comment that no page shows: `<!-- right -->` for one of them, and why not for the others.
A page has the code first, then the alternatives, then the fold. docs/assets/predict.js makes buttons of the
alternatives; without JavaScript they are a list.
"""

import itertools
import json
import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Comment, PageElement, Tag

from unanswered import answers, without_answers, write

RIGHT = "right"
_HEADINGS = ("h1", "h2", "h3", "h4")
_EXERCISE = re.compile(r"check runs your answer|Exercise \d\d-[a-z]")
_EXPLAINS = re.compile(r"(from samedevice import \w+(, \w+)*\s+)?explain\(\)")


def fold_predictions(soup: BeautifulSoup, notebook: dict[str, Any]) -> None:
    """Mark the alternatives of each question in a lesson's page, put them below the code, and fold what answers it."""
    for cell in answers(notebook):
        code = soup.find("div", id=cell["id"])
        assert isinstance(code, Tag)
        question = code.find_previous_sibling("div", class_="question")
        assert isinstance(question, Tag)
        alternatives = question.find_all("ol", recursive=False)[-1]
        alternatives["class"] = "alternatives"
        if heading := question.find("h2", recursive=False):
            question.insert_before(heading)  # a section begins there, and is no part of the question
        code.insert_after(alternatives)
        for item in alternatives.find_all("li", recursive=False):
            for comment in item.find_all(string=lambda text: isinstance(text, Comment)):
                item["data-why"] = "" if comment.strip() == RIGHT else " ".join(comment.split())
                comment.extract()
        _fold(soup, alternatives)


def clear_downloads(site: Path) -> None:
    """Clear the answers in the notebooks that the built site offers for download."""
    for path in site.glob("notebooks/*/*.ipynb"):
        write(without_answers(json.loads(path.read_text("utf-8"))), path)


def _fold(soup: BeautifulSoup, alternatives: Tag) -> None:
    """Fold what follows, up to the next question, code or heading: the outputs, and what is said of them.

    Where the next code is `explain()` alone, which would tell the answer, it is folded too.
    """
    fold = soup.new_tag("details", attrs={"class": "prediction"})
    summary = soup.new_tag("summary")
    summary.string = "Show what happens"
    fold.append(summary)
    answer: list[PageElement] = []
    for following in alternatives.next_siblings:
        if isinstance(following, Tag) and _ends_the_answer(following):
            break
        answer.append(following)
    fold.extend(answer)
    alternatives.insert_after(fold)


def fold_more(soup: BeautifulSoup) -> None:
    """Fold the section "More" of a lesson, whose heading stays as what opens it.

    The heading's anchor stands in what is folded: a browser unfolds what a link leads to, but not for a link to the
    heading. It is an element of its own, since Material names the code inside an element with an id after it.
    """
    heading = soup.find("h2", id="more")
    if not isinstance(heading, Tag):
        return
    rest = list(itertools.takewhile(lambda each: getattr(each, "name", None) != "h2", heading.next_siblings))
    fold, summary = soup.new_tag("details", attrs={"class": "more"}), soup.new_tag("summary")
    heading.insert_before(fold)
    for link in heading.find_all("a", class_="headerlink"):
        link.decompose()  # what opens a fold has nothing else to click
    summary.append(heading)
    anchor = soup.new_tag("span", id=str(heading.attrs.pop("id")))
    fold.extend([summary, anchor, *rest])


def _ends_the_answer(element: Tag) -> bool:
    if element.name in _HEADINGS or "question" in element.get_attribute_list("class"):
        return True
    if element.name == "p" and _EXERCISE.match(element.get_text()):
        return True  # below the question that recalls an earlier lesson
    return "data-cell" in element.attrs and not _EXPLAINS.fullmatch(element.get_text().strip())
