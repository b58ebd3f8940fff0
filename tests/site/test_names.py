"""The frame: five tabs, a tab for every page, a way up from those that no list has, and one name for each page."""

import re
import tomllib
from collections import Counter
from itertools import groupby
from urllib.parse import urljoin

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
    "test-without-a-gpu/": "Test without a GPU",
    "simulated-cuda/": "Test without a GPU",
    "find-the-tensor/": "Reference",
    "placement-explorer/": "Reference",
    "claims/": "Reference",
    "for-agents/": "Reference",
    "how-it-is-verified/": "About",
}
GROUPS = {
    "Start here": "01 02 03 04 05 06 07 08",
    "More cases": "09 10 11 12 13 14",
    "Several GPUs": "15 16 17 18",
    "Libraries": "19 20 21",
    "Prevent": "22",
}
PAGES = {
    place.removesuffix("index.md").replace(".md", "/"): name
    for place, name in tomllib.loads((ROOT / "tools/site_build/names.toml").read_text("utf-8")).items()
}
OLDER = {"lessons/"}  # an address that lessons, tests and readers have in many places: its tab is Learn
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
    assert ("Puzzles", ["Practice", *PRACTICE]) in shown
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


def test_previous_and_next_lead_through_lessons_and_practice_and_lesson_22_has_no_next(site, lessons):
    practice = [f"notebooks/{slug}/" for slug in load().practice]
    places = ["lessons/", "two-minutes/", *lessons, "practice/", *practice]
    called = [heading(site.page("lessons/")), "Two minutes", *NAMES.values(), "Practice", *PRACTICE]
    for at, place in enumerate(places):
        shown = names(site.page(place).select(".md-footer__title .md-ellipsis"))
        before = [called[at - 1]] if at else []
        after = [called[at + 1]] if place not in (lessons[-1], places[-1]) else []
        assert shown == before + after, place


def test_previous_and_next_stay_within_a_tab(site):
    for place in site.pages:
        tab = names(site.page(place).select(".md-tabs__item--active"))
        for link in site.page(place).select(".md-footer a"):
            target = urljoin(place, str(link["href"])).removeprefix("./") if link["href"] != ".." else ""
            assert names(site.page(target).select(".md-tabs__item--active")) == tab, place


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


def test_each_page_has_its_name_of_the_list_in_heading_title_and_address(site):
    assert set(PAGES) == {place for place in site.pages if "notebooks/" not in place} | {"errors/", "causes/"}
    for place, name in PAGES.items():
        page = site.page(place)
        assert heading(page) == name
        said = page.title.get_text()
        assert re.search(".*".join(map(re.escape, name.split())), said), (said, name)
        slug = place.strip("/").split("-") if place not in OLDER else []
        assert set(filter(None, slug)) <= set(name.lower().split()), place


def test_no_two_pages_share_a_name_and_a_tab_shares_one_only_with_a_page_of_its_own(site):
    everything = [*site.pages, *site.errors, *site.causes]
    headings = {place: heading(site.page(place)).lower() for place in everything}
    shared = {name for name, count in Counter(headings.values()).items() if count > 1}
    assert shared == set()
    for place, name in headings.items():
        if name in map(str.lower, TABS):
            assert names(site.page(place).select(".md-tabs__item--active"))[0].lower() == name


def test_a_link_that_is_called_as_a_page_leads_to_that_page(site):
    places = {name.lower(): place for place, name in PAGES.items()}
    wrong = []
    for place in [*site.pages, "errors/", "causes/"]:
        for link in site.page(place).select("article a[href], nav.md-nav--primary a[href]"):
            wanted, address = places.get(text(link).lower()), str(link["href"])
            if wanted is not None and not address.startswith("#"):
                leads = urljoin(f"https://a.b/c/{place}", address).partition("#")[0]
                if leads != f"https://a.b/c/{wanted}":
                    wrong.append((place, text(link), address))
    assert wrong == []
