"""The search, in a real browser: an error that is pasted into it finds its page."""

import re

import pytest

from samedevice import explain

PHONE = 360


@pytest.fixture(scope="module")
def messages(site, lessons):
    """Each message that a lesson raises or quotes, such as an old wording, with the lessons that hold it."""
    found: dict[str, list[str]] = {}
    for lesson in lessons:
        for block in site.page(lesson).select(".error > pre, article .language-text pre"):
            for line in filter(str.strip, block.get_text().splitlines()):
                if line.startswith(("Caught ", "RuntimeError: Caught ")):
                    continue  # a wrapper: the message stands in another line
                found.setdefault(re.sub(r"^\w*Error: ", "", line), []).append(lesson)
    assert found
    return found


def first_result(page, pasted):
    """The address that search leads to; the text comes as from a menu, without a key that goes up."""
    page.get_by_text("Type to start searching").wait_for()
    page.keyboard.insert_text(pasted)
    first = page.locator(".md-search-result__link").first
    first.wait_for()
    return first.get_attribute("href")


def whole(message):
    return message


def with_the_errors_name(message):
    return f"RuntimeError: {message}"


def its_second_half(message):
    return " ".join(message.split()[len(message.split()) // 2 :])


@pytest.mark.parametrize("part", [whole, with_the_errors_name, its_second_half])
def test_a_pasted_error_finds_its_page_or_a_lesson_that_holds_it_among_the_first_three(visit, messages, part):
    page = visit()
    page.keyboard.press("/")
    # Of each lesson the first message in every form, the others as they are.
    firsts = {lessons[0]: message for message, lessons in reversed(messages.items())}
    missed = []
    for message in messages if part is whole else firsts.values():
        known = explain(message).message
        if known is None:
            continue  # Python's own, such as an AttributeError
        places = [*messages[message], f"errors/{known.id.lower()}/"]
        page.locator("[data-md-component=search-query]").fill("")
        first_result(page, part(message))
        if explain(part(message)).message:
            page.locator(".search-doctor a").wait_for()  # the doctor's answer comes a moment later
        items = page.locator(".md-search-result__item").all()[:3]  # a page each, with its sections
        found = [item.locator(".md-search-result__link").first.get_attribute("href") for item in items]
        if not any(place in link for place in places for link in found):
            missed.append((message, found))
    assert missed == []


def test_an_error_in_the_search_is_answered_by_the_doctor_and_enter_leads_there(visit):
    page = visit("notebooks/07-in-place-ops/")
    page.keyboard.press("/")
    query, answer = page.locator("[data-md-component=search-query]"), page.locator(".search-doctor")
    first_result(page, "RuntimeError: Tensor on device meta is not on the expected device cuda:0! <b>")
    answer.locator("a").wait_for()
    assert page.locator(".md-search-result__link").first.get_attribute("href").endswith("/errors/sd103/")
    query.fill("how to index")
    answer.wait_for(state="detached")
    query.fill("")
    first_result(page, "indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    answer.locator("a").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/errors/sd030/")


def test_on_a_phone_the_magnifier_opens_search_and_pasting_into_it_finds(visit, messages):
    page = visit(width=PHONE, has_touch=True, is_mobile=True)
    page.locator("header label.md-header__button[for=__search]").tap()
    assert first_result(page, next(iter(messages)))


def test_a_message_finds_its_lesson_before_one_with_its_small_words_in_headings(visit, address_of_small):
    message = "Expected all tensors to be on the same device, but found two"
    lessons = {
        "01-a.ipynb": ["# All on one\n\n## The total to be on it"],
        "02-b.ipynb": [f"# B\n\n```text\n{message}\n```"],
    }
    page = visit(site=address_of_small({"index.md": "# Home"}, lessons))
    page.keyboard.press("/")
    first_result(page, message)
    found = page.locator(".md-search-result__list:not(.search-doctor) .md-search-result__link").first
    assert "/02-b/" in found.get_attribute("href")
