"""Every claim of the catalog has a home; a lesson that is one says which claims it settles, and a cell of it does."""

import re
from pathlib import Path

import nbformat
import pytest
from pymdownx.slugs import slugify

from samedevice.catalog import load

LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
anchor = slugify(case="lower")


@pytest.mark.parametrize("claim", load().claims.values(), ids=lambda claim: claim.id)
def test_a_claim_has_a_home(claim):
    assert claim.home == "myths" or claim.home in load().lessons


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_lists_the_claims_that_it_is_home_to(path):
    at_home = [claim.id for claim in load().claims.values() if claim.home == path.stem]
    assert sorted(nbformat.read(path, as_version=4).metadata.claims) == sorted(at_home)


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
            assert stands_in.get(claim.cell) == claim.section, claim.id


@pytest.mark.parametrize("claim", load().claims.values(), ids=lambda claim: claim.id)
def test_only_a_claim_that_no_lesson_settles_has_neither_section_nor_cell(claim):
    assert (claim.home == "myths") == (claim.section == "") == (claim.cell == "")
