"""Practice: the page of all puzzles, the page of each notebook, and what a browser keeps of what was solved."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.site.accessibility import RULES, STILL
from tests.site.conftest import ROOT

from samedevice.catalog import load

PRACTICE = [f"notebooks/{slug}/" for slug in load().practice]
*REPAIRS, MIXED = PRACTICE
PHONE = 360


def names(place):
    """The names of a notebook's puzzles, as its headings have them."""
    cells = json.loads((ROOT / f"{place.rstrip('/')}.ipynb").read_text("utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return [name.replace("`", "") for name in re.findall(r"^## \d\. (.+)", text, re.M)]


@pytest.fixture(scope="module")
def listed(site):
    """The parts of the page of all puzzles, a part for each notebook."""
    return site.page("practice/").select("article .puzzles > .puzzle-group")


def test_the_page_has_all_forty_puzzles_by_notebook_with_links_to_them(site, listed):
    assert sum(len(part.select("ol > li")) for part in listed) == 40
    for place, part in zip(PRACTICE, listed, strict=True):
        assert part.h2.a["href"] == f"../{place}"
        assert [item.get_text() for item in part.select("ol > li")] == names(place)
        anchors = [heading["id"] for heading in site.page(place).select("article h2")]
        assert [link["href"] for link in part.select("ol a")] == [f"../{place}#{anchor}" for anchor in anchors[:8]]


def test_each_part_says_on_which_lessons_it_rests(listed):
    for practice, part in zip(load().practice.values(), listed, strict=True):
        group = [lesson.slug for lesson in load().lessons.values() if lesson.group == practice.group]
        links = [link["href"] for link in part.p.select("a")]
        assert links == [f"../notebooks/{slug}/" for slug in (*group[:1], *group[-1:])]


def test_a_lesson_leads_to_the_puzzles_on_it(site, lessons):
    groups = {practice.group: f"../{practice.slug}/" for practice in load().practice.values()}
    for lesson in lessons:
        links = site.page(lesson).select(".lesson-links a[href*=practice-]")
        group = load().lessons[lesson.split("/")[1]].group
        assert [link["href"] for link in links] == ([groups[group]] if group in groups else [])
        assert all(link.get_text() == "Practice: eight puzzles on this" for link in links)


def test_a_puzzle_to_repair_has_its_failure_a_link_to_colab_and_its_solution_folded(site):
    for place in REPAIRS:
        article = site.page(place).select_one("article")
        (colab, *_) = article.select(".lesson-actions a")
        lines = article.select("p.puzzle")
        assert [line["data-puzzle"] for line in lines] == [*"01234567"]
        for line in lines:
            assert line.a["href"] == colab["href"]
            assert line.find_previous_sibling().get_text().startswith("Not right yet.")
            fold = line.find_next_sibling()
            assert (fold.name, fold.summary.get_text(), "open" in fold.attrs) == ("details", "Solution", False)


def test_nothing_of_it_is_on_other_pages_and_without_javascript_nothing_asks_to_be_ticked(site):
    for place in site.pages:
        has = "assets/practice.js" in site.read(f"{place}index.html")
        assert has == (place in [*PRACTICE, "practice/"]), place
    assert not any(site.page(place).select("article input") for place in [*PRACTICE, "practice/"])
    assert "solved" not in site.page("practice/").select_one("article").get_text()


def test_what_is_ticked_or_predicted_is_kept_and_shown_on_the_page_of_all_puzzles(visit, address):
    page = visit(REPAIRS[0])
    boxes = page.get_by_label("I solved it")
    expect(boxes).to_have_count(8)
    for number in (0, 2):
        boxes.nth(number).check()
    page.goto(f"{address}{MIXED}")
    first, second = (page.locator("ol.alternatives").nth(number) for number in (0, 1))
    first.locator("li[data-why='']").click()
    second.locator("li:not([data-why=''])").first.click()
    page.goto(f"{address}practice/")
    solved = page.locator(".puzzles .solved a")
    assert solved.all_text_contents() == [names(REPAIRS[0])[0], names(REPAIRS[0])[2], names(MIXED)[0]]
    expect(page.get_by_text("You solved 3 of 40.")).to_be_visible()
    solved.nth(1).click()
    expect(boxes.nth(2)).to_be_checked()
    boxes.nth(2).press("Space")
    page.go_back()
    expect(page.get_by_text("You solved 2 of 40.")).to_be_visible()
    expect(solved).to_have_count(2)


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_axe_finds_nothing_where_some_are_solved(visit, address, width):
    page = visit(REPAIRS[0], width)
    page.get_by_label("I solved it").first.check()
    for place in (REPAIRS[0], "practice/"):
        page.goto(f"{address}{place}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for _ in range(2):
            found = Axe().run(page, options=RULES)
            assert found.violations_count == 0, found.generate_report()
            page.locator("header label[for^=__palette]:visible").click()
            page.evaluate(STILL)


def test_on_a_laptop_the_notebooks_are_columns_beside_each_other(visit):
    page = visit("practice/")
    boxes = [part.bounding_box() for part in page.locator(".puzzle-group").all()]
    assert len({box["x"] for box in boxes}) >= 3
    page.set_viewport_size({"width": PHONE, "height": 800})
    boxes = [part.bounding_box() for part in page.locator(".puzzle-group").all()]
    assert len({box["x"] for box in boxes}) == 1
