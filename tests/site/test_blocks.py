"""Blocks that differ look and copy differently: the reader's own lines, an example, commands, and alternatives."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.site.pasted import TRACEBACK
from tests.site.test_cause_pages import lines_of

from samedevice.catalog import load

CAUSES = load().causes
COMMANDS = [cause for cause in CAUSES.values() if cause.commands]
EXAMPLE = CAUSES["input_not_moved"]
ALTERNATIVES = re.compile("^# (?:Either|Or): ")
BUILD = "AssertionError: Torch not compiled with CUDA enabled"


def copied(page):
    """Return what each button copies, by what it says it copies."""
    buttons = page.locator("article .copy-fix").all()
    return [(button.text_content(), button.get_attribute("data-clipboard-text")) for button in buttons]


def test_some_causes_have_alternatives():
    assert sum(any(map(ALTERNATIVES.match, cause.steps)) for cause in COMMANDS) >= 3


@pytest.mark.parametrize("cause", COMMANDS, ids=[cause.id for cause in COMMANDS])
def test_the_page_of_a_cause_copies_its_commands_one_by_one(visit, cause):
    page = visit(f"causes/{cause.id}/")
    assert copied(page) == [("Copy", line) for line in lines_of(cause)]
    assert not any("\n" in line or line.startswith(("$", "#", ">")) for line in lines_of(cause))
    for button, line in zip(page.locator("article .copy-fix").all(), lines_of(cause), strict=True):
        assert button.get_attribute("aria-label") == f"Copy {line}"


def test_the_page_of_a_cause_copies_its_lines_as_an_example(visit):
    page = visit(f"causes/{EXAMPLE.id}/")
    lines = EXAMPLE.after.strip("\n").split("\n")
    assert copied(page) == [("Copy the example", "\n".join(lines))]
    expect(page.get_by_text("An example:")).to_be_visible()


def test_the_page_of_a_message_says_that_the_lines_of_its_likeliest_cause_are_an_example(visit):
    page = visit("errors/sd001/")
    expect(page.get_by_text("An example:")).to_be_visible()
    assert [label for label, _ in copied(page)] == ["Copy the example"]


def test_the_page_of_a_message_shows_commands_of_its_cause_at_once(visit):
    page = visit("errors/sd065/")
    assert [label for label, _ in copied(page)] == ["Copy"] * len(lines_of(CAUSES["cpu_only_build"]))
    expect(page.locator("article .command").first).to_be_visible()


def test_no_page_says_that_a_line_of_the_catalog_is_the_readers(site):
    for place in [*site.causes, *site.errors]:
        assert not site.page(place).select("pre.change"), place


def test_only_the_readers_own_lines_are_the_fixed_ones(open_box):
    box = open_box().paste(TRACEBACK)
    expect(box.result.locator("pre.change").first).to_be_visible()
    fixed = box.result.get_by_role("button", name="Copy the fixed")
    assert fixed.count() == box.result.locator("pre.change").count() > 0
    box.paste(BUILD)
    expect(box.result.locator(".command").first).to_be_visible()
    expect(fixed).to_have_count(0)
    assert box.result.locator(".block-label").all_text_contents()[:2] == [
        "Either: Linux, NVIDIA GPU",
        "Or: Windows, NVIDIA GPU (cu130: CUDA 13.0; old drivers need an older one)",
    ]


@pytest.mark.parametrize(
    "path", ["causes/cpu_only_build/", "causes/input_not_moved/", "errors/sd065/", "errors/sd001/"]
)
@pytest.mark.parametrize("width", [360, 1280])
def test_the_blocks_fit_and_can_be_read_in_light_and_dark(visit, path, width):
    for scheme in ("light", "dark"):
        page = visit(path, width=width, color_scheme=scheme)
        page.evaluate("document.querySelectorAll('article details').forEach((details) => (details.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, context="article", options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()
        for block in page.locator("article .command").all():
            pre, button = block.locator("pre").bounding_box(), block.locator("button").bounding_box()
            assert pre["x"] + pre["width"] <= button["x"] and button["width"] >= 24 and button["height"] >= 24
