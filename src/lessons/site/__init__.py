"""The MkDocs hook: notebooks from the top-level folder and the catalog of samedevice become pages of the site.

mkdocs-jupyter reads and renders notebooks; these events put right what it gets wrong, each in a module of one idea:
notebooks (which files, in which order), page (headings, code, outputs), tracebacks, links; verified says when a lesson
last passed, lesson_links lead on from it, lesson_index lists them all, figures brings what runs measured, and
failure_pictures draws the home page's cards. Of the catalog, error_pages and myths_page make Markdown, with its texts
made safe by escaping; catalog_files adds it to the site, search_entries to the search. At last each page gets its
content_security_policy.
"""

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import mkdocs_jupyter.config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from lessons.site.catalog_files import add_catalog, has_error_index
from lessons.site.content_security_policy import with_policy
from lessons.site.failure_pictures import failure_picture
from lessons.site.figures import with_differences, with_figures
from lessons.site.lesson_index import with_lessons
from lessons.site.lesson_links import add_links
from lessons.site.links import check_links, links_to_notebooks
from lessons.site.notebooks import add_notebooks, expand_navigation, published_address
from lessons.site.page import finish_notebook
from lessons.site.search_entries import finish_search
from lessons.site.verified import last_verified

__all__ = [
    "on_config",
    "on_files",
    "on_page_content",
    "on_page_markdown",
    "on_post_build",
    "on_post_page",
    "on_post_template",
    "on_serve",
    "on_startup",
]

_serving = False


def on_startup(command: str, **_: Any) -> None:
    global _serving
    _serving = command == "serve"


def on_serve(server: LiveReloadServer, **_: Any) -> None:
    with resources.as_file(resources.files("samedevice.catalog")) as folder:
        server.watch(str(folder))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    mkdocs_jupyter.config.settings.templates_dir = str(Path(__file__).parent / "templates")
    config.site_url = config.site_url or published_address(config.repo_url)
    config.nav = expand_navigation(config)
    return config


@event_priority(100)  # before mkdocs-jupyter, which takes over the notebooks that it finds among the files
def on_files(files: Files, config: MkDocsConfig) -> Files:
    return add_catalog(add_notebooks(files, config), config)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    drawn = re.sub(r"<!-- picture: ([\w-]+) -->", lambda name: failure_picture(name[1]), markdown)
    listed = with_lessons(drawn, Path(config.config_file_path).parent / "notebooks")
    filled = with_figures(with_differences(listed), _results(config))
    return links_to_notebooks(filled, page.file.src_uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    assert page.file.abs_src_path
    notebook = json.loads(Path(page.file.abs_src_path).read_text(encoding="utf-8"))
    slug = Path(page.file.src_uri).stem
    soup = finish_notebook(html, page, notebook["metadata"])
    page.meta["gpus"] = notebook["metadata"].get("gpus")
    page.meta["verified"] = last_verified(slug, _results(config))
    if has_error_index(config):
        add_links(soup, slug, notebook)
    check_links(soup, page, config, files)
    return str(soup)


def on_post_page(output: str, page: Page, **_: Any) -> str:
    return _finish(output, page.file.src_uri)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """The page that is shown where there is none, 404.html, is not made of a file."""
    return _finish(output_content, template_name) if template_name.endswith(".html") else output_content


def on_post_build(config: MkDocsConfig) -> None:
    finish_search(Path(config.site_dir, "search/search_index.json"), has_error_index(config))


def _results(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent / "results"


def _finish(page: str, name: str) -> str:
    # Material's search is a dialog without a name, which a screen reader needs.
    page = re.sub('data-md-component="search" role="dialog"', r'\g<0> aria-label="Search"', page)
    return with_policy(_without_indentation(page), name, _serving)


def _without_indentation(page: str) -> str:
    """Between two tags one line break will do: a tenth of a page is what templates indent with."""
    kept = r"(<(pre|textarea|script|style)\b.*?</\2>)"
    return re.sub(rf"{kept}|>\s*\n\s*<", lambda found: found[1] or ">\n<", page, flags=re.S)
