"""The two-minute page: five screens with a picture and a line of code each, which fit a phone and need no script."""

import pytest
from tests.site.conftest import LAPTOP

PHONE = {"width": 390, "height": 664}
ANCHORS = ["device", "meet", "to", "misses", "find"]
# From the top of what a screen shows to the end of it; on the first screen, the page's name stands above.
EXTENTS = """() => [...document.querySelectorAll(".screen")].map((screen, number) => {
    const first = number ? screen : document.querySelector("article h1");
    return screen.lastElementChild.getBoundingClientRect().bottom - first.getBoundingClientRect().top;
})"""


def test_each_screen_has_one_picture_one_line_of_code_and_the_ways_on(site):
    screens = site.page("two-minutes/").select("section.screen")
    assert [screen.h2["id"] for screen in screens] == ANCHORS
    for screen, following in zip(screens, [*ANCHORS[1:], None], strict=True):
        assert len(screen.select("svg.placement")) == 1
        assert [len(code.get_text().strip().splitlines()) for code in screen.select("pre")] == [1]
        lesson, next_one = screen.select("p.screen-ways a")
        assert "/notebooks/" in lesson["href"]
        assert next_one["href"] == (f"#{following}" if following else "../lessons/")


@pytest.mark.parametrize("scripts", [True, False])
def test_each_screen_fits_a_phone(visit, scripts):
    page = visit("two-minutes/", java_script_enabled=scripts)
    page.set_viewport_size(PHONE)
    header = page.evaluate("document.querySelector('.md-header').getBoundingClientRect().height")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    extents = page.evaluate(EXTENTS)
    assert len(extents) == len(ANCHORS)
    assert max(extents) <= PHONE["height"] - header, extents


@pytest.mark.parametrize("width", [PHONE["width"], LAPTOP])
def test_it_opens_at_its_top_and_not_at_a_screen_to_which_it_snaps(visit, width):
    page = visit("two-minutes/", width)
    page.wait_for_timeout(300)  # browsers snap in their own time
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize("width", [PHONE["width"], LAPTOP])
def test_next_leads_to_the_next_screen_below_the_header(visit, width):
    page = visit("two-minutes/", width, java_script_enabled=False)
    page.set_viewport_size({"width": width, "height": PHONE["height"]})
    header = page.evaluate("document.querySelector('.md-header').getBoundingClientRect().height")
    for anchor in ANCHORS[1:]:
        page.locator(f".screen-next[href='#{anchor}']").click()
        page.wait_for_timeout(300)  # browsers scroll and snap in their own time
        top = page.evaluate(f"document.getElementById('{anchor}').getBoundingClientRect().top")
        assert header <= top < PHONE["height"] / 2, anchor


def test_learn_offers_it_above_the_list_beside_the_first_lesson_and_practice(site, lessons):
    links = site.page("lessons/").select("article .first-steps a")
    assert [link["href"] for link in links] == [f"../{lessons[0]}", "../two-minutes/", "../practice/"]
