"""What a finger has to hit and an eye has to see: copy buttons, rows, and tables, on a phone and on a laptop."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.site.pasted import BARE, NUMPY, TRACEBACK

from samedevice import explain

PHONE, LAPTOP = 360, 1280
CLIPBOARD = "navigator.clipboard.readText()"

# The contrast of an element's colour with the background behind it, as WCAG computes it.
CONTRAST = """element => {
    const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const luminance = (colour) => channels(colour).slice(0, 3).map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    let behind = element;
    while (channels(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    const [a, b] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(luminance);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_copy_buttons_are_seen_and_as_large_as_a_finger_needs(visit, lessons, scheme):
    page = visit(lessons[0], color_scheme=scheme)
    button = page.locator("[title='Copy to clipboard']:visible").first
    button.wait_for()
    assert button.evaluate(CONTRAST) >= 3
    box = button.bounding_box()
    assert min(box["width"], box["height"]) >= 32


def test_the_button_below_a_diff_copies_the_lines_as_they_are_to_be(with_clipboard, address):
    box = with_clipboard.paste(TRACEBACK)
    copy = box.result.get_by_role("button", name="Copy the fixed").first
    copy.click()
    expect(box.page.get_by_text("Copied to clipboard")).to_be_visible()
    lines = box.result.locator(".change").first.locator("ins, span:not(.change__place)").all_text_contents()
    assert lines
    assert box.page.evaluate(CLIPBOARD) == "\n".join(line.rstrip("\n")[2:] for line in lines)
    assert copy.bounding_box()["height"] >= 32
    box.page.goto(f"{address}errors/sd001/")
    box.page.get_by_role("button", name="Copy the example").first.click()
    expect(box.page.get_by_text("Copied to clipboard")).to_be_visible()
    copied = box.page.evaluate(CLIPBOARD)
    change = box.page.locator("pre.example").first
    assert change.locator("ins").first.text_content().rstrip("\n")[2:] in copied.split("\n")
    assert not {line.rstrip("\n")[2:] for line in change.locator("del").all_text_contents()} & set(copied.split("\n"))


def test_code_of_a_diagnosis_has_13_and_a_half_pixels_and_long_lines_hang(open_box):
    for width in (PHONE, LAPTOP):
        box = open_box(width=width).paste(NUMPY)
        line = box.result.locator(".example ins").first
        style = line.evaluate("line => (({ fontSize, textIndent }) => [fontSize, textIndent])(getComputedStyle(line))")
        assert style[0] == "13.5px"
        assert float(style[1].removesuffix("px")) < 0


def test_rows_to_tap_are_44_pixels_high_on_a_phone(open_box, lessons, address):
    box = open_box(width=PHONE)
    rows = [*box.page.locator(".doctor button:visible, .card").all()]
    assert len(rows) == 8
    assert [row.inner_text() for row in rows if row.bounding_box()["height"] < 44] == []
    for text in (TRACEBACK, BARE):
        box.paste(text)
        expect(box.result).to_contain_text(explain(text).says.replace("`", ""))
        rows = [*box.page.locator(".doctor button:visible, .diagnosis summary, .diagnosis__links a").all()]
        assert [row.inner_text() for row in rows if row.bounding_box()["height"] < 44] == []
    box.page.goto(address + lessons[0])
    rows = box.page.locator("article summary:visible").all()
    assert rows
    assert [row.inner_text() for row in rows if row.bounding_box()["height"] < 44] == []


def test_a_phone_shows_a_wide_table_as_cards_with_each_columns_name_and_it_stays_a_table_to_a_screen_reader(visit):
    page = visit("how-it-is-verified/", PHONE)
    page.evaluate("document.querySelectorAll('article details').forEach(fold => (fold.open = true))")
    table = page.locator("article table[data-cards]").first
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
    names = table.locator("thead th").all_text_contents()
    cells = table.locator("tbody tr").first.locator("td")
    shown = cells.evaluate_all("cells => cells.map(cell => getComputedStyle(cell, '::before').content)")
    assert shown == [f'"{name}"' for name in names]
    assert page.get_by_role("table").first.get_by_role("columnheader").count() == len(names)
    page.set_viewport_size({"width": LAPTOP, "height": 800})
    assert table.evaluate("table => getComputedStyle(table).display") != "block"


def test_code_that_scrolls_is_a_stop_of_the_tab_key_where_nothing_can_hover(visit, lessons):
    page = visit(lessons[0], PHONE, has_touch=True, is_mobile=True)
    rule = {"runOnly": {"type": "rule", "values": ["scrollable-region-focusable"]}}
    page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
    page.mouse.wheel(0, 5_000)  # Material takes the stop away from what comes into view
    page.wait_for_timeout(500)
    assert page.evaluate("[...document.querySelectorAll('pre > code')].some((it) => it.scrollWidth > it.clientWidth)")
    found = Axe().run(page, options=rule)
    assert found.violations_count == 0, found.generate_report()
