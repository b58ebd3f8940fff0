"""The page of myths, and the links that lead on from a lesson to it and to the error index."""

import pytest
from bs4 import BeautifulSoup

from samedevice.catalog import load

CLAIMS = load().claims.values()


@pytest.fixture(scope="module")
def myths(site):
    return BeautifulSoup(site.read("myths/index.html"), "html.parser").select_one("article")


def words(element):
    return " ".join(element.get_text().removesuffix("¶").split())


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_stands_there_once_with_what_is_true_and_the_proof(myths, claim):
    (said,) = myths.select(f"[id='{claim.id}']")
    truth = said.find_next_sibling("p")
    assert words(said) == f"“{plain(claim.claim)}”"
    assert words(truth).endswith(plain(claim.truth))
    assert words(truth.find_next_sibling("p")) == f"Proof. {plain(claim.proof)}"


def plain(text):
    return " ".join(text.replace("`", "").split())


def test_a_claim_that_a_lesson_settles_leads_to_the_section_that_does(site, myths, lessons):
    for claim in CLAIMS:
        if f"notebooks/{claim.home}/" in lessons:
            link = myths.select_one(f"[id='{claim.id}'] ~ p > a[href*=notebooks]")
            assert link["href"] == f"../notebooks/{claim.home}/#{claim.section}"
            assert site.page(f"notebooks/{claim.home}/").select(f"h2[id='{claim.section}']"), claim.id


def test_a_lesson_leads_to_the_messages_that_it_raises_and_to_its_myths(site, lessons):
    for lesson in lessons:
        slug = lesson.split("/")[1]
        links = [str(link["href"]) for link in site.page(lesson).select(".lesson-links a")]
        messages = [link for link in links if "/errors/" in link]
        assert messages, lesson
        assert all((site.folder / lesson / link / "index.html").is_file() for link in messages)
        settles = any(claim.home == slug for claim in CLAIMS)
        assert links == messages + settles * [f"../../myths/#{slug}"]


def test_the_links_below_a_lesson_are_those_of_its_errors(site):
    links = site.page("notebooks/11-data-parallel/").select(".lesson-links li > a")
    assert {"SD085", "SD088", "SD089"} <= {words(link)[-6:-1] for link in links}
