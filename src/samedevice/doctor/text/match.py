"""Which pattern of the catalog a line holds last. Quick in megabytes: words first, then needles, then patterns."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar

from samedevice.catalog import Message, Other, load
from samedevice.catalog.patterns import glued, longest, needle

Entry = TypeVar("Entry")
_FAMILY = 24  # characters


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

    @property
    def family(self) -> str:
        """How the message begins, as its shortened forms do."""
        return self.match[0][:_FAMILY].lower()

    def holds(self, shorter: "Found[Entry]") -> bool:
        return shorter.match[0].replace(" ", "") in self.match[0].replace(" ", "")


def messages(line: str) -> list[Found[Message]]:
    """Return the messages in `line`, the one that ends last first; of those that overlap, the one that begins first."""
    words = set(line.split(" "))
    found = (
        Found(pattern.entry, order, match)
        for order, pattern in enumerate(_messages())
        if pattern.may_match(line, words)
        for match in _near(_compiled(pattern.text), line, _places(pattern.needle, line))
    )
    return _apart(found)


def last_message_unbroken(line: str) -> Found[Message] | None:
    """Return the last one of a line whose breaks were cut out, so that a space may be missing or too many."""
    dense = line.replace(" ", "")
    patterns = [(order, pattern) for order, pattern in enumerate(_messages()) if pattern.dense in dense]
    if not patterns:
        return None
    places = [place for place, sign in enumerate(line) if sign != " "]  # in the line, of each sign of `dense`
    found = (
        Found(pattern.entry, order, match)
        for order, pattern in patterns
        for match in _near(
            _compiled(pattern.text, "broken"), line, [places[at] for at in _places(pattern.dense, dense)]
        )
    )
    apart = _apart(found)
    return apart[0] if apart else None


def last_message_in_any_case(small: str) -> Found[Message] | None:
    """Return the last one of a line in small letters, whatever the capitals of the patterns."""
    apart = _apart(_in_any_case(_messages(), small))
    return apart[0] if apart else None


def last_other(line: str) -> Other | None:
    """Return the last error in `line` that is known to be about something else."""
    words = set(line.split(" "))
    return _latest(
        Found(pattern.entry, order, match)
        for order, pattern in enumerate(_others())
        if pattern.may_match(line, words)
        for match in _near(_compiled(pattern.text), line, _places(pattern.needle, line))
    )


def last_other_in_any_case(small: str) -> Other | None:
    """Return the same for a line in small letters, whatever the capitals of the patterns."""
    return _latest(_in_any_case(_others(), small))


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


class _Compiled(NamedTuple):
    pattern: re.Pattern[str]
    reach: int  # no match is longer


@functools.cache  # compiled when it may match: to compile all of them takes longer than to read a paste
def _compiled(pattern: str, form: _Form = "") -> _Compiled:
    if form == "any case":
        text = pattern.replace(_TYPE, f"{_TYPE}(?![.\\w])")
        return _Compiled(re.compile(text, re.ASCII | re.IGNORECASE), longest(pattern))
    text = glued(pattern) if form == "broken" else pattern
    return _Compiled(re.compile(text, re.ASCII), longest(text))


def _places(needle: str, line: str) -> list[int]:
    """Return where each needle begins; nothing for a pattern without one."""
    if not needle:
        return []
    places, at = [], line.find(needle)
    while at >= 0:
        places.append(at)
        at = line.find(needle, at + 1)
    return places


def _near(compiled: _Compiled, line: str, places: Sequence[int]) -> Iterator[re.Match[str]]:
    """Yield what `finditer` finds in the line. Each match holds a needle, so a log is searched near them only.

    Without places all of it is searched.
    """
    begin, end = 0, 0 if places else len(line)
    for at in places:
        if at - compiled.reach > end:
            yield from compiled.pattern.finditer(line, begin, end)
            begin = at - compiled.reach
        end = at + compiled.reach + 1
    yield from compiled.pattern.finditer(line, begin, end)


def _in_any_case(patterns: Sequence[_Pattern[Entry]], small: str) -> Iterator[Found[Entry]]:
    for order, pattern in enumerate(patterns):
        if pattern.needle.lower() in small:
            for match in _compiled(pattern.text, "any case").pattern.finditer(small):
                yield Found(pattern.entry, order, match)


def _latest(found: Iterable[Found[Entry]]) -> Entry | None:
    last = max(found, key=lambda match: (match.end, -match.order), default=None)
    return last.entry if last is not None else None


def _apart(found: Iterable[Found[Entry]]) -> list[Found[Entry]]:
    apart: list[Found[Entry]] = []
    rest = sorted(found, key=lambda match: (match.end, -match.order))
    while rest:
        last = rest[-1]
        overlapping = []
        while rest and rest[-1].end > last.start:
            overlapping.append(rest.pop())
        apart.append(min(overlapping, key=lambda match: (match.start, match.order)))
        while rest and rest[-1].end > apart[-1].start:
            rest.pop()
    return apart
