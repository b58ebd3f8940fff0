"""What visitors see who print a page, force its colours, have only a keyboard, or hold a phone."""

import re

import pytest
from playwright.sync_api import expect

PHONE = 360
BACKGROUND = "element => getComputedStyle(element).backgroundColor"
MESSAGE = (
    "RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors "
    "on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"
)
PRINTED = ["body", "article h1", "article p", "article code", "article pre > code", "article ins"]
COLOURS = """names => Promise.all(document.getAnimations().map((animation) => animation.finished)).then(() =>
    names.map((name) => {
        const style = getComputedStyle(document.querySelector(name));
        return [name, style.color, style.backgroundColor];
    }))"""


def test_a_dark_page_is_printed_in_the_colours_of_the_light_one(visit):
    printed = []
    for scheme in ("light", "dark"):
        page = visit("errors/sd001/", color_scheme=scheme)
        on_screen = page.evaluate(COLOURS, PRINTED)
        page.emulate_media(media="print")
        printed.append(page.evaluate(COLOURS, PRINTED))
        assert scheme == "light" or printed[-1] != on_screen
    assert printed[0] == printed[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colours_leave_the_choice_of_a_device_and_the_arrow_of_a_fold(visit, scheme):
    page = visit("placement-explorer/", forced_colors="active", color_scheme=scheme)
    page.locator(".explorer__device").first.wait_for()
    chosen = page.locator(".explorer input:checked + label")
    others = page.locator(".explorer input:not(:checked) + label")
    assert not {label.evaluate(BACKGROUND) for label in chosen.all()} & {
        label.evaluate(BACKGROUND) for label in others.all()
    }
    page = visit("errors/", forced_colors="active", color_scheme=scheme)
    arrow, paper = page.evaluate(
        """() => [[document.querySelector("article summary"), "::after"], [document.body, null]]
            .map(([element, part]) => getComputedStyle(element, part).backgroundColor)"""
    )
    assert arrow != paper


def test_the_tab_key_stops_only_at_what_can_be_seen(visit):
    page = visit()
    stops = []
    while len(stops) < 40:
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
                const element = document.activeElement;  // of the switch of schemes, the label that follows it
                const seen = [element, element.nextElementSibling].some((one) => one?.getClientRects().length &&
                    one.getBoundingClientRect().width * one.getBoundingClientRect().height > 0);
                return element === document.body ? null : [element.outerHTML.slice(0, 80), seen];
            }"""
        )
        if stop is None:
            break
        stops.append(stop)
    assert len(stops) > 15
    assert [tag for tag, seen in stops if not seen] == []


def test_code_on_a_panel_has_a_ground_of_its_own(open_box):
    box = open_box().paste(MESSAGE)
    code = box.result.locator("p > code").first
    expect(code).to_be_visible()
    assert code.evaluate(BACKGROUND) != box.page.locator(".doctor:has(.diagnosis)").evaluate(BACKGROUND)


def test_the_commonest_error_is_on_the_first_screen_of_a_phone(visit):
    page = visit("errors/", width=PHONE)
    page.set_viewport_size({"width": PHONE, "height": 640})
    first = page.locator("#common ~ .rows a").first.bounding_box()
    assert first["y"] + first["height"] <= 640
    page.get_by_text("By topic").click()
    page.get_by_role("link", name="Libraries (").click()
    expect(page).to_have_url(re.compile("#libraries$"))


def test_a_table_that_is_printed_keeps_its_columns_and_names_are_not_broken(visit):
    page = visit("find-the-tensor/", width=PHONE)
    assert page.locator(".columns code").evaluate("code => getComputedStyle(code).whiteSpace") == "pre"
    for name in page.locator("article td:first-child > code").all():
        assert len(name.evaluate("name => [...name.getClientRects()].map((line) => line.top)")) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE


def test_a_figure_of_a_card_stands_beside_its_label(visit):
    page = visit("test-without-a-gpu/", width=PHONE)
    cell = page.locator("table[data-cards] td.right").first
    line = cell.evaluate("cell => parseFloat(getComputedStyle(cell).lineHeight) || 20")
    assert cell.bounding_box()["height"] < 2 * line


def test_a_long_line_of_a_diff_goes_on_to_the_right_of_where_its_code_begins(visit):
    page = visit("errors/sd031/", width=PHONE)
    lefts = page.locator(".example ins.deep-4").first.evaluate(
        """line => {
            const range = document.createRange();
            range.setStart(line.firstChild, line.textContent.search(/[^+ ]/));
            range.setEnd(line.firstChild, line.textContent.trimEnd().length);
            return [...range.getClientRects()].map((part) => part.left);
        }"""
    )
    assert len(lefts) > 1
    assert min(lefts[1:]) > lefts[0]


def test_a_message_in_a_search_result_is_not_cut(visit):
    page = visit()
    page.keyboard.press("f")
    page.keyboard.type("run tests without gpu")
    page.locator(".md-search-result__article").first.wait_for()
    parts = page.locator(".md-search-result__article, .md-search-result__article :is(h1, p)")
    assert parts.evaluate_all("parts => parts.every((part) => part.scrollWidth <= part.clientWidth)")
