"""The site in a real browser: phone and laptop, light and dark, under a path prefix, with and without scripts."""

import re
import shutil

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

    def open_page(path="", width=LAPTOP, site=address, **options):
        page = browser.new_page(viewport={"width": width, "height": 800}, **options)
        pages.append(page)
        page.on("response", lambda response: response.ok or wrong.append(f"{response.status} {response.url}"))
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(site + path)
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


@pytest.fixture(scope="module")
def messages(site, lessons):
    """Each message that a lesson raises or quotes, such as an old wording, with the lessons that hold it."""
    found: dict[str, list[str]] = {}
    for lesson in lessons:
        for block in site.page(lesson).select(".error > pre, article .language-text pre"):
            for line in filter(str.strip, block.get_text().splitlines()):
                found.setdefault(re.sub(r"^\w*Error: ", "", line), []).append(lesson)
    assert found
    return found


def first_result(page, pasted):
    """The address that search leads to; the text comes as from a menu, without a key that goes up."""
    page.get_by_text("Type to start searching").wait_for()
    page.keyboard.insert_text(pasted)
    first = page.locator(".md-search-result__link").first
    first.wait_for()
    return first.get_attribute("href")


def whole(message):
    return message


def with_the_errors_name(message):
    return f"RuntimeError: {message}"


def its_second_half(message):
    return " ".join(message.split()[len(message.split()) // 2 :])


@pytest.mark.parametrize("part", [whole, with_the_errors_name, its_second_half])
def test_a_pasted_error_finds_a_lesson_that_holds_it_first_and_misses_no_word(visit, messages, part):
    for message, lessons in messages.items():
        page = visit()
        page.keyboard.press("/")
        first = first_result(page, part(message))
        assert any(lesson in first for lesson in lessons), message
        assert page.locator(".md-search-result__terms").filter(visible=True).all_inner_texts() == [], message


def test_on_a_phone_the_magnifier_opens_search_and_pasting_into_it_finds(visit, messages):
    page = visit(width=PHONE, has_touch=True, is_mobile=True)
    page.locator("header label.md-header__button[for=__search]").tap()
    assert first_result(page, next(iter(messages)))


def test_a_message_finds_its_lesson_before_one_with_its_small_words_in_headings(visit, address_of_small):
    message = "Expected all tensors to be on the same device, but found two"
    lessons = {
        "01-a.ipynb": ["# All on one\n\n## The total to be on it"],
        "02-b.ipynb": [f"# B\n\n```text\n{message}\n```"],
    }
    page = visit(site=address_of_small({"index.md": "# Home"}, lessons))
    page.keyboard.press("/")
    assert "/02-b/" in first_result(page, message)


def test_a_phone_scrolls_the_lines_of_a_traceback_and_does_not_break_them(visit, lessons):
    page = visit(lessons[0], PHONE)
    page.evaluate(UNFOLD)
    for code in page.locator("pre.traceback code").all():
        lines = len(code.inner_text().splitlines())
        height = code.evaluate("code => parseFloat(getComputedStyle(code).lineHeight)")
        assert code.bounding_box()["height"] < (lines + 3) * height
