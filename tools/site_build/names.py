"""One name for each page: its heading, which tabs, sidebar, footer and lists repeat; and where a lesson stands."""

import html
from typing import Any

from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

from samedevice.catalog import load

LIST = "lessons.md"


def name_by_heading(page: Page) -> None:
    """Name a page of the navigation by its heading; `title` of its metadata stays its `<title>`."""
    if page.parent and page.parent.is_section and page.toc.items:
        name = page.toc.items[0].title
        page.meta.setdefault("search_title", page.meta.get("title", name))
        page.title = page.meta["title"] = name  # the header of a scrolled page shows the latter


def group_anchor(group: str) -> str:
    """Return the anchor of a group's heading on the lessons' page."""
    return str(slugify(case="lower")(group, "-"))


def lesson_place(slug: str, page: Page, files: Files) -> dict[str, Any] | None:
    """Return where a lesson stands: its number, how many there are, its group, and the way to the group."""
    lesson, listed = load().lessons.get(slug), files.get_file_from_path(LIST)
    if not lesson or not listed:
        return None
    return {
        "number": int(slug[:2]),
        "of": len(load().lessons),
        "group": html.escape(lesson.group),
        "address": f"{listed.url_relative_to(page.file)}#{group_anchor(lesson.group)}",
    }
