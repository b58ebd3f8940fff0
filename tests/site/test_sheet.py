"""The one sheet: one side of A4 on paper, nothing cut, readable in grey; and it knows messages as the catalog does."""

import re

import pytest
from tests.site.conftest import LAPTOP, ROOT

from samedevice import explain
from samedevice.catalog import load

SHEET = (ROOT / "docs/sheet.md").read_text("utf-8")
MILLIMETRE = 96 / 25.4
WIDTH, HEIGHT = round(190 * MILLIMETRE), round(279 * MILLIMETRE)  # A4 without the margins of sheet.css
SMALLEST = 8 * 96 / 72  # pixels of 8 points
PHONE = 360

# Of each piece of text that is printed: where it is, how large, and its contrast in grey.
PRINTED = """() => {
    const grey = (colour) => {
        const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
        return alpha < 0.05 ? null : (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
    };
    const ground = (element) => {
        for (; element; element = element.parentElement) {
            const tone = grey(getComputedStyle(element).backgroundColor);
            if (tone !== null) return tone;
        }
        return 1;
    };
    const found = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const element = text.parentElement;
        if (!text.data.trim() || element.closest("script, style, noscript") || !element.checkVisibility()) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        const box = range.getBoundingClientRect();
        if (!box.width) continue;
        const style = getComputedStyle(element);
        found.push({
            text: text.data.trim(), left: box.left, right: box.right, bottom: box.bottom + scrollY,
            size: parseFloat(style.fontSize), contrast: Math.abs(ground(element) - grey(style.color)),
        });
    }
    return found;
}"""


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_prints_one_page_of_a4(visit, width, scheme):
    page = visit("sheet/", width, color_scheme=scheme)
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    left, top, right, bottom = map(float, re.search(rb"/MediaBox\s*\[([^\]]+)\]", printed)[1].split())
    assert (round((right - left) / 72 * 25.4), round((bottom - top) / 72 * 25.4)) == (210, 297)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scripts", [True, False])
def test_all_of_it_is_on_the_paper_large_enough_and_dark_enough(visit, scheme, scripts):
    page = visit("sheet/", color_scheme=scheme, java_script_enabled=scripts)
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.emulate_media(media="print")
    printed = page.evaluate(PRINTED)
    text = " ".join(piece["text"] for piece in printed)
    for words in re.findall(r"^## (.+?) \{", SHEET, re.M) + re.findall(r"`([^`]+)`", SHEET):
        assert words in text
    for piece in printed:
        assert 0 <= piece["left"] <= piece["right"] <= WIDTH + 1, piece
        assert piece["bottom"] <= 0.97 * HEIGHT, piece  # other computers have other fonts
        assert piece["size"] >= SMALLEST, piece
        assert piece["contrast"] > 0.6, piece


def test_nothing_around_the_sheet_is_printed(visit):
    page = visit("sheet/")
    page.emulate_media(media="print")
    printed = [piece["text"] for piece in page.evaluate(PRINTED)]
    assert printed[0] == "One sheet"
    assert not any("Print this page" in piece for piece in printed)
    assert "sections 1 to 3" in printed[-1]


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_on_a_screen_nothing_is_wider_than_the_screen(visit, width):
    page = visit("sheet/", width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_each_wording_is_known_as_what_the_sheet_says():
    devices, others = SHEET.partition("## Not about")[::2]
    wordings = re.findall(r"^\| `([^`]+)` \|", devices.partition("## 2.")[0], re.M)
    assert len(wordings) >= 10
    for wording in wordings:
        assert explain(wording).message, wording
    for wording in re.findall(r"^\| `([^`]+)` \|", others, re.M):
        known = explain(wording)
        about_cuda = known.message and known.message.id == "SD065"  # an installation, which the catalog has too
        assert known.other or about_cuda, wording


def test_home_and_every_lesson_lead_to_it(site):
    assert len(site.page("").select("article a[href='sheet/']")) == 1
    for slug in load().lessons:
        assert len(site.page(f"notebooks/{slug}/").select(".lesson-links a[href='../../sheet/']")) == 1, slug
