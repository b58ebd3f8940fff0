"""The page of myths, and the links that lead on from a lesson to it and to the error index."""

import re
from collections import Counter

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


# What follows a cell's code: its first output.
OUTPUT = re.compile(r'</pre></div>\s*<\w+ class="(output|error|picture)[^>]*>(.{,200})', re.S)


def test_a_claim_that_a_lesson_settles_leads_to_the_very_cell_that_does(site, myths, lessons):
    pages = {lesson: site.read(f"{lesson}index.html") for lesson in lessons}
    for claim in CLAIMS:
        lesson = f"notebooks/{claim.home}/"
        if lesson in pages:
            link = myths.select_one(f"[id='{claim.id}'] ~ p > a[href*=notebooks]")
            assert link["href"] == f"../{lesson}#{claim.cell}"
            _, code, after = pages[lesson].partition(f'<div class="highlight" id="{claim.cell}">')
            output = code and re.search(
                r'</pre></div>\s*<\w+ class="(output|error|picture)[^>]*>(.{,200})', after, re.S
            )
            assert output and "highlight" not in after[: output.start()], claim.id
            waits = "waits for a real GPU" in output[2]
            assert words(link.parent).startswith("A cell of lesson" if waits else "Settled by this cell of lesson")


def test_what_no_lesson_settles_leads_to_the_source_that_does(myths):
    others = [claim for claim in CLAIMS if claim.home == "myths"]
    assert others
    for claim in others:
        proof = myths.select_one(f"[id='{claim.id}'] ~ p:-soup-contains('Proof.')")
        links = [str(link["href"]) for link in proof.select("a")]
        named = re.findall(r"`((?:aten|torch)/[\w./]+\.(?:cpp|h|py))`", claim.proof)
        assert len(links) >= len(named)
        assert all(link.startswith(("https://github.com/", "https://docs.pytorch.org/")) for link in links)


def test_the_page_counts_its_claims_by_verdict(myths):
    verdicts = Counter(claim.verdict for claim in CLAIMS)
    numbers = [int(number) for number in re.findall(r"\d+", words(myths.select_one(".lead")))]
    assert numbers == [len(CLAIMS), *(verdicts[v] for v in ("false", "misleading", "incomplete", "does not run"))]


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
