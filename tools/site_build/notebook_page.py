"""From the HTML that nbconvert makes of a notebook to the content, title and table of contents of a page.

Anchors are made by the rule GitHub has for Markdown: "Fix `a`, not b" is `#fix-a-not-b`, a second one `#fix-a-not-b-1`.
"""

import html
import re
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag
from markdown.extensions.toc import nest_toc_tokens
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc
from pymdownx.slugs import slugify

from samedevice.catalog import load
from samedevice.placement.drawing import colour_of
from site_build.predictions import fold_more, fold_predictions
from site_build.tracebacks import plain, shorten


def finish_notebook(content: str, page: Page, notebook: dict[str, Any]) -> BeautifulSoup:
    """Return the page's content, and set the page's title, name, description and table of contents.

    The name is the catalog's (else the first heading), and begins the `<title>` of a lesson. That of another notebook
    is `title` of its metadata (else the first heading); they have `description`, too (else the site's).
    """
    metadata = notebook["metadata"]
    soup = BeautifulSoup(content, "html.parser")
    _finish_code(soup, _texts(notebook))
    _finish_outputs(soup)
    fold_predictions(soup, notebook)
    _mark_minutes(soup)
    _finish_tables(soup)
    headings = _finish_headings(soup)
    fold_more(soup)
    if headings:
        page.meta["title"] = headings[0]["name"]
    row = load().lessons.get(page.file.name) or load().practice.get(page.file.name)
    name = html.escape(row.title) if row else page.meta.get("title", page.title)
    page.toc = get_toc(nest_toc_tokens(headings))  # empties the list
    # The templates print both as they are, the description inside an attribute. Material's header shows `title`.
    for key, kept in (("search_title", "title"), ("description", "description")):
        if kept in metadata:
            page.meta[key] = html.escape(metadata[kept])
    if page.file.name in load().lessons:
        page.meta["search_title"] = f"{name}: PyTorch device errors, lesson {page.file.name[:2]}"
    # In navigation and links, with the lesson's number.
    page.title = name if page.file.name in load().practice else f"{page.file.name.split('-')[0]} · {name}"
    return soup


def _finish_code(soup: BeautifulSoup, texts: set[str]) -> None:
    """Give code the form that Material expects: `<div class="highlight"><pre><code>`."""
    for block in soup.find_all("div", class_="highlight"):
        pre = block.find("pre")
        assert pre
        # Text, such as a message, is wrapped by our style and has no copy button; code is not, and has one.
        is_text = pre.get_text().strip() in texts
        block["class"] = "language-text highlight no-copy" if is_text else "highlight"
        code = soup.new_tag("code")
        code.extend(list(pre.contents))
        pre.append(code)


def _texts(notebook: dict[str, Any]) -> set[str]:
    """Return the texts in the notebook's fences of ```text; the HTML no longer says which these are."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    fences = re.findall(r"^```text\n(.*?)^```", "\n".join(sources), re.DOTALL | re.MULTILINE)
    return {fence.strip() for fence in fences}


def _finish_outputs(soup: BeautifulSoup) -> None:
    for output in [code for pre in soup.find_all("pre", class_="output") for code in pre.find_all("code")]:
        text = output.get_text()
        output.string = shorten(text) if output.find_parent("details") else plain(text).rstrip()
    tables = soup.find_all("div", class_="output-html")
    for style in [style for output in tables for style in output.find_all("style")]:
        style.decompose()  # for a notebook: the site has its own
    for output in tables:
        for text in [text for text in output.find_all(string=True) if type(text) is NavigableString]:
            text.replace_with(plain(text))
    for cell in [cell for output in tables for cell in output.find_all("td")]:
        if (colour := colour_of(cell.get_text())) != "ink":
            name = soup.new_tag("span", attrs={"class": f"device {colour}"})
            name.extend(list(cell.contents))
            cell.append(name)


def _mark_minutes(soup: BeautifulSoup) -> None:
    """Mark the paragraph "10 minutes, after 01.": the template puts it beside the button that runs the lesson."""
    said = soup.find(lambda each: each.name == "p" and re.match(r"\d+ minutes[.,]", each.get_text()) is not None)
    if isinstance(said, Tag):
        said["class"] = "takes"


def _finish_tables(soup: BeautifulSoup) -> None:
    """Align columns by a class, as pages do: the site's Content-Security-Policy refuses `style`."""
    for cell in soup.find_all(["th", "td"]):
        if str(cell.get("style", "")).startswith("text-align"):
            cell["class"] = str(cell.attrs.pop("style")).partition(":")[2].strip(" ;")


def _finish_headings(soup: BeautifulSoup) -> list[dict[str, Any]]:
    """Give each heading its anchor and return the headings as Markdown's table of contents takes them."""
    slug = slugify(case="lower")
    headings: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for heading in soup.find_all(["h1", "h2", "h3", "h4", "h5", "h6"]):
        for link in heading.find_all("a", class_="anchor-link"):
            link.decompose()
        name = " ".join(heading.get_text().split())
        anchor = slug(name, "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        if seen[anchor]:
            anchor = f"{anchor}-{seen[anchor]}"
        heading["id"] = anchor
        permalink = soup.new_tag("a", href=f"#{anchor}", title="Permanent link", attrs={"class": "headerlink"})
        permalink.string = "¶"
        heading.append(permalink)
        headings.append({"level": int(re.sub(r"\D", "", heading.name)), "id": anchor, "name": html.escape(name)})
    return headings
