"""The site in a real browser: phone and laptop, light and dark, under a path prefix, with and without scripts."""

from tests.site.accessibility import UNFOLD

PHONE = 360


def test_the_toggle_changes_the_scheme(visit):
    page = visit(color_scheme="light")
    page.get_by_title("Switch to dark mode").click()
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"


def test_without_scripts_a_lesson_can_be_read_and_its_tracebacks_unfolded(visit, lessons):
    page = visit(lessons[0], java_script_enabled=False)
    assert page.locator("article h1").is_visible()
    assert page.locator("article .highlight code").first.is_visible()
    traceback = page.locator("article details").first
    traceback.locator("summary").click()
    assert traceback.locator("pre").is_visible()


def test_each_link_of_the_table_of_contents_leads_to_its_heading(site, lessons):
    for lesson in lessons:
        page = site.page(lesson)
        links = page.select(".md-sidebar--secondary nav a")
        assert links
        for link in links:
            heading = page.select_one(f"[id='{link['href'].removeprefix('#')}']")
            assert heading.get_text().removesuffix("\N{PILCROW SIGN}").split() == link.get_text().split()


def test_a_phone_scrolls_the_lines_of_a_traceback_and_does_not_break_them(visit, lessons):
    page = visit(lessons[0], PHONE)
    page.evaluate(UNFOLD)
    for code in page.locator("pre.traceback code").all():
        lines = len(code.inner_text().splitlines())
        height = code.evaluate("code => parseFloat(getComputedStyle(code).lineHeight)")
        assert code.bounding_box()["height"] < (lines + 3) * height
