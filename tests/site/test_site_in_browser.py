"""The site in a real browser: phone and laptop, light and dark, under a path prefix."""

from tests.site.accessibility import UNFOLD

PHONE = 360


def test_the_toggle_changes_the_scheme(visit):
    page = visit(color_scheme="light")
    page.get_by_title("Switch to dark mode").click()
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"


def test_each_link_of_the_table_of_contents_leads_to_its_heading(site, lessons):
    for lesson in lessons:
        page = site.page(lesson)
        links = page.select(".md-sidebar--secondary nav a")
        assert links
        for link in links:
            heading = page.select_one(f"[id='{link['href'].removeprefix('#')}']")
            if heading.name == "span":  # at the beginning of a fold, whose summary has the heading
                heading = heading.find_parent("details").select_one("summary h2")
            assert heading.get_text().removesuffix("\N{PILCROW SIGN}").split() == link.get_text().split()


def test_a_phone_scrolls_the_lines_of_a_traceback_and_does_not_break_them(visit, lessons):
    page = visit(lessons[0], PHONE)
    page.evaluate(UNFOLD)
    for code in page.locator("pre.traceback code").all():
        lines = len(code.inner_text().splitlines())
        height = code.evaluate("code => parseFloat(getComputedStyle(code).lineHeight)")
        assert code.bounding_box()["height"] < (lines + 3) * height


def test_a_column_of_numbers_is_aligned_to_the_right(visit):
    number = visit("how-it-is-verified/").locator("article td.right").first
    assert number.evaluate("cell => getComputedStyle(cell).textAlign") == "right"


def test_the_searchs_index_is_loaded_when_the_search_is_opened_and_not_before(visit):
    page = visit("lessons/")
    page.wait_for_load_state("networkidle")
    loaded = "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('search/pages.json'))"
    assert not page.evaluate(loaded)
    page.keyboard.press("/")
    page.wait_for_function(loaded)
