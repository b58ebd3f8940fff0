"""The front matter of a page made from the catalog: its title and its description, which search engines show."""

import html
import json
import re
import textwrap

from samedevice.catalog import Cause
from samedevice.doctor.outline import change


def front_matter(title: str, description: str) -> str:
    """Return the front matter of a page that search finds by entries of its own (search_entries)."""
    # MkDocs' templates print title and description as they are, the latter inside an attribute.
    meta = {"title": html.escape(title), "description": html.escape(description), "search": {"exclude": True}}
    return "\n".join(["---", *(f"{name}: {json.dumps(value)}" for name, value in meta.items()), "---"])


def beginning(text: str, width: int) -> str:
    """Return the beginning of a text, on one line and without backticks."""
    return textwrap.shorten(text.replace("`", "'"), width, placeholder=" …")


def fix_in_words(cause: Cause, width: int) -> str:
    """Return the lines that a fix adds, or the commands to run, on one line of at most so many characters.

    >>> from samedevice.catalog import load
    >>> fix_in_words(load().causes["model_not_moved"], 60)
    'model = build_model().to(device)'
    """
    lines = [line[2:].strip() for line in change(cause) if line.startswith(("+ ", "$ "))]
    without_comments = [re.sub(r"\s*(?<!\S)#.*", "", line) for line in lines]
    return beginning("; ".join(filter(None, without_comments)), width)
