"""The MkDocs hook: notebooks from the top-level folder and the catalog of samedevice become pages of the site.

mkdocs-jupyter reads and renders notebooks; these events put right what it gets wrong, each in a module of one idea:
notebooks (which files, in which order), page (headings, code, outputs), code_colours, tracebacks, links; verified says
when a lesson last passed, lesson_links lead on from it, lesson_index lists them all, failure_pictures draws the home
page's cards, and explorer_page and explorer_data bring what was recorded of placements. figures and run_tables bring
what runs measured, source_counts what is counted in the sources. Of the catalog, error_pages and myths_page make
Markdown, with its texts made safe by escaping; catalog_files adds it to the site, search_entries to the search, which
search_on_demand loads late. At last valid_html puts right the HTML of others, and each page gets its
content_security_policy. offline is what differs where the site is read from a disk, and served what is not done again
where it is being edited.
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
from lessons.site.code_colours import use_few_colours
from lessons.site.content_security_policy import with_policy
from lessons.site.explorer_page import add_explorer_data, with_placements
from lessons.site.failure_pictures import failure_devices, failure_picture
from lessons.site.figures import with_differences, with_figures
from lessons.site.lesson_index import with_lessons
from lessons.site.lesson_links import add_links
from lessons.site.links import check_links, links_to_notebooks
from lessons.site.notebooks import add_notebooks, expand_navigation, project, published_address
from lessons.site.offline import configure_offline, is_offline, lead_to_files, link_files, published, use_plain_scripts
from lessons.site.page import finish_notebook
from lessons.site.run_tables import with_runs
from lessons.site.search_entries import finish_search
from lessons.site.search_on_demand import load_search_on_demand
from lessons.site.served import begin_build, is_recalled, remember, render_if_changed
from lessons.site.source_counts import with_counts
from lessons.site.valid_html import valid
from lessons.site.verified import last_verified

__all__ = [
    "on_config",
    "on_files",
    "on_page_content",
    "on_page_markdown",
    "on_post_build",
    "on_post_page",
    "on_post_template",
    "on_pre_page",
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
    use_few_colours()
    config.site_url = config.site_url or published_address(config.repo_url)
    config.nav = expand_navigation(config)
    if is_offline(config):
        configure_offline(config)
    return config


@event_priority(100)  # before mkdocs-jupyter, which takes over the notebooks that it finds among the files
def on_files(files: Files, config: MkDocsConfig) -> Files:
    files = add_explorer_data(add_catalog(add_notebooks(files, config), config), config)
    if _serving:
        begin_build(config, files)
    return use_plain_scripts(files, config) if is_offline(config) else files


@event_priority(-100)  # after mkdocs-jupyter, which gives a notebook's page another `render`
def on_pre_page(page: Page, **_: Any) -> Page:
    if _serving:
        render_if_changed(page)
    return page


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    drawn = re.sub(r"<!-- picture: ([\w-]+) -->", lambda name: failure_picture(name[1]), markdown)
    drawn = re.sub(r"<!-- devices: ([\w-]+) -->", lambda name: failure_devices(name[1]), drawn)
    listed = with_lessons(drawn, Path(config.config_file_path).parent / "notebooks")
    filled = with_figures(with_differences(listed), _results(config))
    counted = with_counts(with_runs(with_placements(filled, config), project(config)), project(config))
    return links_to_notebooks(counted, page.file.src_uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if not _serving:
        return _finish_content(html, page, config, files)
    if not is_recalled(page):
        html = _finish_content(html, page, config, files)
        remember(page, html)
    return html


def _finish_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if is_offline(config):
        assert page.canonical_url
        page.canonical_url = published(page.canonical_url)
        html = link_files(html)
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    assert page.file.abs_src_path
    notebook = json.loads(Path(page.file.abs_src_path).read_text(encoding="utf-8"))
    slug = Path(page.file.src_uri).stem
    soup = finish_notebook(html, page, notebook)
    page.meta["gpus"] = notebook["metadata"].get("gpus")
    page.meta["verified"] = last_verified(slug, _results(config))
    if has_error_index(config):
        add_links(soup, slug, notebook)
    check_links(soup, page, config, files)
    return str(soup)


def on_post_page(output: str, page: Page, **_: Any) -> str:
    return _finish_page(output, page.file.src_uri)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """The page that is shown where there is none, 404.html, is not made of a file."""
    return _finish_page(output_content, template_name) if template_name.endswith(".html") else output_content


def on_post_build(config: MkDocsConfig) -> None:
    index = Path(config.site_dir, "search/search_index.json")
    finish_search(index, has_error_index(config), project(config) / "notebooks")
    load_search_on_demand(Path(config.site_dir))
    if is_offline(config):
        lead_to_files(index)


def _results(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent / "results"


def _finish_page(page: str, name: str) -> str:
    # Material's search is a dialog without a name, which a screen reader needs.
    page = re.sub('data-md-component="search" role="dialog"', r'\g<0> aria-label="Search"', page)
    return with_policy(_without_indentation(valid(page)), name, _serving)


def _without_indentation(page: str) -> str:
    """Of white space with a line break, between tags and at their text, one line break will do: a tenth of a page."""
    kept = r"(<(pre|textarea|script|style)\b.*?</\2>)"
    between = r">[^<>]*\n[^<>]*(?=<)"
    return re.sub(f"{kept}|{between}", lambda it: it[1] or re.sub(r"\s*\n\s*", "\n", it[0]), page, flags=re.S)
