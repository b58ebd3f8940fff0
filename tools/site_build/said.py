"""What the site calls a message: its own words, on one line, in heading and title of its page and in every list.

The words are those that most people have: of the newest release, unless the catalog says `usual`. Of several sentences
it is the first, and a long one ends where its first part does. The page has the whole text, too.
"""

import re
import textwrap

from samedevice.catalog import Message
from samedevice.doctor.pages.wordings import usual_text

_CHECKED = re.compile(r"\s*\((?:when|while) checking .*")  # which argument: the page's text has it
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z'\"`])")
_PART = re.compile(r"(?:[,;]| -) ")
_LONG = 120  # characters: four lines of a phone


def said(message: Message) -> str:
    """Return what the site calls a message.

    Example:
        >>> from samedevice.catalog import load
        >>> said(load().messages["SD060"])
        'Cannot re-initialize CUDA in forked subprocess.'
    """
    lines = usual_text(message).strip().split("\n")
    line = " ".join(_CHECKED.sub("", lines[0]).split())
    first = _SENTENCE.split(line)[0]
    if len(first) <= _LONG:
        return first
    parts = [first[: part.start()] for part in _PART.finditer(first, 0, _LONG)]
    whole = [part for part in parts if part.count("(") == part.count(")") and part.count("'") % 2 == 0]
    return whole[-1] if whole else textwrap.shorten(first, 2 * _LONG, placeholder=" …")
