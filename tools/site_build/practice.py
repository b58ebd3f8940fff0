"""Practice: the page of all puzzles, what stands below each of them, and the links that lead there.

The puzzles' names and anchors are the headings of the notebooks. What a reader has solved is kept by
docs/assets/practice.js, in that reader's browser only; without JavaScript nothing is said of it.
"""

import json
import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

from samedevice.catalog import Practice, load
from site_build.escaping import escaped
from site_build.repository import in_colab

PLACE = "practice.md"
_PUZZLE = re.compile(r"^## (\d\. .+)$", re.MULTILINE)
_CALL = re.compile(r'^check\("p\d-(\d)"', re.MULTILINE)


def practice_list(notebooks: Path) -> str:
    """Return a part for each notebook in `notebooks`, as Markdown: its name, the lessons it rests on, its puzzles."""
    parts = []
    for practice in load().practice.values():
        file = notebooks / f"{practice.slug}.ipynb"
        if file.exists():
            address = f"../notebooks/{file.name}"
            lines = [f"## [{escaped(short_name(practice))}]({address})", f"{_rests_on(practice)}"]
            lines.append("\n".join(f"1. [{escaped(name)}]({address}#{anchor})" for name, anchor in _puzzles(file)))
            parts.append('<div class="puzzle-group" markdown="1">\n\n' + "\n\n".join(lines) + "\n\n</div>")
    return '<div class="puzzles" markdown="1">\n\n' + "\n\n".join(parts) + "\n\n</div>"


def puzzle_count(notebooks: Path) -> int:
    """Return how many puzzles the practice notebooks in `notebooks` have."""
    files = [notebooks / f"{slug}.ipynb" for slug in load().practice]
    return sum(len(_puzzles(file)) for file in files if file.exists())


def short_name(practice: Practice) -> str:
    """Return the name of a practice notebook where it is clear that it is one: without "Practice: "."""
    name = practice.title.partition(": ")[2]
    return name[0].upper() + name[1:]


def _rests_on(practice: Practice) -> str:
    slugs = [lesson.slug for lesson in load().lessons.values() if lesson.group == practice.group]
    if not slugs:
        return "After all lessons"
    first, last = (f"[{slug[:2]}](../notebooks/{slug}.ipynb)" for slug in (slugs[0], slugs[-1]))
    return f"After lessons {first} to {last}"


def _puzzles(file: Path) -> list[tuple[str, str]]:
    """Return the name of each puzzle without its number, and the anchor of its heading."""
    cells = json.loads(file.read_text("utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    slug = slugify(case="lower")
    return [(line[3:], str(slug(line.replace("`", ""), "-"))) for line in _PUZZLE.findall(text)]


def practice_place(slug: str, page: Page, files: Files) -> dict[str, Any] | None:
    """Return where a practice notebook stands: its number, how many there are, and the way to all puzzles."""
    listed = files.get_file_from_path(PLACE)
    if slug not in load().practice or not listed:
        return None
    return {"number": int(slug[9]), "of": len(load().practice), "address": listed.url_relative_to(page.file)}


def offer_to_edit(soup: BeautifulSoup, place: str, repository: str | None) -> None:
    """Put, below what `check` says of each puzzle, a link to where one can edit it."""
    for cell in soup.select("div.highlight[data-cell]"):
        call, said = _CALL.search(cell.get_text()), cell.find_next_sibling("pre")
        if call and said:
            line = soup.new_tag("p", attrs={"class": "puzzle", "data-puzzle": str(int(call[1]) - 1)})
            link = soup.new_tag("a", href=in_colab(repository, place))
            link.string = "Run in Colab"
            line.append(link)
            said.insert_after(line)


def practice_for(lesson: str, files: Files) -> str | None:
    """Return the place of the practice notebook that rests on a lesson, or None."""
    group = load().lessons[lesson].group if lesson in load().lessons else None
    places = [f"notebooks/{slug}.ipynb" for slug, practice in load().practice.items() if practice.group == group]
    return next((place for place in places if files.get_file_from_path(place)), None)
