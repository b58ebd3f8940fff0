"""What can be stated of the site's look: one set of device colours, the logo, and what a phone's screen must show."""

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.site.accessibility import UNFINISHED

from samedevice.placement import drawing

ASSETS = Path(__file__).parents[2] / "docs" / "assets"
DEVICES = ("cpu", "cuda-0", "cuda-1")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def schemes():
    """Of each colour scheme in site.css its custom properties."""
    css = (ASSETS / "site.css").read_text("utf-8")
    blocks = re.findall(r'^\[data-md-color-scheme="(\w+)"\] \{(.*?)\}', css, re.DOTALL | re.MULTILINE)
    return {scheme: dict(re.findall(r"--([\w-]+): (.+?);", block)) for scheme, block in blocks}


def longest(colour):
    return colour if len(colour) == len("#rrggbb") else re.sub("([0-9a-f])", r"\1\1", colour)


def test_pictures_have_the_colours_of_the_light_scheme(schemes):
    light = schemes["default"]
    for name, colour in drawing._COLOURS.items():
        assert longest(light[name if name in DEVICES else f"picture-{name}"]) == colour, name


def test_a_devices_colour_is_written_in_one_place(schemes):
    styles = {path.name: path.read_text("utf-8") for path in (*ASSETS.glob("*.css"), *ASSETS.glob("*.js"))}
    for scheme in ("default", "slate"):
        for device in DEVICES:
            assert sum(text.count(schemes[scheme][device]) for text in styles.values()) == 1, (scheme, device)


def test_the_logo_says_its_name_and_has_the_devices_colours(site, schemes):
    logo = ElementTree.fromstring((site.folder / "assets/logo.svg").read_text("utf-8"))
    assert logo.tag == f"{SVG}svg"
    assert logo.findtext(f"{SVG}title") == "Same Device"
    fills = [shape.get("fill") for shape in logo.iter()]
    assert {schemes["slate"][device] for device in DEVICES} <= set(fills)
    head = site.page("").head
    assert head.select_one("link[rel=icon]")["href"] == "assets/logo.svg"


# Of each text in a picture its size on the screen, and whether it is inside the picture and clear of the others.
TEXTS = """() => [...document.querySelectorAll("article svg.placement")].map((svg) => {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom;
    const size = (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
    return {
        smallest: Math.min(...texts.map(([text]) => size(text))),
        outside: texts.filter(([, box]) => box.left < frame.left || box.right > Math.min(frame.right, innerWidth))
            .map(([text]) => text.textContent),
        overlapping: texts.filter(([, box], at) => texts.slice(at + 1).some(([, other]) => meet(box, other)))
            .map(([text]) => text.textContent),
    };
})"""
COVERED = """() => [...document.querySelectorAll("article pre:has(> .md-code__nav)")].filter((pre) => {
    const text = document.createRange();
    text.selectNodeContents(pre.querySelector("code"));
    const [nav, first] = [pre.querySelector(".md-code__nav").getBoundingClientRect(), text.getBoundingClientRect()];
    return nav.bottom > first.top;
}).map((pre) => pre.textContent.slice(0, 40))"""
BROKEN = """() => [...document.querySelectorAll("article :is(h1, h2, h3, summary strong)")].flatMap((heading) => {
    const texts = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT), broken = [];
    while (texts.nextNode()) {
        for (const word of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
            const range = document.createRange();
            range.setStart(texts.currentNode, word.index);
            range.setEnd(texts.currentNode, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word[0]);
        }
    }
    return broken;
})"""


@pytest.mark.parametrize(
    ("path", "pictures"), [("", 1), ("notebooks/16-split-device-models/", 1), ("errors/sd092/", 0)]
)
def test_a_phone_shows_pictures_code_and_headings_whole(visit, path, pictures):
    page = visit(path, width=360)
    page.locator(UNFINISHED).first.wait_for(state="detached")
    page.evaluate("document.querySelectorAll('article details').forEach((details) => (details.open = true))")
    shown = page.evaluate(TEXTS)
    assert len(shown) >= pictures
    for picture in shown:
        assert picture["smallest"] >= 11
        assert picture["outside"] == picture["overlapping"] == []
    if path.startswith("notebooks/"):
        assert page.locator("pre:has(> .md-code__nav)").count() > 10
    assert page.evaluate(COVERED) == []
    assert page.evaluate(BROKEN) == []


def test_the_cause_and_the_line_to_change_are_on_a_phones_first_two_screens(visit):
    page = visit("errors/sd001/", width=360)
    change = page.locator("pre.example").first.bounding_box()
    assert change["y"] + change["height"] < 800


# Of each table that is seen: how far it goes beyond the box that scrolls it, and by how much it is narrower than that.
EDGES = """() => [...document.querySelectorAll("article .md-typeset__table")].filter((box) => box.checkVisibility())
    .map((box) => {
        const room = box.clientWidth - 2 * parseFloat(getComputedStyle(box).paddingLeft);
        const table = box.firstElementChild.getBoundingClientRect().width;
        return [box.scrollWidth - box.parentElement.clientWidth, room - table];
    })"""


@pytest.mark.parametrize("path", ["placement-explorer/", "errors/sd002/", "simulated-cuda/", "sheet/"])
def test_on_a_laptop_no_table_is_cut_and_each_is_as_wide_as_the_text(visit, path):
    page = visit(path)
    page.locator(UNFINISHED).first.wait_for(state="detached")
    edges = page.evaluate(EDGES)
    assert edges
    for beyond, narrower in edges:
        assert beyond <= 1 and abs(narrower) <= 1, edges


PARTS = [
    ".lesson-place",
    "h1",
    ".language-text",
    ".only-the-fix",
    ".lesson-actions",
    ".lesson-sections",
    ".setup",
    "h2",
]


def test_a_lessons_first_screen_has_its_parts_in_their_order_and_the_first_section_is_near(visit):
    page = visit("notebooks/01-two-tensors/", width=360)
    boxes = [page.locator(f"article {part}").first.bounding_box() for part in PARTS]
    assert all(above["y"] + above["height"] <= below["y"] for above, below in itertools.pairwise(boxes))
    assert boxes[PARTS.index(".language-text")]["y"] < 250
    assert boxes[-1]["y"] < 2000  # 3049 at first
    assert page.locator(".setup:not([open])").count() == 1


def test_the_links_to_a_lessons_sections_stand_in_one_row_and_only_where_no_contents_do(visit):
    page = visit("notebooks/01-two-tensors/", width=360)
    links = page.locator(".lesson-sections a")
    assert {heading.removesuffix("¶") for heading in page.locator("article h2").all_inner_texts()} == {
        link.strip() for link in links.all_inner_texts()
    }
    tops = {link.bounding_box()["y"] for link in links.all()}
    assert len(tops) == 1
    assert min(link.bounding_box()["height"] for link in links.all()) >= 32
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.locator(".lesson-sections").is_hidden()
    assert page.locator(".md-sidebar--secondary nav a").first.is_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_a_row_of_the_list_of_lessons_can_be_tapped_anywhere(visit, lessons, width):
    page = visit("lessons/", width=width)
    rows = page.locator(".lesson-group + ul > li")
    assert rows.count() == len(lessons)
    assert min(row.bounding_box()["height"] for row in rows.all()) >= 44
    rows.last.click(position={"x": 5, "y": rows.last.bounding_box()["height"] - 5})
    page.wait_for_url(f"**/{lessons[-1]}")
