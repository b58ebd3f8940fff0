"""Valid HTML of what Material and Markdown write: what the checker finds in it (tests/site/test_html_is_valid.py)."""

import re


def valid(page: str) -> str:
    # A checkbox has nothing to complete.
    page = re.sub(r'(<input [^>]*type="checkbox"[^>]*) autocomplete="off"', r"\1", page)
    # A page outside the navigation has no toggle of its contents for the label to be of.
    if 'id="__toc"' not in page:
        page = page.replace(' for="__toc"', "")
    page = page.replace(' tabindex=""', "")
    # A column's alignment: the attribute is obsolete, and a style is more than the Content-Security-Policy allows.
    return re.sub(r'(<t[dh]) align="(left|center|right)"', r'\1 class="\2"', page)
