"""With JavaScript off everything can be read and reached; what needs it says so, and is not offered."""

import pytest
from playwright.sync_api import expect
from tests.site.accessibility import UNFOLD
from tests.site.conftest import LAPTOP

PHONE = 360
PAGES = ["", "a lesson", "errors/", "errors/sd001/", "causes/", "causes/input_not_moved/", "claims/"]
PAGES += ["placement-explorer/", "how-it-is-verified/"]

# Texts of the article that a reader does not see, numbered; but for those of what needs scripts and of a picture's
# description, and for the links to a lesson's sections where a wide screen has them at its side.
UNSEEN = """() => {
    const contents = document.querySelector(".md-sidebar--secondary").checkVisibility() ? ".lesson-sections, " : "";
    const left_out = contents + "noscript, [hidden], .doctor, .explorer, .headerlink, svg title, svg desc, svg style";
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
        fields = "article :is(button, input:not(.steps > input), textarea, select)"  # a step's needs no script
        offered = f"{fields}, .md-search__input, header [for^=__palette]"
        assert page.locator(f":is({offered}):visible").count() == 0, path


def test_on_a_phone_the_drawer_leads_to_a_lesson_whose_traceback_unfolds(visit, lessons):
    page = visit("errors/", PHONE, java_script_enabled=False)
    page.locator("header label[for=__drawer]").click()
    drawer = page.locator("nav.md-nav--primary")
    drawer.locator("label.md-nav__title", has_text="Fix an error").filter(visible=True).click()
    for section in ("Learn", "Start here"):
        drawer.locator("label.md-nav__link", has_text=section).filter(visible=True).click()
    drawer.locator(f"a[href$='{lessons[0]}']").click()
    page.wait_for_url(f"**/{lessons[0]}")
    page.locator("article .prediction > summary").first.click()
    traceback = page.locator("article .error details").first
    expect(traceback.locator("pre")).to_be_hidden()
    traceback.locator("summary").click()
    expect(traceback.locator("pre")).to_be_visible()


def test_on_a_laptop_navigation_and_links_lead_from_the_message_to_its_fix(visit):
    page = visit("", java_script_enabled=False)
    page.locator("noscript").get_by_role("link", name="All errors").click()
    page.locator("article a[href='sd001/']").click()
    expect(page.locator("article .example, article .language-diff").first).to_be_visible()
    page.locator("nav.md-path").get_by_role("link").last.click()
    page.wait_for_url("**/errors/")  # the page that is left has the tabs, too
    page.locator("nav.md-tabs").get_by_role("link", name="Reference").click()
    page.locator("nav.md-nav--primary a[href$='claims/']").click()
    page.wait_for_url("**/claims/")
    expect(page.locator("article h1")).to_contain_text("Claims checked")


def test_the_two_devices_of_a_message_lead_to_their_causes_and_a_cause_to_its_page(visit):
    page = visit("errors/sd001/", PHONE, java_script_enabled=False)
    row = page.locator("#wrong_default_index")
    expect(row).to_be_hidden()
    page.locator("summary", has_text="cuda:0 and cuda:1").click()
    expect(row).to_be_visible()
    row.click()
    expect(page.locator("article h1")).to_contain_text('A bare "cuda" went to another GPU than yours')
