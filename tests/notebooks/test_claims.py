"""Every claim of the catalog has a home, and where that is a lesson, a cell of it settles the claim."""

import re
from pathlib import Path

import nbformat
import pytest
from pymdownx.slugs import slugify

from samedevice.catalog import load

LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9]*.ipynb"))
anchor = slugify(case="lower")


@pytest.mark.parametrize("claim", load().claims.values(), ids=lambda claim: claim.id)
def test_a_claim_has_a_home(claim):
    assert claim.home == "claims" or claim.home in load().lessons


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_cell_that_settles_a_claim_is_code_with_an_output_in_the_section_that_it_names(path):
    section, stands_in = None, {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            for heading in re.findall("^## (.+)", cell.source, re.M):
                section = anchor(heading.replace("`", ""), "-")
        elif cell.cell_type == "code" and cell.outputs:
            stands_in[cell.id] = section
    for claim in load().claims.values():
        if claim.home == path.stem:
            assert stands_in.get(claim.cell) == claim.section, (
                f"Claim {claim.id}: name, in claims.toml, the `section` of {path.name} that settles it (its heading's "
                f"anchor), and as `cell` the id of a code cell there. Sections by cell: {stands_in}"
            )


@pytest.mark.parametrize("claim", load().claims.values(), ids=lambda claim: claim.id)
def test_only_a_claim_that_no_lesson_settles_has_neither_section_nor_cell(claim):
    assert (claim.home == "claims") == (claim.section == "") == (claim.cell == "")
