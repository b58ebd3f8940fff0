"""Links that work on GitHub and on the site, and that fail the build when dead.

On GitHub a notebook reaches a page as `../docs/page.md` and a page reaches a notebook as `../notebooks/01-x.ipynb`;
on the site both folders are one tree. MkDocs checks the links of Markdown only, so those of notebooks are handed to
the checker that it uses for Markdown: same warnings, same settings under `validation` in mkdocs.yml.
"""

import re

from bs4 import BeautifulSoup
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page, _RelativePathTreeprocessor


def links_to_notebooks(markdown: str, src_uri: str) -> str:
    """Rewrite a Markdown page's links to `../notebooks/`, counted from docs/, into links of the site's tree."""
    up = "../" * src_uri.count("/")
    return re.sub(rf"(\]\(|\]:\s*|href=[\"']){re.escape(up)}\.\./notebooks/", rf"\1{up}notebooks/", markdown)


def check_links(soup: BeautifulSoup, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Turn a notebook's links into the site's and warn of each dead one; dead anchors are MkDocs' to report."""
    checker = _RelativePathTreeprocessor(page.file, files, config)
    for attribute, elements in (("href", soup.select("a[href]")), ("src", soup.select("img[src]"))):
        for element in elements:
            link = str(element[attribute])
            element[attribute] = checker.path_to_url(re.sub(r"^\.\./docs/", "../", link))
    page.links_to_anchors = checker.links_to_anchors
    page.present_anchor_ids = {str(element["id"]) for element in soup.select("[id]")}
