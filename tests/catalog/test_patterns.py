"""What a pattern of the catalog may hold, and what is made of it."""

import re
import time

import pytest

from samedevice.catalog import load
from samedevice.catalog.patterns import glued, javascript, mistake, needle, wanders

CATALOG = load()
READ = [
    (pattern, entry) for entry in [*CATALOG.messages.values(), *CATALOG.other.values()] for pattern in entry.patterns
]


@pytest.mark.parametrize(
    "pattern",
    [
        r"Expected all tensors",
        r"found (?P<device>\w{1,20}(?::\d{1,3})?) and\b",
        r"a \(b\) \[c\] \{d\} \. \* \+ \? \| \/ \\ \^ \$",
        r"[\w.:-]{1,20} [^()]{0,9} [\]\[] [a-z]",
        r"(?:one|two){1,3} words",
        r"names: \w{1,9}(?:, \w{1,9}){0,9} end",
        r"numbers: \d{1,6}(?: \d{1,6}){0,60}",
        r"one|two",
        "\\n",
    ],
)
def test_what_both_languages_read_alike_is_allowed(pattern):
    assert mistake(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"a\sb", r"\s is not read alike"),
        (r"a\Zb", r"\Z is not read alike"),
        (r"(a)\1", "only (?:...)"),
        (r"a\'b", r"\' is not read alike"),
        (r"[\s]", "holds an escape"),
        (r"[a[b]", "escape \\["),
        (r"[a--b]", "a set in a set"),
        (r"(?=a)", "only (?:...) and (?P<name>...)"),
        (r"(?<!a)b", "only (?:...) and (?P<name>...)"),
        (r"(?i)a", "only (?:...) and (?P<name>...)"),
        (r"(?P<a>b)(?P=a)", "only (?:...) and (?P<name>...)"),
        (r"(a)", "only (?:...) and (?P<name>...)"),
        (r"(?>a)", "only (?:...) and (?P<name>...)"),
        (r"a{", "must be escaped: \\{"),
        (r"a]", "must be escaped: \\]"),
        (r"a{,3}", "must be escaped: \\{"),
        (r"^a", "^ does not mean the same"),
        (r"a$", "$ does not mean the same"),
        (r"\w+", "+ has no upper bound"),
        (r".*", "* has no upper bound"),
        (r"\w{1,}", "{1,} has no upper bound"),
        (r"a??", "lazy or possessive"),
        (r"a{1,3}?", "lazy or possessive"),
        (r"a{1,3}+", "lazy or possessive"),
        (r"a{2}{3}", "lazy or possessive"),
        (r"(?:a", "missing )"),
        (r"a)", "unbalanced"),
        (r"(?P<a>b)(?P<a>c)", "redefinition"),
        (r"(?:\w{1,80}, ){1,80}x", "repeats inside repeats"),
        (r"(?:\w{1,9} ){1,9}x", "repeats inside repeats"),
        (r"(?:.{1,9}, ){1,9}x", "repeats inside repeats"),
    ],
)
def test_what_they_read_otherwise_or_slowly_is_refused_in_words(pattern, words):
    assert words in (mistake(pattern) or "nothing")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"Expected (?P<a>\w{1,9}) on the same device\.", " on the same device."),
        (r"(?:all of this|may lack)? but this not", " but this not"),
        (r"colou?r of it", "r of it"),
        (r"one of|two", ""),
        (r"a, b, c", ""),
        (r"(?P<all>words)", ""),
        (r"\(device_ids\[0\]\)", "(device_ids[0])"),
    ],
)
def test_the_needle_is_the_longest_text_that_every_match_contains(pattern, words):
    assert needle(pattern) == words


def test_every_pattern_of_the_catalog_has_a_needle_that_its_matches_contain():
    wrong = [
        (pattern, match[0])
        for pattern, entry in READ
        for text in getattr(entry, "texts", [])
        for match in re.finditer(pattern, text["text"], re.ASCII)
        if not needle(pattern) or needle(pattern) not in match[0]
    ]
    assert wrong == []


def test_glued_reads_text_with_breaks_cut_out_and_with_breaks_left():
    pattern = re.compile(glued(r"on the same ?device, {1,2}but [ x]got (?P<a>\w{1,9})"))
    for text in ("on the same device, but  got cpu", "onthesamedevice,butxgotcpu", "on thesame device,but xgot cpu"):
        assert pattern.search(text)["a"] == "cpu"


def test_every_pattern_of_the_catalog_can_be_glued():
    for pattern, _ in READ:
        re.compile(glued(pattern), re.ASCII)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\w{1,80} was", True),
        (r"(?P<op>\w{1,80}) was", True),
        (r"(?:torch\.)?(?P<op>\w{1,80}) was", True),
        (r"(?:(?P<op>\w{1,30}): )?Expected", True),
        (r"a?[^)]{0,30} was", True),
        (r"\b(?P<op>\w{1,80}) was", False),
        (r"(?:torch\.)?\b(?P<op>\w{1,80}) was", False),
        (r"was \w{1,80}", False),
        (r"(?:it )?was \w{1,80}", False),
        (r"\w{1,3} was", False),
    ],
)
def test_a_pattern_that_begins_with_a_long_repeat_is_told(pattern, expected):
    assert wanders(pattern) is expected


def test_javascript_writes_captures_its_own_way():
    assert javascript(r"(?P<a>\w{1,3}) (?:b)") == r"(?<a>\w{1,3}) (?:b)"


@pytest.mark.parametrize("filling", ["a", "1", "a.a:a(", "' "])
def test_no_pattern_is_slow_on_a_text_made_for_all_of_them(filling):
    patterns = [pattern for pattern, _ in READ]
    text = (filling * 300).join(sorted({needle(pattern) for pattern in patterns}))[:60_000]
    start = time.process_time()
    for pattern in patterns:
        for form in (pattern, glued(pattern)):
            for _ in re.finditer(form, text, re.ASCII):
                pass
    # 0.3 s as measured; patterns that try every letter as their start take ten times that.
    assert time.process_time() - start < 10
