"""Corrections of the HTML that Material and Markdown write, where a checker finds it invalid (test_html_is_valid.py).

A page's content goes through BeautifulSoup. What is around it is the same strings of Material's on every page: parsing
them too takes longer than the rest of the build.
"""

from bs4 import BeautifulSoup

_CHECKBOX = 'type="checkbox" id="__{}" autocomplete="off"'
_OF_MATERIAL = {
    # A checkbox has nothing to complete.
    **{_CHECKBOX.format(name): f'type="checkbox" id="__{name}"' for name in ("drawer", "search")},
    ' tabindex=""': "",
    # The search is a dialog without a name, which a screen reader needs.
    'data-md-component="search" role="dialog"': 'data-md-component="search" role="dialog" aria-label="Search"',
}


def valid(page: str) -> str:
    """Return a whole page, with what Material writes put right."""
    for written, right in _OF_MATERIAL.items():
        page = page.replace(written, right)
    # A page outside the navigation has no toggle of its contents for the label to be of.
    return page if 'id="__toc"' in page else page.replace(' for="__toc"', "")


def with_columns_by_class(content: str) -> str:
    """Return a page's content with a class for how a column is aligned.

    The attribute is obsolete, and a style is more than the Content-Security-Policy allows.
    """
    if ' align="' not in content:
        return content
    soup = BeautifulSoup(content, "html.parser")
    for cell in soup.select("th[align], td[align]"):
        cell["class"] = str(cell.attrs.pop("align"))
    return str(soup)
