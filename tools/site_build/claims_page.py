"""The page of claims as Markdown, made from the catalog: what is said, the verdict, what is true, and the proof.

A row leads to the cell that settles its claim; what that cell proves, word for word, is folded below the lesson. Where
no lesson settles a claim, its proof is folded below the row, with links to PyTorch's source. Ids of claims are anchors.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import markdown
from mkdocs.structure.files import Files

from lessons.measured import SIMULATED
from samedevice.catalog import Claim, load
from site_build.templating import templates

PLACE = "claims.md"
_HOME = "claims"  # of the claims that no lesson settles


@dataclass(frozen=True)
class _Verdict:
    """The words for a verdict: before what is true, and where the page counts its claims."""

    verdict: str
    word: str
    counted: str

    @property
    def anchor(self) -> str:
        return self.verdict.replace(" ", "-")

    @property
    def claims(self) -> list[Claim]:
        return [claim for claim in _claims() if claim.verdict == self.verdict]


_VERDICTS = {
    one.verdict: one
    for one in (
        _Verdict("false", "False", "are false"),
        _Verdict("misleading", "Misleading", "mislead"),
        _Verdict("incomplete", "With a condition", "are true only with a condition"),
        _Verdict("does not run", "Does not run", "are examples that do not run"),
    )
}


@dataclass(frozen=True)
class _Proof:
    """A link to the cell that settles a claim."""

    name: str
    place: str


# The release that the proofs are about. Headers are named as every wheel ships them.
_SOURCE = "https://github.com/pytorch/pytorch/blob/v2.13.0/"
_FILE = re.compile(r"`((?:torch/include/)?(?:aten|ATen|c10|torch)/[\w./]+\.(?:cpp|h|py))`")
_ADDRESS = re.compile(r"https://[\w./-]+[\w/]")
_FIRST_SENTENCE = re.compile(r"(?:`[^`]*`|[^`])+?\.(?= |$)")


def claims_page(site: Files) -> str:
    """Return the Markdown of the page; it links to the lessons that are among the files of the site."""
    environment = templates().overlay()
    environment.filters["linked"] = _linked
    template = environment.get_template("catalog/claims.md.jinja")
    text = template.render(
        claims=_claims(), verdicts=_VERDICTS, sentence=sentence, further=_further, proofs=_proofs(site), page_name=_HOME
    )
    return re.sub(r"\n{3,}", "\n\n", text).lstrip()


def claims_of_lesson(lesson: str) -> str:
    """Return the HTML of the claims that a lesson settles, what is true and each proof; or nothing."""
    environment = templates().overlay()
    environment.filters["linked"] = _linked
    claims = [claim for claim in load().claims.values() if claim.home == lesson]
    text = environment.get_template("catalog/claims_of_lesson.md.jinja").render(claims=claims, verdicts=_VERDICTS)
    return markdown.markdown(text, extensions=["attr_list"])


def sentence(claim: Claim) -> str:
    """Return what is true, in one sentence."""
    first = _FIRST_SENTENCE.match(claim.truth)
    return claim.short or (first[0] if first else claim.truth)


def _further(claim: Claim) -> str:
    """Return what is true beyond that sentence."""
    return claim.truth if claim.short else claim.truth.removeprefix(sentence(claim)).strip()


def _claims() -> list[Claim]:
    """Return the claims in the order of the lessons; those that no lesson settles come last."""
    homes = [*load().lessons, _HOME]
    return sorted(load().claims.values(), key=lambda claim: homes.index(claim.home))


def _proofs(site: Files) -> dict[str, _Proof]:
    found = {}
    for claim in load().claims.values():
        lesson = site.get_file_from_path(f"notebooks/{claim.home}.ipynb")
        if lesson:
            assert lesson.abs_src_path
            measures = _measures(Path(lesson.abs_src_path), claim.cell)
            name = f"{'Measured in lesson' if measures else 'Lesson'} {claim.home[:2]}"
            found[claim.id] = _Proof(name, f"{lesson.src_uri}#{claim.cell}")
    return found


def _linked(proof: str) -> str:
    """Return a proof with links to the files of PyTorch's repository and to the pages that it names."""
    proof = _ADDRESS.sub(r"[\g<0>](\g<0>)", proof)
    return _FILE.sub(lambda file: f"[{file[0]}]({_SOURCE}{_in_the_repository(file[1])})", proof)


def _in_the_repository(file: str) -> str:
    return re.sub("^ATen/", "aten/src/ATen/", file.removeprefix("torch/include/"))


def _measures(notebook: Path, cell: str) -> bool:
    """Tell whether the cell's numbers can only come from a real GPU, and none are recorded (`lessons.measured`)."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = next(one["outputs"] for one in cells if one["id"] == cell)
    return any(SIMULATED in "".join(output.get("text", "")) for output in outputs)
