"""The frame: five tabs, a tab for every page, a way up from those that no list has, and one name for each page."""

import re
from itertools import groupby

import pytest
from tests.site.conftest import ROOT

from samedevice.catalog import load

TABS = ["Fix an error", "Learn", "Test without a GPU", "Reference", "About"]
TAB_OF = {
    "": "Fix an error",
    "errors/": "Fix an error",
    "errors/sd001/": "Fix an error",
    "sheet/": "Fix an error",
    "lessons/": "Learn",
    "practice/": "Learn",
    "two-minutes/": "Learn",
    "notebooks/21-sharded-and-compiled/": "Learn",
    "notebooks/practice-1-start-here/": "Learn",
    "catch-it-in-ci/": "Test without a GPU",
    "simulated-cuda/": "Test without a GPU",
    "find-the-tensor/": "Reference",
    "placement-explorer/": "Reference",
    "claims/": "Reference",
    "for-agents/": "Reference",
    "how-it-is-verified/": "About",
    "contributing/": "About",
    "maintaining/": "About",
}
GROUPS = {
    "Start here": "01 02 03 04 05 06 07 08",
    "More cases": "09 10 11 12 13 14",
    "Several GPUs": "15 16 17 18",
    "Libraries": "19 20 21",
    "Prevent": "22",
}
NAMES = {lesson.slug: f"{lesson.slug[:2]} · {lesson.title}" for lesson in load().lessons.values()}
PRACTICE = [practice.title for practice in load().practice.values()]


def text(element):
    return " ".join(element.get_text().split()).removesuffix("¶")


def names(elements):
    return [text(element) for element in elements]


def heading(page):
    return text(page.select_one("article h1"))


def grouped():
    """Each run of lessons of one group, as the catalog has them."""
    lessons = load().lessons.values()
    return [
        (group, [lesson.slug for lesson in its]) for group, its in groupby(lessons, key=lambda lesson: lesson.group)
    ]


def test_every_page_has_the_five_tabs_and_its_own_is_active(site):
    for place, tab in TAB_OF.items():
        page = site.page(place)
        assert names(page.select(".md-tabs__item")) == TABS, place
        assert names(page.select(".md-tabs__item--active")) == [tab], place
    assert all(len(site.page(place).select(".md-tabs__item--active")) == 1 for place in site.pages + site.errors)


def test_a_page_of_a_message_has_breadcrumbs_that_lead_up_and_pages_in_the_navigation_need_none(site):
    index = site.page("errors/")
    for place in site.errors[1:]:
        steps = site.page(place).select("nav.md-path[aria-label=Breadcrumbs] a")
        assert names(steps) == [TABS[0], heading(index)], place
        assert [step["href"] for step in steps] == ["../..", "../"], place
    for place in TAB_OF:
        assert bool(site.page(place).select("nav.md-path")) == (place == "errors/sd001/"), place


def test_the_catalog_has_the_lessons_in_five_groups_each_in_one_piece():
    groups = [(group, [slug[:2] for slug in slugs]) for group, slugs in grouped()]
    assert groups == [(group, numbers.split()) for group, numbers in GROUPS.items()]


def test_sidebar_list_and_the_line_above_a_lesson_have_the_same_groups(site, lessons):
    groups = [(group, [NAMES[slug] for slug in slugs]) for group, slugs in grouped()]
    page = site.page("lessons/")
    listed = page.select("article h2.lesson-group")
    assert [(text(group), names(group.find_next_sibling("ul").select("a"))) for group in listed] == groups
    sections = page.select("nav.md-nav--primary nav[data-md-level='2']")
    shown = [(text(section.select_one("label")), names(section.select("li"))) for section in sections]
    assert [group for group in shown if group[0] in GROUPS] == groups
    assert ("Puzzles", PRACTICE) in shown
    anchors = {text(group): group["id"] for group in listed}
    for lesson in lessons:
        above = site.page(lesson).select_one(".lesson-place")
        group = load().lessons[lesson.split("/")[1]].group
        assert text(above) == f"Lesson {int(lesson.split('/')[1][:2])} of {len(lessons)}, {group}"
        assert above.a["href"] == f"../../lessons/#{anchors[group]}"


def test_a_lesson_has_one_name_of_at_most_four_words_wherever_the_frame_names_it(site, lessons):
    home = site.page("")
    sidebar = names(home.select("nav.md-nav--primary a.md-nav__link[href*=notebooks]"))
    assert names(site.page("lessons/").select("article h2.lesson-group + ul > li a")) == [*NAMES.values()]
    assert sidebar == [*NAMES.values(), *PRACTICE]
    assert set(names(home.select(".lesson-card h3"))) <= set(NAMES.values())
    for lesson in load().lessons.values():
        assert len(lesson.title.split()) <= 4
        assert heading(site.page(f"notebooks/{lesson.slug}/")) == lesson.title


def test_previous_and_next_lead_through_lessons_and_practice_in_the_order_of_the_navigation(site, lessons):
    practice = [f"notebooks/{slug}/" for slug in load().practice]
    places = ["lessons/", "two-minutes/", "practice/", *lessons, *practice]
    shown = [names(site.page(place).select(".md-footer__title .md-ellipsis")) for place in places]
    following = ["Two minutes", "Practice", *NAMES.values(), *PRACTICE, heading(site.page("catch-it-in-ci/"))]
    assert [footer[-1] for footer in shown] == following
    assert [footer[0] for footer in shown[1:]] == [heading(site.page("lessons/")), *following[:-2]]


@pytest.mark.parametrize("file", ["README.md", "docs/index.md", "docs/lessons.md"])
def test_a_link_to_a_lesson_is_called_what_the_lesson_is_called(file):
    links = re.findall(r"\[([^\]]+)\]\([^)\s]*notebooks/([\w-]+)(?:\.ipynb|/)\)", (ROOT / file).read_text("utf-8"))
    assert links or file == "README.md"
    for name, slug in links:
        number = rf"(read )?lesson {slug[:2]}"
        assert name in (NAMES[slug], load().lessons[slug].title) or re.fullmatch(number, name, re.IGNORECASE), name


def test_a_page_of_the_navigation_has_its_headings_name_in_sidebar_and_header(site):
    for place in TAB_OF.keys() - {"errors/sd001/"}:
        page = site.page(place)
        assert text(page.select_one("[data-md-component=header-topic]")) == heading(page), place
        current = page.select("nav.md-nav--primary a.md-nav__link--active")
        assert {text(link).split(" · ")[-1] for link in current} == {heading(page)}, place
