"""The MkDocs hook: notebooks from the top-level folder and the catalog of samedevice become pages of the site.

MkDocs calls the events below. mkdocs-jupyter makes pages of the notebooks, and Jinja templates make pages of docs/ and
of the catalog. The events add these pages, put right what the plugin, Markdown and Material get wrong, and write what
programs read beside the pages. Each step is a module of one idea, which says at its top what it does.
"""

import gc
import json
import logging
import re
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2.environment import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from site_build.asset_comments import remove_comments
from site_build.catalog_files import add_catalog, forget_catalog, has_error_index
from site_build.code_colours import use_few_colours
from site_build.content_security_policy import with_policy
from site_build.device_names import with_shapes
from site_build.explorer_page import add_explorer_data
from site_build.for_agents import TWIN, write_lists, write_twin
from site_build.joined_doctor import join_doctor
from site_build.last_changed import last_changed
from site_build.lesson_links import add_links
from site_build.links import check_links, links_to_notebooks
from site_build.names import lesson_place, name_by_heading
from site_build.navigation import add_home_page, expand_navigation, place_below_indexes, stay_within_tabs
from site_build.notebook_page import finish_notebook
from site_build.notebooks import add_notebooks, project
from site_build.page_template import filled_in
from site_build.practice import offer_to_edit, practice_place
from site_build.predictions import clear_downloads
from site_build.rendering import render_notebook
from site_build.repository import in_colab, leading_here, published_address, repository
from site_build.search_engines import structured_data
from site_build.search_entries import finish_search
from site_build.search_worker import put_search_in_place
from site_build.served import begin_build, is_recalled, remember, render_if_changed
from site_build.templating import TEMPLATES
from site_build.unpublished import LOCAL, is_unpublished, settled, settled_page
from site_build.valid_html import valid, with_columns_by_class
from site_build.verified import last_verified

__all__ = [
    "on_config",
    "on_env",
    "on_files",
    "on_nav",
    "on_page_content",
    "on_page_context",
    "on_page_markdown",
    "on_post_build",
    "on_post_page",
    "on_post_template",
    "on_pre_page",
    "on_serve",
    "on_startup",
]

_KEPT_OR_BETWEEN = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)|>[^<>]*\n[^<>]*(?=<)", re.S)
_BREAK = re.compile(r"\s*\n\s*")
_serving = False
_navigation: Navigation | None = None


def on_startup(command: str, **_: Any) -> None:
    global _serving
    _serving = command == "serve"
    # Of each lesson it would say in a line that it has been copied.
    logging.getLogger("mkdocs.plugins.mkdocs_jupyter").setLevel(logging.WARNING)
    # A parsed page is many small objects, among which Python would look for garbage a thousand times.
    gc.set_threshold(100_000)


def on_serve(server: LiveReloadServer, config: MkDocsConfig, **_: Any) -> None:
    with resources.as_file(resources.files("samedevice.catalog")) as folder:
        server.watch(str(folder))
    server.watch(str(TEMPLATES))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    use_few_colours()
    config.extra["upstream"] = config.repo_url
    config.repo_url = repository(project(config), config.repo_url)
    address = LOCAL if is_unpublished(config.repo_url) else published_address(config.repo_url)
    config.site_url = config.site_url or address
    forget_catalog()
    config.nav = expand_navigation(config)
    return config


@event_priority(100)  # before mkdocs-jupyter, which takes over the notebooks that it finds among the files
def on_files(files: Files, config: MkDocsConfig) -> Files:
    files = add_explorer_data(add_catalog(add_notebooks(files, config), config), config)
    add_home_page(files, config)
    if _serving:
        begin_build(config, files)
    return files


def on_nav(nav: Navigation, files: Files, **_: Any) -> Navigation:
    global _navigation
    _navigation = nav
    place_below_indexes(nav, files)
    stay_within_tabs(nav)
    return nav


@event_priority(-100)  # after mkdocs-jupyter, which gives a notebook's page another `render`
def on_pre_page(page: Page, **_: Any) -> Page:
    if page.file.src_uri.endswith(".ipynb"):
        render_notebook(page)
    if _serving:
        render_if_changed(page)
    return page


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    if page.file.src_uri.endswith(".md") and not page.file.generated_by:
        markdown = filled_in(markdown, page.file.src_uri, project(config))
        markdown = leading_here(markdown, config.extra["upstream"], config.repo_url)
    return links_to_notebooks(markdown, page.file.src_uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if not _serving:
        return _finish_content(html, page, config, files)
    if not is_recalled(page):
        html = _finish_content(html, page, config, files)
        remember(page, html)
    return html


def _finish_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    html = with_shapes(with_columns_by_class(html))
    if not page.file.src_uri.endswith(".ipynb"):
        name_by_heading(page)
        return html
    assert page.file.abs_src_path
    notebook = json.loads(Path(page.file.abs_src_path).read_text(encoding="utf-8"))
    slug = Path(page.file.src_uri).stem
    soup = finish_notebook(html, page, notebook)
    page.meta["lesson"] = lesson_place(slug, page, files)
    page.meta["practice"] = practice_place(slug, page, files)
    page.meta["colab"] = in_colab(config.repo_url, page.file.src_uri)
    page.meta["gpus"] = notebook["metadata"].get("gpus")
    page.meta["verified"] = last_verified(slug, notebook, project(config) / "results")
    if has_error_index(config):
        add_links(soup, slug, notebook, files)
    offer_to_edit(soup, page.file.src_uri, config.repo_url)
    check_links(soup, page, config, files)
    return str(soup)


def on_env(env: Environment, config: MkDocsConfig, files: Files, **_: Any) -> Environment:
    """Write the lists for programs: every page has its title and description by now."""
    env.filters["last_changed"] = lambda file: last_changed(file, project(config))
    if not _serving:  # programs do not come to a site that is being edited
        assert _navigation
        write_lists(config, _navigation, files)
    return env


def on_page_context(context: dict[str, Any], page: Page, config: MkDocsConfig, nav: Navigation) -> dict[str, Any]:
    context["structured_data"] = structured_data(page, config, nav)
    if not _serving:
        context["twin"] = TWIN
        write_twin(page, config)
    return context


def on_post_page(output: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    return _finish_page(output, page.file.src_uri, config)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig, **_: Any) -> str:
    """Finish 404.html, the page that is shown if there is no other: it is not made of a file."""
    return _finish_page(output_content, template_name, config) if template_name.endswith(".html") else output_content


def on_post_build(config: MkDocsConfig) -> None:
    index = Path(config.site_dir, "search/search_index.json")
    finish_search(index, has_error_index(config), project(config) / "notebooks")
    put_search_in_place(Path(config.site_dir), Path(config.docs_dir, "assets/search-worker.js"))
    clear_downloads(Path(config.site_dir))
    for file in (index.with_name("pages.json"), *Path(config.site_dir).glob("notebooks/*/*.ipynb")):
        text = settled(file.read_text(encoding="utf-8"), config.extra["upstream"], config.repo_url)
        file.write_text(text, encoding="utf-8")
    remove_comments(Path(config.site_dir))
    join_doctor(Path(config.site_dir))


def _finish_page(page: str, name: str, config: MkDocsConfig) -> str:
    page = settled_page(valid(page), config.extra["upstream"], config.repo_url)
    return with_policy(_without_indentation(page), name, _serving)


def _without_indentation(page: str) -> str:
    """Cut white space that has a line break, between tags and at their text, to the line break: a tenth of a page."""
    return _KEPT_OR_BETWEEN.sub(lambda it: it[1] or _BREAK.sub("\n", it[0]), page)
