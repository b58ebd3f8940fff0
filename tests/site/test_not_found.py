"""The page for an address that has none: useful at any depth, it names the page that was probably meant."""

import re
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

HOST = "https://host.test"
OF_THE_PAGE = "Failed to load resource: the server responded with a status of 404 (Not Found)"
MEANT = {
    "errors/SD001": "errors/sd001/",
    "errors/sd001.html": "errors/sd001/",
    "errors/sd001/index.htm": "errors/sd001/",
    "docs/errors/Sd001.md": "errors/sd001/",
    "sd001": "errors/sd001/",
    "causes/Input-Not-Moved": "causes/input_not_moved/",
    "input_not_moved": "causes/input_not_moved/",
    "errors/1": "errors/sd001/",
    "errors/sd001).": "errors/sd001/",
    "errors": "errors/",
    "Error Index/": None,
    "find_the_tensor.html": "find-the-tensor/",
    "notebooks/01-two-tensors.ipynb": "notebooks/01-two-tensors/",
    "a/b/c/01-two-tensors.ipynb": "notebooks/01-two-tensors/",
    "01-two-tensors%20": "notebooks/01-two-tensors/",
    "lesson-2": "notebooks/02-unmoved-batches/",
    "notebooks/2/": "notebooks/02-unmoved-batches/",
    "INDEX.HTML": "",
    "docs/index.md": "",
    "notebooks/99": None,
    "errors/sd999": None,
    "%E0%A4%A": None,
    "constructor": None,
    "": "",
}


@pytest.fixture
def missing(browser, site):
    """Open an address of the site as a host shows it: what is there, else 404.html with its status."""
    canonical = str(site.page("").select_one("link[rel=canonical]")["href"])
    root = urlsplit(canonical).path
    contexts, wrong = [], []

    def answer(route):
        path = urlsplit(route.request.url).path
        file = site.folder / path.removeprefix(root)
        file = file / "index.html" if file.is_dir() else file
        there = path.startswith(root) and file.is_file()
        if not there and route.request.resource_type != "document":
            wrong.append(path)
        route.fulfill(path=file if there else site.folder / "404.html", status=200 if there else 404)

    def open_it(path, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        context.route("**/*", answer)
        page = context.new_page()
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        assert page.goto(HOST + root + path).status == 404
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert [text for text in wrong if text != OF_THE_PAGE] == []


def test_the_page_that_was_probably_meant_is_named_and_a_link_leads_to_it(missing):
    page = missing("a/b/Errors/SD001.md#causes")
    link = page.get_by_role("status").get_by_role("link")
    expect(link).to_have_text("errors/sd001/")
    link.click()
    page.wait_for_url("**/errors/sd001/#causes")
    expect(page.locator("article h1")).not_to_have_text("There is no such page")


def test_of_many_ways_to_write_an_address_the_page_is_found(missing, site):
    page = missing("nothing/like/it")
    pages = site.pages + site.errors + site.causes
    found = page.evaluate(
        """async ([paths, pages]) => {
            const { meant } = await import(document.querySelector("script[src*=not-found]").src);
            return Object.fromEntries(paths.map((path) => [path, meant(path, pages) ?? null]));
        }""",
        [list(MEANT), pages],
    )
    assert found == MEANT


def test_an_address_is_never_taken_for_html(missing):
    page = missing("errors/%3Cimg%20src=x%20onerror=alert(1)%3Esd001")
    expect(page.get_by_role("status").get_by_role("link")).to_have_text("errors/sd001/")
    assert page.locator("article img").count() == 0


@pytest.mark.parametrize("width", [360, 1280])
def test_the_search_is_opened_by_a_button_and_axe_finds_nothing(missing, width):
    page = missing("nothing/like/it", viewport={"width": width, "height": 800})
    search = page.get_by_role("button", name="Search the site")
    expect(search).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for _ in ("the system's", "light", "dark"):
        found = Axe().run(page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()
        page.locator("header label[for^=__palette]:visible").click()
        page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")
    assert page.get_by_role("status").inner_text() == ""  # by now, a suggestion would have come
    search.click()
    expect(page.locator("[data-md-component=search-query]")).to_be_focused()
    page.keyboard.type("at least two devices")
    expect(page.locator(".md-search-result__link").first).to_have_attribute("href", re.compile("/errors/sd"))


def test_without_javascript_it_leads_to_the_paste_box_the_messages_and_the_lessons(missing):
    page = missing("a/b/c", java_script_enabled=False)
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    expect(page.get_by_role("button", name="Search the site")).to_be_hidden()
    for name in ("paste it into the box", "all error messages", "all lessons"):
        expect(page.locator("article").get_by_role("link", name=name)).to_be_visible()
