"""A memory of rendered pages: a page of the site that is served is rendered again only if something in it has changed.

After each edit MkDocs builds all pages, and three quarters of that time is rendering. A page's content depends on its
own text, in which figures and counts stand by then, and on what pages share: which files there are, mkdocs.yml, the
catalog, and the results of runs.
"""

from collections.abc import Hashable
from importlib import resources
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from site_build.notebooks import project

# What on_page_content puts onto a page. What rendering does is seen from the page before and after.
_FINISHED = ("toc", "title", "present_anchor_ids", "links_to_anchors")
_shared: Hashable = None
_changed: dict[str, set[str]] = {}
_remembered: dict[str, tuple[Hashable, dict[str, Any]]] = {}


def begin_build(config: MkDocsConfig, files: Files) -> None:
    """Note what the pages of this build share."""
    global _shared
    with resources.as_file(resources.files("samedevice.catalog")) as catalog:
        read = [Path(config.config_file_path), *catalog.rglob("*.toml"), *(project(config) / "results").glob("*.json")]
        _shared = frozenset(files.src_uris), frozenset((path, path.stat().st_mtime_ns) for path in read)


def render_if_changed(page: Page) -> None:
    """Let the page's `render` give it what it had last time, if nothing has changed since."""
    render = page.render

    def render_or_recall(config: MkDocsConfig, files: Files) -> None:
        made_of, attributes = _remembered.get(page.file.src_uri, (None, {}))
        if made_of != (_shared, page.markdown):
            before = dict(vars(page))
            render(config, files)
            _changed[page.file.src_uri] = {name for name, value in vars(page).items() if before.get(name) is not value}
            return
        vars(page).update(attributes, meta=dict(attributes["meta"]))
        # The keys are files, which are other objects in each build.
        links = attributes.get("links_to_anchors") or {}
        page.links_to_anchors = {files.src_uris[file.src_uri]: anchors for file, anchors in links.items()}

    page.render = render_or_recall  # type: ignore[method-assign]


def is_recalled(page: Page) -> bool:
    """Tell whether the page's content is that of last time, and so finished already."""
    _, attributes = _remembered.get(page.file.src_uri, (None, {}))
    return page.content is attributes.get("content")


def remember(page: Page, content: str) -> None:
    """Keep what the page was given, with its finished content."""
    names = {*_changed[page.file.src_uri], *_FINISHED} & vars(page).keys()
    attributes = {name: vars(page)[name] for name in names}
    attributes |= {"content": content, "meta": dict(page.meta)}
    _remembered[page.file.src_uri] = ((_shared, page.markdown), attributes)
