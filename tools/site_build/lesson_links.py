"""The links of a lesson to other pages: practice, its messages, what it says of claims, and the sheet to print.

The messages are read from the notebook, so that they are true of it, and the claims are those of claims.toml. Only the
site has these links: on GitHub there are no such pages, but for practice.
"""

from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Comment, Tag
from mkdocs.structure.files import Files

from samedevice import explain
from samedevice.catalog import Message, load
from site_build.claims_page import PLACE, claims_of_lesson
from site_build.practice import practice_for

SHEET = "sheet.md"


def add_links(soup: BeautifulSoup, slug: str, notebook: dict[str, Any], files: Files) -> None:
    """Put the links at the end of a lesson's content, and below its message one for those who want the fix alone.

    They count from the folder of the notebooks. A page of practice has none.
    """
    if slug in load().practice:
        return
    below = soup.new_tag("div", attrs={"class": "lesson-links", "data-search-exclude": ""})
    messages = list(_raised(notebook))
    _add_link_to_the_fix(soup)
    if practice := practice_for(slug, files):
        line = soup.new_tag("p")
        line.append(_link(soup, practice, "Practice: eight puzzles on this"))
        below.append(line)
    if messages:
        below.append(_words(soup, "In the error index,", "each message of this page with its other causes:"))
        below.append(_list(soup, {f"errors/{message.id.lower()}.md": message for message in messages}))
    if claims := claims_of_lesson(slug):
        below.append(_folded(soup, "Claims that this lesson checks", claims))
        others = _words(soup, "Claims checked:", "")
        others.append(_link(soup, PLACE, "all of them, with verdict and proof"))
        below.append(others)
    if slug in load().lessons:
        paper = _words(soup, "On paper:", "")
        paper.append(_link(soup, SHEET, "one sheet, from the message to the line"))
        below.append(paper)
    soup.append(below)


def _add_link_to_the_fix(soup: BeautifulSoup) -> None:
    """Put it below the lesson's first paragraphs, if its message is the catalog's."""
    ends = soup.find(string=lambda text: isinstance(text, Comment) and "ways to run it" in text)
    text = soup.select_one("h1 ~ .language-text")
    message = explain(text.get_text().strip()).message if text else None
    if ends and message:
        paragraph = soup.new_tag("p", attrs={"class": "only-the-fix"})
        paragraph.append(_link(soup, f"errors/{message.id.lower()}.md", "Only want the fix?"))
        ends.insert_before(paragraph)


def _raised(notebook: dict[str, Any]) -> Iterator[Message]:
    """Return the messages of the catalog that the lesson's cells raise, each once, in the lesson's order."""
    seen = set()
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                message = explain(f"{output['ename']}: {output['evalue']}").message
                if message and message.id not in seen:
                    seen.add(message.id)
                    yield message


def _words(soup: BeautifulSoup, label: str, text: str) -> Tag:
    paragraph, strong = soup.new_tag("p"), soup.new_tag("strong")
    strong.string = label
    paragraph.extend([strong, f" {text}"])
    return paragraph


def _folded(soup: BeautifulSoup, name: str, html: str) -> Tag:
    fold, summary = soup.new_tag("details", attrs={"class": "claims"}), soup.new_tag("summary")
    summary.string = name
    fold.extend([summary, *BeautifulSoup(html, "html.parser").contents])
    return fold


def _list(soup: BeautifulSoup, messages: dict[str, Message]) -> Tag:
    items = soup.new_tag("ul")
    for place, message in messages.items():
        item = soup.new_tag("li")
        item.append(_link(soup, place, f"{message.title} ({message.id})"))
        items.append(item)
    return items


def _link(soup: BeautifulSoup, place: str, name: str) -> Tag:
    link = soup.new_tag("a", href=f"../{place}")
    link.string = name
    return link
