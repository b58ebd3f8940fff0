"""The site in a real browser: phone and laptop, light and dark, under a path prefix, with and without scripts."""

import pytest
from tests.site.accessibility import UNFOLD

PHONE, LAPTOP = 360, 1280


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


def test_a_phone_scrolls_the_lines_of_a_traceback_and_does_not_break_them(visit, lessons):
    page = visit(lessons[0], PHONE)
    page.evaluate(UNFOLD)
    for code in page.locator("pre.traceback code").all():
        lines = len(code.inner_text().splitlines())
        height = code.evaluate("code => parseFloat(getComputedStyle(code).lineHeight)")
        assert code.bounding_box()["height"] < (lines + 3) * height
