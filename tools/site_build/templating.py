"""Jinja templates for the pages that are made from data: Markdown, into which the data's texts bring no markup.

The templates write Markdown, so Jinja's own escaping, which is for HTML, is off. A template passes each text through
one of the filters instead: `escaped` shows it letter by letter, `sentences` also marks code, `fence` makes a block.
Where a template writes HTML, `html` shows a line of code letter by letter, and `change` gives the lines of a cause.
`said` gives what the site calls a message.
"""

import functools
import html
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from samedevice.doctor.outline import change
from site_build.escaping import escaped, fence, sentences
from site_build.said import said

TEMPLATES = Path(__file__).parent / "templates"


@functools.cache
def templates() -> Environment:
    """Return the templates of this folder, by names such as "catalog/claims.md.jinja"."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"escaped": escaped, "sentences": sentences, "fence": fence, "change": change, "html": _html}
    environment.filters["said"] = said
    return environment


def _html(line: str) -> str:
    return html.escape(line, quote=False)
