"""The paste box folds to two lines once it holds a whole text, so that the answer is seen; the focus stays sensible."""

import pytest
from playwright.sync_api import expect
from tests.site.paste_box import Box
from tests.site.pasted import BARE, MESSAGE, TRACEBACK

TWO_LINES, FOUR_LINES = 46, 80  # pixels: as high at most, and as low at least
FOLD = "About this message"
FOCUSED = "document.activeElement.textContent.trim() || document.activeElement.id"


def height(box):
    return box.text.bounding_box()["height"]


def assert_folded(box):
    expect(box.result).to_be_visible()
    expect(box.edit).to_be_visible()
    assert height(box) <= TWO_LINES
    assert box.page.get_by_role("group", name="Examples").is_hidden()


def assert_unfolded(box):
    expect(box.edit).to_be_hidden()
    assert height(box) >= FOUR_LINES


def test_an_empty_box_has_four_rows_and_examples_and_nothing_to_do_with_a_text(open_box):
    box = open_box()
    assert box.text.get_attribute("placeholder") == "Paste the error or the whole traceback"
    assert_unfolded(box)
    assert box.page.locator(".doctor button:visible").count() == box.page.locator("[data-example]").count()


def test_a_pasted_text_folds_the_box_to_its_last_lines_and_edit_unfolds_it(with_clipboard):
    box = with_clipboard.paste_whole(f"{TRACEBACK}\n\n")
    assert_folded(box)
    end = "box => (box.scrollTop + box.clientHeight) / (box.clientHeight / 2)"
    lines = box.text.evaluate(f"box => ({end})(box)")
    assert box.text.evaluate("box => box.scrollHeight / (box.clientHeight / 2)") - lines == pytest.approx(2, abs=0.1)
    assert box.page.evaluate(FOCUSED) == "pasted"
    box.page.keyboard.press("Tab")
    assert box.page.evaluate(FOCUSED) == "Edit"
    box.page.keyboard.press("Enter")
    assert_unfolded(box)
    assert box.page.evaluate(FOCUSED) == "pasted"
    expect(box.result).to_be_visible()


def test_a_key_or_a_click_in_the_folded_box_unfolds_it_and_another_paste_folds_it(with_clipboard):
    box = with_clipboard.paste_whole(TRACEBACK)
    assert_folded(box)
    box.page.keyboard.type("\n")
    assert_unfolded(box)
    box.text.press("Control+A")
    box.paste_whole(MESSAGE)
    assert_folded(box)
    box.text.click()
    assert_unfolded(box)


def test_a_typed_text_and_one_that_is_not_understood_leave_the_box_open(with_clipboard):
    box = with_clipboard.paste(MESSAGE)
    expect(box.result).to_contain_text("mat1")
    assert_unfolded(box)
    box.text.press("Control+A")
    box.paste_whole("ValueError: what is this?")
    expect(box.result).to_contain_text("Paste the whole error")
    assert_unfolded(box)


def test_a_shared_link_comes_folded_and_stays_so_when_it_is_loaded_again(open_box):
    box = open_box(f"#error={BARE}")
    assert_folded(box)
    box.page.reload()
    assert_folded(box)
    assert box.text.input_value() == BARE
    assert box.page.evaluate("document.activeElement === document.body")


def test_an_example_by_keyboard_leads_the_focus_to_its_answer(open_box):
    box = open_box()
    box.page.locator("[data-example]").first.press("Enter")
    assert_folded(box)
    assert box.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Diagnosis"
    box.page.keyboard.press("Tab")
    assert box.page.evaluate(FOCUSED) == "Copy the fixed line"


def test_the_box_works_by_keyboard_alone_and_steals_no_focus(open_box):
    box = open_box()
    for _ in range(20):
        box.page.keyboard.press("Tab")
        if box.page.evaluate(FOCUSED) == "pasted":
            break
    box.page.keyboard.insert_text(BARE)
    expect(box.result).to_be_visible()
    assert box.page.evaluate(FOCUSED) == "pasted"
    stops = []
    while "Copy a link to share" not in stops:
        box.page.keyboard.press("Tab")
        stops.append(box.page.evaluate(FOCUSED))
        if stops[-1] == FOLD:
            box.page.keyboard.press("Enter")
    assert stops[0] == "Clear"
    assert stops.index(FOLD) < stops.index("More about SD002") < stops.index("Copy a link to share")
    assert box.result.locator("details").last.evaluate("(details) => details.open")
    box.page.locator("[data-clear]").press("Enter")
    expect(box.result).to_be_hidden()
    assert box.text.input_value() == ""
    assert box.page.evaluate(FOCUSED) == "pasted"


def test_a_phones_keyboard_goes_once_a_paste_is_answered(browser, address):
    context = browser.new_context(
        viewport={"width": 360, "height": 640},
        has_touch=True,
        is_mobile=True,
        permissions=["clipboard-read", "clipboard-write"],
    )
    page = context.new_page()
    page.goto(address)
    box = Box(page)
    box.text.tap()
    box.paste_whole(TRACEBACK)
    assert_folded(box)
    assert page.evaluate("document.activeElement.className") == "diagnosis"
    context.close()
