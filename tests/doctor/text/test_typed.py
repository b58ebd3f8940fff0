"""What is typed, not pasted: capitals, fragments and words of a question lead to the message, and prose to none."""

import tomllib
from pathlib import Path

import pytest
from tests.doctor.test_not_device_errors import TEXTS

from samedevice import explain
from samedevice.catalog import load
from samedevice.doctor.text.typed import phrases, typed_message

FOLDER = Path(__file__).parent
QUERIES = tomllib.loads((FOLDER / "typed_queries.toml").read_text("utf-8"))
PROSE = (FOLDER / "prose.txt").read_text("utf-8").splitlines()
MISSED = {  # of the queries
    "weight type should be the same or input should be a MKLDNN tensor": "the types stand between",
    "AssertionError: torch not compiled with cuda": "the question has too many of its words",
    "different devices in metric calculation": "the message was reported once: it is not among the common ones",
    "copy out of meta tensor no data": "no pattern reaches to the end of the message",
}
CAPITALS = [str.upper, str.lower, str.title]
COMMONEST = sorted(load().messages.values(), key=lambda message: -message.reports)[:20]


def named(text):
    diagnosis = explain(text)
    return diagnosis.message.id if diagnosis.message else ""


def test_the_queries_are_of_the_commonest_messages():
    assert {message.id for message in COMMONEST} <= set(QUERIES)


@pytest.mark.parametrize(("id_", "text"), [(id_, text) for id_, texts in QUERIES.items() for text in texts])
def test_a_query_leads_to_its_message(id_, text):
    assert named(text) == ("" if text in MISSED else id_)


@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("form", [str, *CAPITALS])
def test_prose_is_no_message(text, form):
    assert not named(form(text))


@pytest.mark.parametrize("form", CAPITALS)
def test_what_is_not_a_device_error_is_none_in_other_capitals(form):
    assert [text for _, text in TEXTS if named(form(text))] == []


def test_another_error_is_known_in_capitals():
    assert explain("CUDA OUT OF MEMORY").other.id == "out_of_memory"


@pytest.mark.parametrize("form", CAPITALS)
def test_the_commonest_messages_are_known_in_any_capitals(form):
    texts = [(message.id, " ".join(text["text"].split())) for message in COMMONEST for text in message.texts]
    short = [(id_, text) for id_, text in texts if len(text) <= 300]
    assert len(short) > 40
    assert [(id_, text) for id_, text in short if named(form(text)) != id_] == []


def test_the_devices_are_read_in_capitals():
    assert explain("FOUND AT LEAST TWO DEVICES, CUDA:1 AND CPU!").reads == {
        "device": "cuda:1",
        "device_kind": "accelerator",
        "others": "cpu",
        "others_kind": "cpu",
        "between": "cpu and accelerator",
    }


def test_beginnings_and_ends_of_the_commonest_messages_are_known():
    cut = set()
    for message in COMMONEST:
        for text in message.texts[:2]:
            words = text["text"].split("\n")[0].split()[:30]
            cut |= {" ".join(words[:end]) for end in range(5, len(words) + 1)}
            cut |= {" ".join(words[start:]) for start in range(len(words) - 4)}
    known = [text for text in cut if named(text.lower())]
    assert len(cut) > 500
    assert len(known) > 0.85 * len(cut)  # 0.36 of them before fragments were read


def test_a_long_text_and_one_with_a_word_of_something_else_are_no_fragment():
    fragment = "found at least two devices"
    assert typed_message(f"how to fix {fragment} in pytorch").entry.id == "SD004"
    assert not typed_message(f"the scan {fragment}")
    assert not typed_message(f"{fragment} {'to ' * 100}")
    assert not typed_message("")


def test_a_phrase_has_words_of_a_message_that_was_reported():
    assert len(phrases()) > 150
    assert {id_ for id_, _ in phrases()} == {each.id for each in load().messages.values() if each.reports >= 2}
    assert all(phrase == f" {' '.join(phrase.split())} " and len(phrase.split()) >= 5 for _, phrase in phrases())
