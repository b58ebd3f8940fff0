"""The site in a real browser: phone and laptop, light and dark, under a path prefix."""

import pytest
from playwright.sync_api import expect
from tests.site.accessibility import UNFOLD

PHONE, LAPTOP = 360, 1280
EDGES = """() => [...document.querySelectorAll("article > :is(h1, h2, p, .highlight)")]
    .filter((element) => element.checkVisibility()).map((element) => {
        const { left, right } = element.getBoundingClientRect();
        return { left: Math.round(left), right: Math.round(right) };
    })"""
CUT = """() => [...document.querySelectorAll("article .highlight pre > code")]
    .filter((code) => code.scrollWidth > code.clientWidth + 1).map((code) => code.textContent.slice(0, 80))"""


def test_the_scheme_is_the_systems_until_one_is_chosen_and_again_when_that_is_taken_back(visit):
    def scheme_is(name):
        expect(page.locator("body")).to_have_attribute("data-md-color-scheme", name)

    page = visit(color_scheme="light")
    scheme_is("default")
    page.reload()
    page.emulate_media(color_scheme="dark")
    scheme_is("slate")
    page.get_by_title("Switch to light mode").click()
    page.reload()
    scheme_is("default")
    page.get_by_title("Switch to dark mode").click()
    page.emulate_media(color_scheme="light")
    scheme_is("slate")
    page.get_by_title("Follow the system").click()
    scheme_is("default")


@pytest.mark.parametrize("width", [LAPTOP, 1600])
def test_headings_and_text_have_one_left_edge_and_text_and_code_one_right_edge_on_all_kinds_of_pages(
    visit, lessons, width
):
    lefts, rights = set(), set()
    page = visit(width=width)
    address = page.url
    for place in ["", "lessons/", lessons[0], "errors/", "errors/sd002/", "claims/", "how-it-is-verified/"]:
        page.goto(address + place)
        boxes = page.evaluate(EDGES)
        lefts |= {box["left"] for box in boxes}
        if place:  # home has no contents at its side, and so a little more room
            rights |= {box["right"] for box in boxes}
    assert len(lefts) == len(rights) == 1


def test_the_header_ends_where_the_page_ends(visit):
    page = visit()
    word, cards = (
        page.locator(".md-header .md-source__repository").bounding_box(),
        page.locator(".cards").bounding_box(),
    )
    assert abs(word["x"] + word["width"] - cards["x"] - cards["width"]) <= 4


def test_a_lesson_offers_colab_where_it_begins_and_at_its_exercises_with_the_minutes_beside_it(visit, lessons):
    for lesson in lessons[1:3]:
        page = visit(lesson)
        first, second = page.get_by_role("link", name="Run in Colab").all()
        assert first.get_attribute("href") == second.get_attribute("href")
        assert first.locator("xpath=..").inner_text().split("\n")[0].startswith("Run in Colab")
        assert "10 minutes" in first.locator("xpath=..").inner_text()
        below = page.locator("#exercises + .lesson-actions")
        assert below.count() == 1 and below.is_visible()


def test_the_devices_that_prose_names_have_their_shapes_and_code_has_none(visit, lessons):
    page = visit(lessons[0])
    names = page.locator("article :is(p, li) > code.device")
    assert {name.inner_text() for name in names.all()} >= {"cpu", "cuda:0"}
    for name in names.all():
        assert name.evaluate("name => getComputedStyle(name, '::before').width") != "auto"
    assert page.locator("article pre .device, article :is(h1, h2, h3) .device").count() == 0


def test_no_code_of_lessons_and_guides_is_cut_on_a_laptop(visit, lessons):
    page = visit()
    address = page.url
    cut = {}
    for place in [*lessons, "simulated-cuda/", "test-without-a-gpu/", "find-the-tensor/", "for-agents/"]:
        page.goto(address + place)
        page.evaluate(UNFOLD)
        cut[place] = page.evaluate(CUT)
    assert {place: lines for place, lines in cut.items() if lines} == {}


def test_each_link_of_the_table_of_contents_leads_to_its_heading(site, lessons):
    for lesson in lessons:
        page = site.page(lesson)
        links = page.select(".md-sidebar--secondary nav a")
        assert links
        for link in links:
            heading = page.select_one(f"[id='{link['href'].removeprefix('#')}']")
            if heading.name == "span":  # at the beginning of a fold, whose summary has the heading
                heading = heading.find_parent("details").select_one("summary h2")
            assert heading.get_text().removesuffix("\N{PILCROW SIGN}").split() == link.get_text().split()


def test_a_phone_scrolls_the_lines_of_a_traceback_and_does_not_break_them(visit, lessons):
    page = visit(lessons[0], PHONE)
    page.evaluate(UNFOLD)
    for code in page.locator("pre.traceback code").all():
        lines = len(code.inner_text().splitlines())
        height = code.evaluate("code => parseFloat(getComputedStyle(code).lineHeight)")
        assert code.bounding_box()["height"] < (lines + 3) * height


def test_a_column_of_numbers_is_aligned_to_the_right(visit):
    number = visit("how-it-is-verified/").locator("article td.right").first
    assert number.evaluate("cell => getComputedStyle(cell).textAlign") == "right"


def test_the_searchs_index_is_loaded_when_the_search_is_opened_and_not_before(visit):
    page = visit("lessons/")
    page.wait_for_load_state("networkidle")
    loaded = "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('search/pages.json'))"
    assert not page.evaluate(loaded)
    page.keyboard.press("/")
    page.wait_for_function(loaded)
