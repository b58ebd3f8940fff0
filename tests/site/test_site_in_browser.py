"""The site in a real browser: phone and laptop, light and dark, under a path prefix, with and without scripts."""

import shutil

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

PHONE, LAPTOP = 360, 1280
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
UNFOLD = "document.querySelectorAll('article details').forEach(details => details.open = true)"


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not path:
        pytest.skip("The browser tests need Chromium or Chrome, and none is installed here.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open a page of the site; afterwards, every request was answered and no script complained."""
    pages, wrong = [], []

    def open_page(path="", width=LAPTOP, **options):
        page = browser.new_page(viewport={"width": width, "height": 800}, **options)
        pages.append(page)
        page.on("response", lambda response: response.ok or wrong.append(f"{response.status} {response.url}"))
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address + path)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert wrong == []


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_everything_unfolded(visit, site, scheme, width):
    for path in site.pages:
        page = visit(path, width, color_scheme=scheme)
        assert page.evaluate("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[scheme]
        page.wait_for_load_state("networkidle")  # Material adds its copy buttons late
        page.evaluate(UNFOLD)
        found = Axe().run(page)
        assert found.response["passes"] or found.response["incomplete"]
        assert found.violations_count == 0, found.generate_report()


def test_no_page_asks_another_host(browser, site, address):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for path in site.pages:
        page.goto(address + path, wait_until="networkidle")
    page.close()
    assert len(asked) > len(site.pages)
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


def test_the_toggle_changes_the_scheme(visit):
    page = visit(color_scheme="light")
    page.get_by_title("Switch to dark mode").click()
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_no_page_scrolls_sideways(visit, site, width):
    for path in site.pages:
        page = visit(path, width)
        page.evaluate(UNFOLD)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_without_scripts_a_lesson_can_be_read_and_its_tracebacks_unfolded(visit, lessons):
    page = visit(lessons[0], java_script_enabled=False)
    assert page.locator("article h1").is_visible()
    assert page.locator("article .highlight code").first.is_visible()
    traceback = page.locator("article details").first
    traceback.locator("summary").click()
    assert traceback.locator("pre").is_visible()


def test_each_link_of_the_table_of_contents_leads_to_its_heading(visit, lessons):
    for lesson in lessons:
        page = visit(lesson)
        for link in page.locator(".md-sidebar--secondary nav a").all():
            heading = page.locator(f"[id='{link.get_attribute('href').removeprefix('#')}']")
            assert heading.inner_text().removesuffix("¶").split() == link.inner_text().split()


def test_a_pasted_error_finds_the_lesson_that_raises_it(visit, site, lessons, pytestconfig):
    errors = {}
    for path in sorted((pytestconfig.rootpath / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                if output.output_type == "error":
                    errors.setdefault(f"{output.ename}: {output.evalue}".splitlines()[0], f"notebooks/{path.stem}/")
    assert errors
    for error, lesson in errors.items():
        page = visit()
        page.keyboard.press("/")
        page.keyboard.insert_text(error)
        page.keyboard.press("End")  # Material searches when a key goes up
        page.locator(".md-search-result__link").first.wait_for()
        found = [link.get_attribute("href") for link in page.locator(".md-search-result__link").all()]
        assert any(lesson in link for link in found), error
