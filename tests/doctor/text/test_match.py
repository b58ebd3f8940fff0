"""A log is searched near the words that each message has; what is found is what a search of all of it finds."""

import importlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doctor.test_robustness import FUZZ, NOISE, TEXTS

from samedevice.catalog import load
from samedevice.catalog.patterns import glued, longest
from samedevice.doctor.text.match import last_message_unbroken, messages

PARSER = importlib.import_module("re._parser")
PATTERNS = [pattern for message in load().messages.values() for pattern in message.patterns]
OTHERS = [pattern for other in load().other.values() for pattern in other.patterns]


@pytest.mark.parametrize("write", [str, glued])
def test_no_match_is_longer_than_it_is_said_to_be(write):
    for pattern in map(write, [*PATTERNS, *OTHERS, r"(?:a{1,3}b?|c{2}){4} ?d{1,20}"]):
        assert PARSER.parse(pattern).getwidth()[1] <= longest(pattern), pattern
    assert longest(r"got \w{1,40}(?::\d{1,3})?") == 48


COMPILED = {write: [re.compile(write(pattern), re.ASCII) for pattern in PATTERNS] for write in (str, glued)}


def searched(line, write):
    """What the patterns find in all of a line, the last first; of those that overlap, the first."""
    found = [
        (match.end(), -order, match.start())
        for order, pattern in enumerate(COMPILED[write])
        for match in pattern.finditer(line)
    ]
    kept = []
    while found:
        latest = max(found)
        end, order, start = min((each for each in found if each[0] > latest[2]), key=lambda each: (each[2], -each[1]))
        kept.append((start, end, -order))
        found = [each for each in found if each[0] <= start]
    return kept


LINES = st.lists(st.one_of(NOISE, st.sampled_from([text for _, text in TEXTS])), max_size=8)


@FUZZ
@given(parts=LINES, filling=st.sampled_from([" ", " x " * 300, "a" * 700, " got "]))
def test_what_is_found_near_the_words_is_what_a_search_of_all_finds(parts, filling):
    line = filling.join(" ".join(part.split()) for part in parts)
    assert [(found.start, found.end, found.order) for found in messages(line)] == searched(line, str)
    unbroken = filter(None, [last_message_unbroken(line)])
    assert [(found.start, found.end, found.order) for found in unbroken] == searched(line, glued)[:1]
