"""The page of myths as Markdown, made from the catalog: what is said, what is true, the proof, the lesson that runs it.

Each has its id as the anchor, and each lesson's heading the lesson's name, so that a lesson can lead to its own.
"""

from mkdocs.structure.files import Files

from lessons.site.escaping import escaped, sentences
from samedevice.catalog import Claim, load

PLACE = "myths.md"

_VERDICTS = {
    "false": "False.",
    "misleading": "Misleading.",
    "incomplete": "True only with a condition.",
    "does not run": "It does not run.",
}
_FRONT_MATTER = """---
title: Myths about PyTorch's device errors
description: >-
  What tutorials and forums say about PyTorch's device errors and is not so. Each with what is true, and the proof.
search: {exclude: true}  # a pasted error is to find its page, not what is wrongly said of it
---"""


def myths_page(site: Files) -> str:
    """The Markdown of the page; it links to the lessons that are among the files of the site."""
    parts = [
        _FRONT_MATTER,
        "# Myths about PyTorch's device errors",
        "What tutorials and forums say and is not so, or not quite. A run or PyTorch's source settles each.\n{ .lead }",
    ]
    for home, claims in _by_home().items():
        lesson = load().lessons.get(home)
        number, title = (f"{home[:2]} · ", lesson.title) if lesson else ("", "The message, and where it comes from")
        parts.append(f"## {escaped(number + title)} {{ #{home} }}")
        for claim in claims:
            parts += _claim(claim, site)
    return "\n\n".join(parts) + "\n"


def _by_home() -> dict[str, list[Claim]]:
    """The claims that no lesson settles come first, then lesson by lesson."""
    homes = ["myths", *load().lessons]
    found = {home: [claim for claim in load().claims.values() if claim.home == home] for home in homes}
    return {home: claims for home, claims in found.items() if claims}


def _claim(claim: Claim, site: Files) -> list[str]:
    lesson = site.get_file_from_path(f"notebooks/{claim.home}.ipynb")
    section = f"#{claim.section}" if claim.section else ""
    return [
        f"**“{sentences(claim.claim)}”**\n{{ #{claim.id} .myth }}",
        f"**{_VERDICTS[claim.verdict]}** {sentences(claim.truth)}",
        f"**Proof.** {sentences(claim.proof)}",
        *([f"Run in [lesson {claim.home[:2]}]({lesson.src_uri}{section})."] if lesson else []),
    ]
