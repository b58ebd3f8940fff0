"""The navigation: the tabs of mkdocs.yml, lessons and practice in groups, and what stands below a page that lists it.

A page for each message would weigh on every other page, so the navigation has their index alone. They still have the
index's tab, and breadcrumbs that lead up to it.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure import StructureItem
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from samedevice.catalog import load

_LESSONS = "notebooks/*.ipynb"
_PRACTICE = "notebooks/practice-*.ipynb"


class HomePage(Page):
    """The home page as the first of a tab. MkDocs takes a page for the home page only at the top level."""

    @property
    def is_homepage(self) -> bool:
        return True


def expand_navigation(config: MkDocsConfig) -> list[Any] | None:
    """Return mkdocs.yml's nav, with the notebooks in the places of their patterns."""
    folder = Path(config.config_file_path).parent / "notebooks"
    return config.nav and _expanded(config.nav, {_LESSONS: _lessons(folder), _PRACTICE: _practice(folder)})


def _expanded(items: list[Any], notebooks: dict[str, list[Any]]) -> list[Any]:
    expanded: list[Any] = []
    for item in items:
        if isinstance(item, dict):
            ((title, part),) = item.items()
            expanded.append({title: _expanded(part, notebooks) if isinstance(part, list) else part})
        else:
            expanded += notebooks.get(item, [item])
    return expanded


def _lessons(folder: Path) -> list[Any]:
    """Return the lessons in the groups and in the order of the catalog, then the notebooks that it does not know."""
    there = {path.stem: _place(path) for path in sorted(folder.glob("*.ipynb")) if path.stem not in load().practice}
    groups: dict[str, list[str]] = {}
    for lesson in load().lessons.values():
        if lesson.slug in there:
            groups.setdefault(lesson.group, []).append(there.pop(lesson.slug))
    return [*({group: pages} for group, pages in groups.items()), *there.values()]


def _practice(folder: Path) -> list[Any]:
    return [_place(path) for slug in load().practice if (path := folder / f"{slug}.ipynb").exists()]


def _place(notebook: Path) -> str:
    return f"notebooks/{notebook.name}"


def places(items: list[Any]) -> Iterator[str]:
    """Return each page that a nav names, at any depth."""
    for item in items:
        for part in item.values() if isinstance(item, dict) else [item]:
            yield from places(part) if isinstance(part, list) else [part]


def add_home_page(files: Files, config: MkDocsConfig) -> None:
    """Give the home page's file its page, which the navigation then takes."""
    if home := files.get_file_from_path("index.md"):
        HomePage(None, home, config)


def stay_within_tabs(nav: Navigation) -> None:
    """Let the links to the previous and the next page stay within a tab, and end with the last lesson."""
    last = list(load().lessons)[-1]
    for page in nav.pages:
        if page.previous_page and _tab(page.previous_page) is not _tab(page):
            page.previous_page = None
        if page.file.name == last or (page.next_page and _tab(page.next_page) is not _tab(page)):
            page.next_page = None


def _tab(page: Page) -> StructureItem:
    return [page, *page.ancestors][-1]


def place_below_indexes(nav: Navigation, files: Files) -> None:
    """Put the index of its folder above a page that the navigation leaves out, and with it the index's tab."""
    indexes = {PurePosixPath(page.file.src_uri).parent: page for page in nav.pages if page.is_index}
    for file in files.documentation_pages():
        if file.page and file.page not in nav.pages:
            # MkDocs expects a section here, but asks no more of it than a page has too.
            file.page.parent = indexes.get(PurePosixPath(file.src_uri).parent)  # type: ignore[assignment]
