"""The page of myths as Markdown, made from the catalog: what is said, what is true, the proof, and what settles it.

Each has its id as the anchor, and each lesson's heading the lesson's name, so that a lesson can lead to its own. Where
no cell settles one, PyTorch's source does, to which its proof leads.
"""

import json
import re
from collections import Counter
from pathlib import Path

from mkdocs.structure.files import Files

from lessons.measured import WAITS
from lessons.site.escaping import escaped, sentences
from samedevice.catalog import Claim, load

PLACE = "myths.md"

# By the verdict: what stands before the truth, and how the page counts such claims.
_VERDICTS = {
    "false": ("False.", "are false"),
    "misleading": ("Misleading.", "mislead"),
    "incomplete": ("True only with a condition.", "are true only with a condition"),
    "does not run": ("It does not run.", "are examples that do not run"),
}
_FRONT_MATTER = """---
title: Myths about PyTorch's device errors
description: >-
  What tutorials and forums say about PyTorch's device errors and is not so. Each with what is true, and the cell or the
  source that settles it.
search: {exclude: true}  # a pasted error is to find its page; search_entries has the claims, without the proofs
---"""
# The release that the proofs are about. Headers are named as every wheel ships them.
_SOURCE = "https://github.com/pytorch/pytorch/blob/v2.13.0/"
_FILE = re.compile(r"`((?:torch/include/)?(?:aten|ATen|c10|torch)/[\w./]+\.(?:cpp|h|py))`")
_ADDRESS = re.compile(r"https://[\w./-]+[\w/]")


def myths_page(site: Files) -> str:
    """The Markdown of the page; it links to the lessons that are among the files of the site."""
    verdicts = Counter(claim.verdict for claim in load().claims.values())
    counts = [f"{verdicts[verdict]} {words}" for verdict, (_, words) in _VERDICTS.items()]
    parts = [
        _FRONT_MATTER,
        "# Myths about PyTorch's device errors",
        f"What tutorials and forums say and is not so, or not quite. Of these {verdicts.total()} claims,"
        f" {', '.join(counts[:-1])} and {counts[-1]}. A cell of a lesson settles each, or PyTorch's source."
        "\n{ .lead }",
    ]
    for home, claims in _by_home().items():
        lesson = load().lessons.get(home)
        number, title = (f"{home[:2]} · ", lesson.title) if lesson else ("", "Settled outside the lessons")
        parts.append(f"## {escaped(number + title)} {{ #{home} }}")
        for claim in claims:
            parts += _claim(claim, site)
    return "\n\n".join(parts) + "\n"


def _by_home() -> dict[str, list[Claim]]:
    """The claims lesson by lesson; those that no lesson settles come last."""
    homes = [*load().lessons, "myths"]
    found = {home: [claim for claim in load().claims.values() if claim.home == home] for home in homes}
    return {home: claims for home, claims in found.items() if claims}


def _claim(claim: Claim, site: Files) -> list[str]:
    lesson = site.get_file_from_path(f"notebooks/{claim.home}.ipynb")
    parts = [
        f"**“{sentences(claim.claim)}”**\n{{ #{claim.id} .myth }}",
        f"**{_VERDICTS[claim.verdict][0]}**{{ .verdict .{claim.verdict.replace(' ', '-')} }} {sentences(claim.truth)}",
        f"**Proof.** {_linked(sentences(claim.proof))}",
    ]
    if lesson:
        assert lesson.abs_src_path
        at = f"cell of lesson {claim.home[:2]}]({lesson.src_uri}#{claim.cell})"
        waits = _waits(Path(lesson.abs_src_path), claim.cell)
        parts.append(f"[A {at} measures it, and waits for a real GPU." if waits else f"Settled by [this {at}.")
    return parts


def _linked(proof: str) -> str:
    """A proof with links to the files of PyTorch's repository and to the pages that it names."""
    proof = _ADDRESS.sub(r"[\g<0>](\g<0>)", proof)
    return _FILE.sub(lambda file: f"[{file[0]}]({_SOURCE}{_in_the_repository(file[1])})", proof)


def _in_the_repository(file: str) -> str:
    return re.sub("^ATen/", "aten/src/ATen/", file.removeprefix("torch/include/"))


def _waits(notebook: Path, cell: str) -> bool:
    """Whether the cell's number can only come from a real GPU, and none was recorded (`lessons.measured`)."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = next(one["outputs"] for one in cells if one["id"] == cell)
    return any(WAITS in "".join(output.get("text", "")) for output in outputs)
