"""The pages of the causes: each fix once, with why, the check, the lesson and the messages that it can cause."""

import dataclasses
import json
import re

import markdown
import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from tests.site.conftest import ADDRESS

from samedevice.catalog import load
from samedevice.doctor.outline import change
from site_build.failure_pictures import FAILURES
from site_build.said import said
from site_build.templating import templates

CAUSES = load().causes
EXTENSIONS = ["attr_list", "md_in_html", "tables", "toc", "pymdownx.superfences", "pymdownx.snippets"]
HOSTILE = (
    "<script>alert(1)</script> [x](javascript:alert(1)) </code></pre><img src=x onerror=alert(1)> {: #id onclick=x }"
)


def place(cause):
    return f"causes/{cause.id}/"


@pytest.fixture(scope="module")
def articles(site):
    """The article of each cause's page."""
    found = {}
    for cause in CAUSES.values():
        article = re.search("<article.*</article>", site.read(f"{place(cause)}index.html"), re.DOTALL)
        found[cause.id] = BeautifulSoup(article[0], "html.parser")
    return found


def words(element):
    return " ".join(element.get_text().removesuffix("¶").split())


def plain(text):
    return " ".join(text.replace("`", "").split())


def lines_of(cause):
    """What a page shows in blocks: each command in its own, or all lines of an example in one."""
    if cause.commands:
        return [line.partition(" ")[2] for line in cause.steps if not line.startswith("# ")]
    return ["\n".join(change(cause)).rstrip() + "\n"]


def test_each_cause_has_a_page_and_the_list_leads_to_all_of_them(site):
    assert set(site.causes) == {"causes/", *(place(cause) for cause in CAUSES.values())}
    links = [(str(link["href"]), words(link)) for link in site.page("causes/").select("article .rows a")]
    assert len(links) == len(CAUSES)
    assert dict(links) == {f"{cause.id}/": plain(cause.title) for cause in CAUSES.values()}
    assert site.page("causes/").select_one("h1").get_text().removesuffix("¶") == "Causes"


def test_a_page_has_the_lines_to_change_why_and_the_check(articles):
    for cause in CAUSES.values():
        article = articles[cause.id]
        assert words(article.select_one("h1")) == plain(cause.title)
        assert article.select_one("h1")["id"] == cause.id
        assert [pre.get_text() for pre in article.select("pre")] == lines_of(cause)
        said = [line.removeprefix("# ") for line in cause.steps if line.startswith("# ")]
        assert [words(line) for line in article.select(".block-label")] == (said or ["An example:"])
        assert plain(cause.why) in words(article)
        assert f"Check: {plain(cause.confirm)}" in words(article)
        assert not cause.link or article.select_one(f"a[href='{cause.link}']")


def test_a_page_begins_with_the_message_that_its_lines_raise_and_lists_say_what_shows_the_cause(site, articles):
    for cause in CAUSES.values():
        link = articles[cause.id].select_one("h1 + .raises a")
        raised = load().messages[link["href"].split("/")[3].upper()]
        assert words(link) == said(raised).replace("`", "'")
        assert not cause.raises or raised.id == cause.raises
    rows = {str(row.a["href"]).strip("/"): words(row) for row in site.page("causes/").select("article .rows li")}
    for cause in CAUSES.values():
        assert rows[cause.id].startswith(f"{plain(cause.title)} {plain(cause.sign)}")


def test_a_page_leads_to_each_message_whose_page_lists_the_cause_and_back(site, articles):
    rows = {
        message: {str(row["id"]) for row in site.page(f"errors/{message.lower()}/").select("h2.cause, a.cause")}
        for message in load().messages
    }
    for cause in CAUSES.values():
        links = [str(link["href"]) for link in articles[cause.id].select("a[href*='errors/sd']")]
        wanted = {f"../../errors/{message.lower()}/#{cause.id}" for message, ids in rows.items() if cause.id in ids}
        assert wanted and set(links) == wanted, cause.id


def test_a_fold_of_messages_hides_more_than_one(articles):
    folds = [words(fold) for article in articles.values() for fold in article.select("#messages ~ details summary")]
    assert folds
    assert "1 more" not in folds


