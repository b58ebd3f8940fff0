"""JSON-LD for search engines: what a page is, an article or a lesson, and the way to it. It says no more than the page.

Titles and descriptions are in the front matter of pages and in the metadata of notebooks.
"""

import html
import json
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

# Of pages that begin so, the list.
_LISTS = {
    "errors/": "errors/",
    "causes/": "causes/",
    "notebooks/practice-": "practice/",
    "notebooks/": "lessons/",
}


def structured_data(page: Page, config: MkDocsConfig, nav: Navigation) -> str:
    """Return the JSON-LD of a page, to be put into a script of HTML, which holds data and is not run."""
    site = {"@type": "WebSite", "name": config.site_name, "url": config.site_url}
    description = page.meta.get("description", config.site_description)
    if page.is_homepage:
        facts = [site | {"description": _plain(description), "inLanguage": "en"}]
    else:
        resource = "exercise" if page.meta.get("practice") else "lesson"
        lesson = page.file.src_uri.endswith(".ipynb")
        article: dict[str, Any] = {
            "@type": ["TechArticle", "LearningResource"] if lesson else "TechArticle",
            "headline": _plain(page.meta.get("search_title") or page.meta.get("title") or page.title or ""),
            "description": _plain(description),
            "url": page.canonical_url,
            "inLanguage": "en",
            "isAccessibleForFree": True,
            "isPartOf": site,
        }
        facts = [article | ({"learningResourceType": resource} if lesson else {}), *_way(page, config, nav)]
    data = json.dumps({"@context": "https://schema.org", "@graph": facts}, ensure_ascii=False, separators=(",", ":"))
    return data.replace("<", "\\u003c")


def _way(page: Page, config: MkDocsConfig, nav: Navigation) -> list[dict[str, Any]]:
    """Return the way to a page that stands in a list: the home page, the list, the page."""
    folder = next((folder for folder in _LISTS if page.url.startswith(folder)), "")
    above = next((other for other in nav.pages if folder and other.url == _LISTS[folder]), None)
    if not above or above is page:
        return []
    steps = [(config.site_name, config.site_url), (above.title, above.canonical_url), (page.title, page.canonical_url)]
    items = [
        {"@type": "ListItem", "position": position, "name": _plain(name or ""), "item": address}
        for position, (name, address) in enumerate(steps, 1)
    ]
    return [{"@type": "BreadcrumbList", "itemListElement": items}]


def _plain(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", text))
