"""The files for programs that read the site: a Markdown twin of each page, llms.txt, and the catalog as data.

llms.txt (llmstxt.org) lists the twins as the navigation has the pages, and then the pages that only lists lead to.
"""

import html
import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

from samedevice.catalog import load
from site_build.markdown_twin import markdown_twin
from site_build.unpublished import settled

CATALOG_VERSION = 1  # of catalog.json's form: it changes if a reader of the old form would be misled
TWIN = "index.md"

_ABOUT_CATALOG = (
    "every message with its texts by release of PyTorch and its causes, and every cause with the lines to change."
    " `version` is that of its form. A message has `id`, `title`, `page`, `texts`, `raised`, `note` and `causes`; a"
    " cause has `title`, `why`, `check`, `before`, `after`, `commands` and `lesson`."
)


def write_twin(page: Page, config: MkDocsConfig) -> None:
    """Write the page as Markdown beside its HTML."""
    assert page.content is not None
    assert page.canonical_url
    file = Path(config.site_dir, page.file.dest_uri).with_name(TWIN)
    file.parent.mkdir(parents=True, exist_ok=True)
    twin = markdown_twin(page.content, page.canonical_url)
    file.write_text(settled(twin, config.extra["upstream"], config.repo_url), encoding="utf-8")


def write_lists(config: MkDocsConfig, nav: Navigation, files: Files) -> None:
    """Write llms.txt and catalog.json at the site's root."""
    site = Path(config.site_dir)
    site.mkdir(parents=True, exist_ok=True)
    (site / "llms.txt").write_text(_llms_txt(config, nav, files), encoding="utf-8")
    (site / "catalog.json").write_text(json.dumps(_catalog(config), ensure_ascii=False), encoding="utf-8")


def _llms_txt(config: MkDocsConfig, nav: Navigation, files: Files) -> str:
    parts = [
        f"# {config.site_name}",
        f"> {config.site_description}",
        "Each page has a twin in Markdown at its address with `index.md` appended. Those are the links here.",
    ]
    alone = [item for item in nav.items if isinstance(item, Page)]
    sections = [("Pages", alone)] if alone else []
    sections += [(item.title, _pages(item)) for item in nav.items if isinstance(item, Section)]
    listed = {page.file.src_uri for _, pages in sections for page in pages}
    others = [file.page for file in files.documentation_pages() if file.page and file.src_uri not in listed]
    for title, folder in (("Error messages", "errors/"), ("Causes", "causes/")):
        sections.append((title, [page for page in others if page.file.src_uri.startswith(folder)]))
    for title, pages in sections:
        if pages:
            parts.append(f"## {title}\n\n" + "\n".join(map(_line, pages)))
    parts.append(f"## Data\n\n- [catalog.json]({config.site_url}catalog.json): {_ABOUT_CATALOG}")
    return "\n\n".join(parts) + "\n"


def _pages(section: Section) -> list[Page]:
    found: list[Page] = []
    for item in section.children:
        found += [item] if isinstance(item, Page) else _pages(item) if isinstance(item, Section) else []
    return found


def _line(page: Page) -> str:
    title = page.meta.get("search_title") or page.meta.get("title") or page.title or ""
    name = html.unescape(re.sub(r"<[^>]+>", "", title)).replace("[", "\\[").replace("]", "\\]")
    about = html.unescape(page.meta.get("description") or "")
    return f"- [{name}]({page.canonical_url}{TWIN})" + (f": {about}" if about else "")


def _catalog(config: MkDocsConfig) -> dict[str, Any]:
    catalog, site = load(), config.site_url
    return {
        "version": CATALOG_VERSION,
        "messages": [
            {
                "id": message.id,
                "title": message.title,
                "page": f"{site}errors/{message.id.lower()}/",
                "texts": message.texts,
                "raised": message.raised,
                "note": message.note,
                "causes": [possible.id for possible in message.causes],
            }
            for message in catalog.messages.values()
        ],
        "causes": {
            cause.id: {
                "title": cause.title,
                "why": cause.why,
                "check": cause.confirm,
                "before": cause.before,
                "after": cause.after,
                "commands": "\n".join(cause.steps),
                "lesson": f"{site}notebooks/{cause.lesson}/",
            }
            for cause in catalog.causes.values()
        },
    }
