"""The MkDocs hook: notebooks from the top-level folder become pages of the site.

mkdocs-jupyter reads and renders them; these events put right what it gets wrong, each in a module of one idea:
notebooks (which files, in which order), page (headings, code, outputs), tracebacks, links.
"""

import json
import re
from pathlib import Path
from typing import Any

import mkdocs_jupyter.config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from lessons.site.links import check_links, links_to_notebooks
from lessons.site.notebooks import add_notebooks, expand_navigation, published_address
from lessons.site.page import finish_notebook

__all__ = ["on_config", "on_files", "on_page_content", "on_page_markdown", "on_post_page"]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    mkdocs_jupyter.config.settings.templates_dir = str(Path(__file__).parent / "templates")
    config.site_url = config.site_url or published_address(config.repo_url)
    config.nav = expand_navigation(config)
    return config


@event_priority(100)  # before mkdocs-jupyter, which takes over the notebooks that it finds among the files
def on_files(files: Files, config: MkDocsConfig) -> Files:
    return add_notebooks(files, config)


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    return links_to_notebooks(markdown, page.file.src_uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    assert page.file.abs_src_path
    metadata = json.loads(Path(page.file.abs_src_path).read_text(encoding="utf-8"))["metadata"]
    soup = finish_notebook(html, page, metadata)
    check_links(soup, page, config, files)
    return str(soup)


def on_post_page(output: str, **_: Any) -> str:
    # Material's search is a dialog without a name, which a screen reader needs.
    return re.sub('data-md-component="search" role="dialog"', r'\g<0> aria-label="Search"', output)
