"""Every claim of the catalog has a home, and a lesson that is a home says which claims it settles."""

from pathlib import Path

import nbformat
import pytest

from samedevice.catalog import load

LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("claim", load().claims.values(), ids=lambda claim: claim.id)
def test_a_claim_has_a_home(claim):
    assert claim.home == "myths" or claim.home in load().lessons


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_lists_the_claims_that_it_is_home_to(path):
    at_home = [claim.id for claim in load().claims.values() if claim.home == path.stem]
    assert sorted(nbformat.read(path, as_version=4).metadata.claims) == sorted(at_home)