def test_a_drawn_picture_stands_below_the_lines_to_change_and_one_of_two_devices_above_them(site, articles):
    drawn = {name: article.select_one("pre.example + .cause-picture > svg") for name, article in articles.items()}
    assert {name for name, svg in drawn.items() if svg} == set(FAILURES) - {"two-tensors"}
    for name, svg in drawn.items():
        if svg:
            assert FAILURES[name].call in words(svg.find("title"))
            assert "(Picture: " in site.read(f"causes/{name}/index.md")
    apart = [name for name, article in articles.items() if article.select(".raises + .apart .device")]
    assert len(apart) > 30 and not {name for name in apart if drawn[name]}


def test_a_picture_fits_a_phone_and_is_as_wide_as_on_the_home_page_on_a_laptop(visit):
    for name in sorted(set(FAILURES) - {"two-tensors"}):
        page = visit(f"causes/{name}/", width=360)
        box = page.locator(".cause-picture svg").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360
        assert box["width"] >= 320
        page.set_viewport_size({"width": 1280, "height": 800})
        assert 300 <= page.locator(".cause-picture svg").bounding_box()["width"] <= 400


def test_a_case_and_its_wider_cause_lead_to_each_other(articles):
    for case in CAUSES.values():
        if case.within:
            assert articles[case.id].select_one(f"a[href='../{case.within}/']")
            assert articles[case.within].select_one(f"#cases + .rows a[href='../{case.id}/']")


def test_the_title_is_the_cause_in_plain_words_and_the_description_begins_with_it(site):
    descriptions = set()
    for cause in CAUSES.values():
        head = BeautifulSoup(site.read(f"{place(cause)}index.html").partition("</head>")[0], "html.parser")
        assert head.title.get_text().removesuffix(" - Same Device") == plain(cause.title)
        description = str(head.select_one("meta[name=description]")["content"])
        assert description.startswith(plain(cause.title))
        descriptions.add(description)
        assert head.select_one("link[rel=canonical]")["href"] == f"{ADDRESS}{place(cause)}"
    assert len(descriptions) == len(CAUSES)
    assert all(50 < len(description) <= 155 for description in descriptions)


def test_the_sitemap_has_the_pages_and_the_search_leaves_them_to_entries_of_its_own(site):
    assert site.read("sitemap.xml").count(f"{ADDRESS}causes/") == len(CAUSES) + 1
    entries = json.loads(site.read("search/pages.json"))["docs"]
    assert not [entry for entry in entries if "#" in entry["location"] and entry["location"].startswith("causes/")]


@pytest.mark.parametrize("key", ["title", "why", "confirm", "before", "after", "sign"])
def test_what_the_catalog_says_never_becomes_html(key):
    cause = dataclasses.replace(CAUSES["input_not_moved"], **{key: HOSTILE})
    page = templates().get_template("catalog/cause.md.jinja")
    message = load().messages["SD001"]
    parts = {"front_matter": "", "picture": "", "card": "", "raised": message, "named": [], "others": []}
    written = page.render(cause=cause, wider=cause, cases=[cause], **parts)
    article = BeautifulSoup(markdown.markdown(written, extensions=EXTENSIONS), "html.parser")
    assert not article.select("script, img, [onclick], a[href^=javascript]")
    assert key == "sign" or "<script>alert(1)</script>" in article.get_text()


@pytest.mark.parametrize("path", ["causes/", "causes/input_not_moved/", "causes/cpu_only_build/"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(visit, path):
    page = visit(path, color_scheme="light")
    for scheme in ("default", "slate"):
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            page.evaluate("document.querySelectorAll('article details').forEach((details) => (details.open = true))")
            assert page.evaluate("document.body.dataset.mdColorScheme") == scheme
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate("Promise.all(document.getAnimations().map((animation) => animation.finished))")
            found = Axe().run(page, options={"resultTypes": ["violations"]})
            assert found.violations_count == 0, found.generate_report()
        if scheme == "default":
            page.emulate_media(color_scheme="dark")
