"""The pages of messages and of causes as text: they hold what the site's pages hold, and no link of ours."""

import re

import pytest

from samedevice.catalog import load
from samedevice.doctor import explain, site_addresses
from samedevice.doctor.outline import change
from samedevice.doctor.pages import page
from samedevice.doctor.pages.message_causes import causes_of, messages_of
from samedevice.doctor.pages.wordings import usual_text

MESSAGES, CAUSES = load().messages, load().causes


@pytest.fixture(autouse=True)
def no_address(monkeypatch):
    monkeypatch.setattr(site_addresses, "REPOSITORY", f"https://github.com/{site_addresses._NOBODY}/any-name")


@pytest.fixture(scope="module")
def every():
    """The causes of every message, as the site has them."""
    return {message.id: causes_of(message) for message in MESSAGES.values()}


def words(text):
    return " ".join(text.split())


def lines(text):
    return [line.removeprefix("    ") for line in text.splitlines()]


@pytest.mark.parametrize("id_", MESSAGES)
def test_the_page_of_a_message_holds_its_texts_its_causes_and_what_is_said_of_it(id_):
    message, text = MESSAGES[id_], page(MESSAGES[id_], 88)
    assert words(text).startswith(f"{id_}: {words(message.title).replace('`', '')} ---")
    for wording in message.texts:
        assert set(wording["text"].rstrip().split("\n")) <= set(lines(text)), wording
    for sentence in (explain(usual_text(message)).says, message.note, message.raised):
        assert words(sentence) in words(text)
    causes = causes_of(message)
    if causes.first:
        cause = causes.first.cause
        assert set(change(cause)) <= set(lines(text))
        for sentence in (cause.why, cause.confirm, causes.first.because, cause.link, cause.lesson):
            assert words(sentence) in words(text)
    for row in (row for group in causes.groups for row in group.rows):
        assert f"{row.cause.id}: {words(row.cause.title)}" in words(text)
        assert words(row.because) in words(text)


@pytest.mark.parametrize("id_", CAUSES)
def test_the_page_of_a_cause_holds_its_lines_its_prose_and_its_messages(id_, every):
    cause, text = CAUSES[id_], page(CAUSES[id_], 88)
    assert set(change(cause)) <= set(lines(text))
    for sentence in (cause.why, cause.confirm, cause.link, cause.lesson, load().lessons[cause.lesson].title):
        assert words(sentence) in words(text)
    listed = re.findall(r"^  (SD\d{3}): ", text, re.MULTILINE)
    assert listed == [message.id for message in messages_of(cause, every)]
    assert (f"\n  {cause.within}: " in text) == bool(cause.within)


ENTRIES = [*MESSAGES.values(), *(CAUSES[id_] for id_ in ("input_not_moved", "graph_not_moved", "gpus_hidden"))]


@pytest.mark.parametrize("width", [40, 88])
def test_lines_fit_the_terminal_but_for_code_and_addresses(width):
    for entry in ENTRIES:
        for line in page(entry, width).splitlines():
            is_code = line.startswith("    ")
            is_whole = len(line.split()) == 1 or line.count("`") >= 2  # which nothing may break
            assert len(line) <= width or is_code or is_whole, (entry.id, line)


def test_no_page_has_a_link_of_ours_before_there_is_a_site():
    for entry in ENTRIES:
        text = page(entry, 88)
        assert site_addresses._NOBODY not in text and "On the site" not in text
        assert text.endswith("\n") and not text.endswith("\n\n")


def test_a_page_ends_with_its_address_once_there_is_a_site(monkeypatch):
    monkeypatch.setattr(site_addresses, "REPOSITORY", "https://github.com/Some_name/any-name")
    site = "https://some_name.github.io/any-name"
    assert page(MESSAGES["SD031"], 88).endswith(f"\n\nOn the site: {site}/errors/sd031/\n")
    text = page(CAUSES["input_not_moved"], 88)
    assert text.endswith(f"\n\nOn the site: {site}/causes/input_not_moved/\n")
    assert f"{site}/notebooks/{CAUSES['input_not_moved'].lesson}/#" in text
