"""With JavaScript off everything can be read and reached; what needs it says so, and is not offered."""

import pytest
from playwright.sync_api import expect
from tests.site.accessibility import UNFOLD
from tests.site.conftest import LAPTOP

PHONE = 360
PAGES = ["", "a lesson", "errors/", "errors/sd001/", "myths/", "placement-explorer/", "how-it-is-verified/"]

# Texts of the article that a reader does not see, numbered; but for those of what needs scripts and of a picture's
# description.
UNSEEN = """() => {
    const left_out = "noscript, [hidden], .doctor, .explorer, .headerlink, svg title, svg desc, svg style";
    const unseen = {};
    const texts = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(), number = 0; text; text = texts.nextNode(), number++) {
        const seen = text.parentElement.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        if (text.data.trim() && !seen && !text.parentElement.closest(left_out)) unseen[number] = text.data.trim();
    }
    return unseen;
}"""
BLANK = """() => [...document.querySelectorAll("article :is(img, svg)")]
    .filter((picture) => picture.getBoundingClientRect().height < 5 || picture.naturalWidth === 0)
    .map((picture) => picture.outerHTML.slice(0, 200))"""
SHOWN = "[...document.querySelectorAll('noscript')].map((sentence) => sentence.innerText).join(' ')"


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_every_text_and_picture_is_seen_and_what_needs_scripts_is_named_and_not_offered(visit, address, lessons, width):
    page = visit("", width, java_script_enabled=False)
    for path in PAGES:
        page.goto(address + path.replace("a lesson", lessons[0]))
        folded = page.evaluate(UNSEEN)
        page.evaluate(UNFOLD)
        assert {number: text for number, text in page.evaluate(UNSEEN).items() if number in folded} == {}, path
        assert page.evaluate(BLANK) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert ("needs JavaScript" in page.evaluate(SHOWN)) == (path in ("", "placement-explorer/")), path
        offered = "article :is(button, input, textarea, select), .md-search__input, header [for^=__palette]"
        assert page.locator(f":is({offered}):visible").count() == 0, path


def test_on_a_phone_the_drawer_leads_to_a_lesson_whose_traceback_unfolds(visit, lessons):
    page = visit("errors/", PHONE, java_script_enabled=False)
    page.locator("header label[for=__drawer]").click()
    drawer = page.locator("nav.md-nav--primary")
    drawer.locator("label.md-nav__link", has_text="Lessons").filter(visible=True).click()
    drawer.locator(f"a[href$='{lessons[0]}']").click()
    page.wait_for_url(f"**/{lessons[0]}")
    traceback = page.locator("article .error details").first
    expect(traceback.locator("pre")).to_be_hidden()
    traceback.locator("summary").click()
    expect(traceback.locator("pre")).to_be_visible()


def test_on_a_laptop_navigation_and_links_lead_from_the_message_to_its_fix(visit):
    page = visit("", java_script_enabled=False)
    page.locator("noscript").get_by_role("link", name="error index").click()
    page.locator("article a[href='sd001/']").click()
    expect(page.locator("article .change, article .language-diff").first).to_be_visible()
    page.locator("nav:visible").get_by_role("link", name="Myths").first.click()
    expect(page.locator("article h1")).to_contain_text("Myths")
