"""The front matter of a page made from the catalog: its title and its description, which search engines show."""

import html
import json
import re
from collections.abc import Iterable

_DESCRIPTION = 155  # characters: search engines show no more
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?]) (?=(?:[^`]*`[^`]*`)*[^`]*$)")  # never inside code


def front_matter(title: str, description: str) -> str:
    """Return the front matter of a page that search finds by entries of its own (search_entries)."""
    # MkDocs' templates print title and description as they are, the latter inside an attribute.
    meta = {"title": html.escape(title), "description": html.escape(description), "search": {"exclude": True}}
    return "\n".join(["---", *(f"{name}: {json.dumps(value)}" for name, value in meta.items()), "---"])


def described(first: Iterable[str], *more: str) -> str:
    """Return whole sentences, as a search engine shows them: without backticks, and none that was cut.

    Args:
        first: titles and sentences that the description begins with, however long; each gets its full stop.
        more: sentences, of which it has each that there is still room for.

    Example:
        >>> described(["The batch stayed on the CPU"], "`x.to(a. b)` returns a copy. " + "It is long. " * 30)[:70]
        'The batch stayed on the CPU. x.to(a. b) returns a copy. It is long. It'
    """
    text = " ".join(_plain(part if part.endswith((".", "?", "!")) else f"{part}.") for part in first)
    for sentence in (sentence for part in more for sentence in _BETWEEN_SENTENCES.split(part.strip())):
        if sentence and len(text) + 1 + len(_plain(sentence)) <= _DESCRIPTION:
            text = f"{text} {_plain(sentence)}"
    return text


def _plain(sentence: str) -> str:
    return " ".join(sentence.replace("`", "").split())
