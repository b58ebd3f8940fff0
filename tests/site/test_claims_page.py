"""The page of claims, and the links that lead on from a lesson to it and to the error index."""

import re
from collections import Counter

import pytest
from bs4 import BeautifulSoup

from samedevice.catalog import load
from site_build.claims_page import sentence

CLAIMS = load().claims.values()
VERDICTS = {
    "false": "False",
    "misleading": "Misleading",
    "incomplete": "With a condition",
    "does not run": "Does not run",
}


@pytest.fixture(scope="module")
def page(site):
    return BeautifulSoup(site.read("claims/index.html"), "html.parser").select_one("article")


@pytest.fixture(scope="module")
def lesson_pages(site, lessons):
    return {lesson: site.page(lesson) for lesson in lessons}


def words(element):
    return " ".join(element.get_text().removesuffix("¶").split())


def plain(text):
    return " ".join(text.replace("`", "").split())


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_stands_there_once_with_its_verdict_and_what_is_true_in_one_sentence(page, claim):
    (said,) = page.select(f"[id='{claim.id}']")
    row = said.find_next_sibling("p")
    assert words(said) == f"“{plain(claim.claim)}”"
    assert words(row).startswith(f"{VERDICTS[claim.verdict]} {plain(sentence(claim))}")
    assert len(re.findall(r"[.!?](?= |$)", plain(sentence(claim)))) == 1
    assert sentence(claim).endswith(".")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_all_that_is_true_and_the_whole_proof_are_folded_below_the_lesson_or_below_the_row(page, lesson_pages, claim):
    if claim.home == "claims":
        fold = page.select_one(f"[id='{claim.id}'] ~ details.proof")
        assert plain(claim.truth.removeprefix(sentence(claim))) in words(fold)
    else:
        fold = lesson_pages[f"notebooks/{claim.home}/"].select_one(".lesson-links > details.claims")
        assert plain(claim.truth) in words(fold)
    assert plain(claim.proof) in words(fold)


def test_the_commonest_come_first_and_the_others_are_folded_by_verdict(page):
    common = [claim for claim in CLAIMS if claim.common]
    assert len(common) == 12
    assert words(page.select_one("#commonest")) == "The 12 commonest"
    ids = [said["id"] for said in page.select(".claim")]
    assert len(ids) == len(CLAIMS)
    assert set(ids[:12]) == {claim.id for claim in common}
    assert not page.select_one(f"[id='{ids[11]}']").find_parent("details")
    for verdict in VERDICTS:
        fold = page.select_one(f"details#{verdict.replace(' ', '-')}")
        others = {claim.id for claim in CLAIMS if claim.verdict == verdict and not claim.common}
        assert {said["id"] for said in fold.select(".claim")} == others
        assert words(fold.summary) == f"{VERDICTS[verdict]}: {len(others)} more"


def test_the_counts_on_top_lead_to_the_claims_that_they_count(page):
    verdicts = Counter(claim.verdict for claim in CLAIMS)
    lead = page.select_one(".lead")
    assert f"Of {len(CLAIMS)} claims" in words(lead)
    counts = {link["href"]: int(words(link).split()[0]) for link in lead.select("a")}
    assert counts == {f"#{verdict.replace(' ', '-')}": verdicts[verdict] for verdict in VERDICTS}


@pytest.mark.parametrize(("width", "height"), [(360, 640), (1280, 900)])
def test_a_link_to_a_folded_claim_unfolds_it(visit, width, height):
    folded = next(claim for claim in CLAIMS if not claim.common)
    page = visit("claims/", width)
    assert not page.locator(f"[id='{folded.id}']").is_visible()
    page = visit(f"claims/#{folded.id}", width)
    page.locator(f"[id='{folded.id}']").wait_for(state="visible")


def test_a_claim_that_a_lesson_settles_leads_to_the_very_cell_that_does(site, page, lessons):
    pages = {lesson: site.read(f"{lesson}index.html") for lesson in lessons}
    for claim in CLAIMS:
        lesson = f"notebooks/{claim.home}/"
        if lesson in pages:
            link = page.select_one(f"[id='{claim.id}'] + p > a[href*=notebooks]")
            assert link["href"] == f"../{lesson}#{claim.cell}"
            _, code, after = pages[lesson].partition(f' id="{claim.cell}">')
            # What follows a cell's code is its first output, or what a reader may predict of it, and then that.
            asked = r'(?:<ol class="alternatives">.*?</ol>\s*<details class="prediction"><summary>[^<]*</summary>\s*)?'
            output = code and re.search(
                rf'</pre></div>\s*{asked}<\w+ class="(output|error|picture)[^>]*>(.{{,200}})', after, re.S
            )
            assert output and 'class="highlight' not in after[: output.start()], claim.id
            measures = "On a real GPU, this cell measures" in output[2]
            assert words(link) == f"{'Measured in lesson' if measures else 'Lesson'} {claim.home[:2]}"


def test_what_no_lesson_settles_leads_to_the_source_that_does(page):
    others = [claim for claim in CLAIMS if claim.home == "claims"]
    assert others
    for claim in others:
        proof = page.select_one(f"[id='{claim.id}'] + p + details.proof")
        links = [str(link["href"]) for link in proof.select("a")]
        named = re.findall(r"`((?:aten|torch)/[\w./]+\.(?:cpp|h|py))`", claim.proof)
        assert len(links) >= len(named)
        assert all(link.startswith(("https://github.com/", "https://docs.pytorch.org/")) for link in links)


def test_a_lesson_leads_to_the_messages_that_it_raises_and_to_the_claims(site, lessons):
    for lesson in lessons:
        slug = lesson.split("/")[1]
        below = site.page(lesson).select_one(".lesson-links")
        links = [str(link["href"]) for link in below.select("ul a, :scope > p a")]
        messages = [link for link in links if "/errors/" in link]
        assert messages, lesson
        assert all((site.folder / lesson / link / "index.html").is_file() for link in messages)
        own = [claim for claim in CLAIMS if claim.home == slug]
        practice = [link for link in links if "/practice-" in link]
        assert len(practice) == (lesson != lessons[-1]), lesson
        assert links == practice + messages + bool(own) * ["../../claims/"] + ["../../sheet/"]
        assert [link["href"] for link in below.select("details a[href^='#']")] == [f"#{claim.cell}" for claim in own]


def test_the_links_below_a_lesson_are_those_of_its_errors(site):
    links = site.page("notebooks/17-data-parallel/").select(".lesson-links li > a")
    assert {"SD085", "SD002"} == {words(link)[-6:-1] for link in links}
