"""Three ways that visitors come, walked on a phone: taps and swipes are facts of the pages, and are counted.

A swipe is three quarters of the screen. What to read counts as seen when all of it stands below the header. The seconds
are the machine's, from a cold cache, without those that a person needs to read and to aim; they are kept with the test
(`pytest --junitxml`) and printed (`pytest -rP`), and only a page that hangs fails.
"""

import time
from pathlib import Path

import pytest
from tests.site.conftest import UPSTREAM

PHONE = {"viewport": {"width": 360, "height": 640}, "device_scale_factor": 3, "has_touch": True, "is_mobile": True}
SWIPE = 480  # of the 640 px
PASTE = Path(__file__).parents[1] / "doctor/text/tracebacks/python-3.13.txt"  # what a run printed
COLAB = "https://colab.research.google.com/"
HANGS = 30  # seconds

# How far a thing is below the screen, in pixels; above the header, it is negative.
BELOW = """element => {
    const box = element.getBoundingClientRect(), header = document.querySelector(".md-header").getBoundingClientRect();
    return box.top < header.bottom ? box.top - header.bottom : Math.max(0, Math.ceil(box.bottom - innerHeight));
}"""


class Visitor:
    """A phone in a hand: taps and swipes are counted, and the clock runs."""

    def __init__(self, page):
        self.page = page
        self.taps = self.swipes = 0
        self.begin = time.monotonic()

    def tap(self, thing):
        self.look_for(thing)
        thing.tap()
        self.taps += 1

    def paste(self):
        """From the menu that a long press opens; the test presses keys for it."""
        self.page.keyboard.press("Control+V")
        self.taps += 1

    def look_for(self, thing):
        """Swipe until all of it is on the screen."""
        thing.wait_for()
        while below := thing.evaluate(BELOW):
            self.page.evaluate("by => scrollBy({top: by, behavior: 'instant'})", min(max(below, -SWIPE), SWIPE))
            self.swipes += 1
            assert self.swipes < 20, f"{below} px away"

    @property
    def went(self):
        return self.taps, self.swipes


@pytest.fixture
def visitor(browser, record_property, request):
    context = browser.new_context(**PHONE)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor = Visitor(context.new_page())
    yield visitor
    seconds = round(time.monotonic() - visitor.begin, 1)
    context.close()
    record_property("taps, swipes, seconds", (*visitor.went, seconds))
    print(f"{request.node.name}: {visitor.taps} taps, {visitor.swipes} swipes, {seconds} s")
    assert seconds < HANGS


def test_from_the_paste_to_cause_and_line_nothing_is_between(visitor, address):
    visitor.page.goto(address)
    visitor.page.evaluate("text => navigator.clipboard.writeText(text)", PASTE.read_text("utf-8"))
    visitor.tap(visitor.page.get_by_label("Your error"))
    visitor.paste()
    visitor.look_for(visitor.page.locator(".diagnosis h2", has_text="The batch stayed on the CPU"))
    line = visitor.page.locator(".diagnosis .change ins").first
    visitor.look_for(line)
    assert line.inner_text().startswith('+ x.to("cuda:0")')
    assert visitor.went == (2, 0)  # into the box; paste
    assert visitor.page.evaluate("document.activeElement.className") == "diagnosis"  # the phone's keyboard is gone


@pytest.mark.parametrize("lesson", ["01-two-tensors", "02-unmoved-batches", "17-data-parallel"])
def test_from_the_top_of_a_lesson_the_fix_alone_is_a_tap_and_a_swipe_away_at_most(visitor, address, lesson):
    visitor.page.goto(f"{address}notebooks/{lesson}/")
    visitor.tap(visitor.page.get_by_role("link", name="Only want the fix?"))
    visitor.page.wait_for_url("**/errors/*/")
    visitor.look_for(visitor.page.locator(".example ins").first)
    assert visitor.taps == 1
    assert visitor.swipes <= 2


@pytest.mark.parametrize("error", ["sd001", "sd020", "sd050"])
def test_from_the_top_of_an_errors_page_its_likeliest_fix_is_a_swipe_away_at_most(visitor, address, error):
    visitor.page.goto(f"{address}errors/{error}/")
    visitor.look_for(visitor.page.locator(".example ins").first)
    assert visitor.taps == 0
    assert visitor.swipes <= 1


@pytest.mark.parametrize(
    ("name", "path", "swipes"),
    [
        ("Find the tensor", "find-the-tensor/", 0),
        ("All errors", "errors/", 0),
        ("Learn", "lessons/", 1),  # below the first of three cards, each with its picture
        ("Test without a GPU", "test-without-a-gpu/", 1),
    ],
)
def test_from_home_one_tap_leads_to_each_part_of_the_site(visitor, address, name, path, swipes):
    visitor.page.goto(address)
    visitor.tap(visitor.page.get_by_role("article").get_by_role("link", name=name, exact=True))
    visitor.page.wait_for_url(address + path)
    assert visitor.went == (1, swipes)


def test_the_box_is_on_a_phones_first_screen_whole(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 664})
    page.goto(address)
    assert page.get_by_label("Your error").evaluate(BELOW) == 0
    assert page.locator(".doctor").evaluate(BELOW) == 0
    page.close()


def test_the_first_screen_of_a_laptop_has_the_sentence_the_box_and_where_the_cards_begin(browser, address):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    assert page.locator(".card").count() == 3
    cards = page.locator(".card :is(svg, pre), .card h2").all()
    for thing in (page.locator("article .lead"), page.locator(".doctor"), *cards):
        assert thing.evaluate(BELOW) == 0
    page.close()


def test_from_home_two_taps_lead_into_colab(visitor, address):
    asked = []
    visitor.page.route(f"{COLAB}**", lambda route: (asked.append(route.request.url), route.fulfill(body="Colab")))
    visitor.page.goto(address)
    visitor.tap(visitor.page.get_by_role("link", name="lesson 01"))
    visitor.tap(visitor.page.get_by_role("link", name="Run in Colab").first)
    visitor.page.wait_for_url(f"{COLAB}**")
    assert asked == [f"{COLAB}github/{UPSTREAM}/blob/colab/notebooks/01-two-tensors.ipynb"]
    assert visitor.taps == 2
    assert visitor.swipes <= 3  # past what stands above the ways to run the lesson
