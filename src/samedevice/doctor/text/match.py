"""Which pattern of the catalog a line holds last. Quick in megabytes: words first, then needles, then patterns."""

import functools
import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar

from samedevice.catalog import Message, Other, load
from samedevice.catalog.patterns import glued, needle

Entry = TypeVar("Entry")


class Found(NamedTuple, Generic[Entry]):
    entry: Entry
    order: int
    match: re.Match[str]

    @property
    def start(self) -> int:
        return self.match.start()

    @property
    def end(self) -> int:
        return self.match.end()

    def holds(self, shorter: "Found[Entry]") -> bool:
        return shorter.match[0].replace(" ", "") in self.match[0].replace(" ", "")


def last_message(line: str) -> Found[Message] | None:
    """Return the message that ends last in `line`; of those that overlap, the one that begins first."""
    words = set(line.split(" "))
    return _last(
        [(order, pattern) for order, pattern in enumerate(_messages()) if pattern.may_match(line, words)], line
    )


def last_message_unbroken(line: str) -> Found[Message] | None:
    """Return the same for a line whose breaks were cut out, so that a space may be missing or too many."""
    dense = line.replace(" ", "")
    patterns = enumerate(_messages())
    return _last([(order, pattern) for order, pattern in patterns if pattern.dense in dense], line, "broken")


def last_message_in_any_case(small: str) -> Found[Message] | None:
    """Return the same for a line in small letters, whatever the capitals of the patterns."""
    return _last(_in_any_case(_messages(), small), small, "any case")


def last_other(line: str) -> Other | None:
    """Return the last error in `line` that is known to be about something else."""
    words = set(line.split(" "))
    patterns = [(order, pattern) for order, pattern in enumerate(_others()) if pattern.may_match(line, words)]
    return _latest(patterns, line)


def last_other_in_any_case(small: str) -> Other | None:
    """Return the same for a line in small letters, whatever the capitals of the patterns."""
    return _latest(_in_any_case(_others(), small), small, "any case")


class _Pattern(NamedTuple, Generic[Entry]):
    """A pattern. A text that it matches holds `needle`, and `word` between two spaces; `dense` is without spaces."""

    entry: Entry
    text: str
    needle: str
    word: str
    dense: str

    def may_match(self, line: str, words: set[str]) -> bool:
        # Looking a word up costs nothing, looking for the needle in megabytes of log does.
        return (not self.word or self.word in words) and self.needle in line


@functools.cache
def _messages() -> list[_Pattern[Message]]:
    return [_pattern(message, text) for message in load().messages.values() for text in message.patterns]


@functools.cache
def _others() -> list[_Pattern[Other]]:
    return [_pattern(other, text) for other in load().other.values() for text in other.patterns]


def _pattern(entry: Entry, text: str) -> _Pattern[Entry]:
    words = needle(text)
    return _Pattern(entry, text, words, max(words.split(" ")[1:-1], key=len, default=""), words.replace(" ", ""))


# As messages write it without a device: in small letters it would be found in the type with one, `torch.cuda` alone.
_TYPE = r"[A-Z]\w{1,24}"
_Form = Literal["", "broken", "any case"]  # of a line: whether its breaks were cut out, or its capitals


@functools.cache  # compiled when it may match: to compile all of them takes longer than to read a paste
def _compiled(pattern: str, form: _Form) -> re.Pattern[str]:
    if form == "any case":
        return re.compile(pattern.replace(_TYPE, f"{_TYPE}(?![.\\w])"), re.ASCII | re.IGNORECASE)
    return re.compile(glued(pattern) if form == "broken" else pattern, re.ASCII)


def _matches(patterns: Sequence[tuple[int, _Pattern[Entry]]], line: str, form: _Form = "") -> Iterator[Found[Entry]]:
    for order, pattern in patterns:
        for match in deque(_compiled(pattern.text, form).finditer(line), maxlen=1):
            yield Found(pattern.entry, order, match)


def _in_any_case(patterns: Sequence[_Pattern[Entry]], small: str) -> list[tuple[int, _Pattern[Entry]]]:
    return [(order, pattern) for order, pattern in enumerate(patterns) if pattern.needle.lower() in small]


def _latest(patterns: Sequence[tuple[int, _Pattern[Entry]]], line: str, form: _Form = "") -> Entry | None:
    found = list(_matches(patterns, line, form))
    return max(found, key=lambda match: (match.end, -match.order)).entry if found else None


def _last(patterns: Sequence[tuple[int, _Pattern[Entry]]], line: str, form: _Form = "") -> Found[Entry] | None:
    found = list(_matches(patterns, line, form))
    if not found:
        return None
    last = max(found, key=lambda match: match.end)
    overlapping = [match for match in found if match.end > last.start]
    return min(overlapping, key=lambda match: (match.start, match.order))
