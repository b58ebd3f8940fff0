"""What stands below a lesson: the pages of the messages that it raises, and of the myths that it settles.

The messages are read from the notebook, so that they are true of it, and the myths are those of claims.toml. They are
links of the site: on GitHub there are no such pages.
"""

from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Tag

from lessons.site.myths_page import PLACE
from samedevice import explain
from samedevice.catalog import Message, load


def add_links(soup: BeautifulSoup, slug: str, notebook: dict[str, Any]) -> None:
    """Put the links at the end of a lesson's content; they count from the folder of the notebooks."""
    below = soup.new_tag("div", attrs={"class": "lesson-links", "data-search-exclude": ""})
    messages = list(_raised(notebook))
    if messages:
        below.append(_words(soup, "In the error index,", "each message of this page with its other causes:"))
        below.append(_list(soup, {f"errors/{message.id.lower()}.md": message for message in messages}))
    if any(claim.home == slug for claim in load().claims.values()):
        myths = _words(soup, "Myths:", "")
        myths.append(_link(soup, f"{PLACE}#{slug}", "what this lesson settles, each with its proof"))
        below.append(myths)
    soup.append(below)


def _raised(notebook: dict[str, Any]) -> Iterator[Message]:
    """The messages of the catalog that the lesson's cells raise, each once, in the lesson's order."""
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
