"""Links that work on GitHub and on the site, and that fail the build when dead.

On GitHub a notebook reaches a page as `../docs/page.md` and a page reaches a notebook as `../notebooks/01-x.ipynb`;
on the site both folders are one tree. MkDocs checks the links of Markdown only. Those of notebooks are checked here, at
the levels that `validation` in mkdocs.yml gives for Markdown. MkDocs is told of anchors and warns itself.
"""

import posixpath
import re
from urllib.parse import unquote, urlsplit, urlunsplit

from bs4 import BeautifulSoup
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

log = get_plugin_logger("site_build")


def links_to_notebooks(markdown: str, src_uri: str) -> str:
    """Rewrite a Markdown page's links to `../notebooks/`, counted from docs/, into links of the site's tree."""
    up = "../" * src_uri.count("/")
    return re.sub(rf"(\]\(|\]:\s*|href=[\"']){re.escape(up)}\.\./notebooks/", rf"\1{up}notebooks/", markdown)


def check_links(soup: BeautifulSoup, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Turn a notebook's links into the site's and warn of each dead one; dead anchors are MkDocs' to report."""
    anchors: dict[File, dict[str, str]] = {}
    for attribute, elements in (("href", soup.find_all("a", href=True)), ("src", soup.find_all("img", src=True))):
        for element in elements:
            link = re.sub(r"^\.\./docs/", "../", str(element[attribute]))
            element[attribute] = _of_the_site(link, page.file, config, files, anchors)
    page.links_to_anchors = anchors
    page.present_anchor_ids = {str(element["id"]) for element in soup.find_all(id=True)}


def _of_the_site(link: str, file: File, config: MkDocsConfig, files: Files, anchors: dict[File, dict[str, str]]) -> str:
    """Return the address to which `link` leads, as `file` gives it; the anchor that it names is added to `anchors`."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return link
    levels = config.validation.links
    if link.startswith("/"):
        log.log(levels.absolute_links, f"'{file.src_uri}' contains an absolute link '{link}', which is left as it is.")
        return link
    target: File | None = file
    if parts.path:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(file.src_uri), unquote(parts.path)))
        target = files.get_file_from_path(place)
        if target is None:
            log.log(levels.not_found, f"'{file.src_uri}' contains a link '{link}', and there is no file '{place}'.")
            return link
    assert target
    if parts.fragment:
        anchors.setdefault(target, {}).setdefault(parts.fragment, link)
    path = target.url_relative_to(file) if parts.path else ""
    return urlunsplit(("", "", path, parts.query, parts.fragment))
