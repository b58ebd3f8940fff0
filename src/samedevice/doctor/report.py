"""A diagnosis as text and for `rich`: where, one sentence, the fix, and the details last.

What was pasted is shown as it is; no line ends within `code` between backticks, and code is never broken.
"""

import shutil
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from samedevice.doctor.outline import ABOUT, SHOWN, Outline, Section, outline, to_report
from samedevice.doctor.text.normalise import escaped
from samedevice.doctor.text.ways import INTRODUCTION
from samedevice.doctor.wrapping import wrapped

if TYPE_CHECKING:
    from rich.text import Text

    from samedevice.doctor.diagnosis import Diagnosis
    from samedevice.doctor.text.whose import Owner

TELLS = "This line, above the one that failed, tells which:"
EXAMPLE = "An example:"
UPDATE = "A newer release may have fixed it:"
_WIDTH = 88
_NARROWEST, _WIDEST = 40, 100
_Line = tuple[str, str]  # what kind of line it is, and the line


def as_text(diagnosis: "Diagnosis", *, whole: bool = False, width: int = _WIDTH) -> str:
    """Write it in lines of at most `width` columns; code and addresses are never broken.

    Args:
        diagnosis: what `explain` returned.
        whole: also why it happened, notes, examples, and how to check the other causes.
        width: how many columns; `terminal_width()` where the text is for a terminal.
    """
    return "".join(f"{line}\n" for _, line in _lines(outline(diagnosis), width, whole=whole))


def terminal_width(without: int = _WIDTH) -> int:
    """Return the columns of the terminal, or what COLUMNS says; 40 to 100, so that it can be read.

    Args:
        without: how many columns where there is no terminal.
    """
    columns = shutil.get_terminal_size((without, 24)).columns
    return min(max(columns, _NARROWEST), _WIDEST)


def as_rich(diagnosis: "Diagnosis", width: int = _WIDTH) -> "Text":
    """Write the same in the terminal's own colours."""
    from rich.text import Text

    styles = {"place": "bold", "heading": "bold", "-": "red", "+": "green"}
    lines = [(line, styles.get(kind, "")) for kind, line in _lines(outline(diagnosis), min(width, _WIDTH))]
    return Text("\n").join(Text(line, style) for line, style in lines)


def _lines(parts: Outline, width: int, *, whole: bool = False) -> Iterator[_Line]:
    """Yield the lines of each block, and an empty line between two."""
    blocks = [block for block in _blocks(parts, width, whole=whole) if block]
    for number, block in enumerate(blocks):
        if number:
            yield "", ""
        yield from ((kind, escaped(line)) for kind, line in block)


def _blocks(parts: Outline, width: int, *, whole: bool) -> Iterator[list[_Line]]:
    yield [("place", parts.place), *_code("code", parts.code)] if parts.code else []
    yield [*_prose(width, parts.says), *_labelled(width, parts.first)]
    if parts.owner is not None and not parts.is_looked_up:
        yield from _owned(width, parts.owner)
    if parts.choice:
        asked = _code("code", [parts.tell]) if parts.tell else []
        yield [*_prose(width, f"{parts.choice} {TELLS if asked else ''}".rstrip(), "heading"), *asked]
        yield [line for section in parts.sections for line in _candidate(width, section, whole=whole)]
    for section in () if parts.choice else parts.sections:
        yield _prose(width, section.heading, "heading")
        yield _diff(_lines_of(section), whole=whole)
        if whole or section is not parts.sections[-1]:
            yield _labelled(width, [*section.first, *(section.details if whole else [])])
    if whole:
        for section in _split(parts)[0]:
            yield from _told_whole(width, section)
    elif parts.causes:
        yield _ways(width, parts)
        yield [line for section in parts.causes for line in _prose(width, section.line)]
    if parts.owner is not None and parts.is_looked_up:
        yield from _owned(width, parts.owner)
    yield _ending(width, parts, whole=whole)


def _owned(width: int, owner: "Owner") -> Iterator[list[_Line]]:
    """Write whose code it is, what its user can do, and the text to report."""
    yield _prose(width, owner.says, "heading")
    yield [
        *(line for number, tried in enumerate(owner.tries, 1) for line in _prose(width, f"{number}. {tried}")),
        *([*_prose(width, UPDATE), *_code("code", [owner.command])] if owner.command else []),
    ]
    yield [*_prose(width, to_report(owner)), *_code("code", owner.report.split("\n"))]


def _candidate(width: int, section: Section, *, whole: bool) -> list[_Line]:
    return [*_prose(width, section.heading, "heading"), *_diff(section.change, whole=whole)]


def _told_whole(width: int, section: Section) -> Iterator[list[_Line]]:
    yield _prose(width, section.heading, "heading")
    yield _diff(_lines_of(section), whole=True)
    yield _labelled(width, [*section.first, *section.details])


def _lines_of(section: Section) -> list[str]:
    return [EXAMPLE, *section.example] if section.example else section.commands or section.change


def _split(parts: Outline) -> tuple[list[Section], list[Section]]:
    """Return the causes to tell in full, those of the candidates among them, and those that get their titles only."""
    causes = [*parts.causes, *parts.others]
    limit = SHOWN + len(parts.sections) * bool(parts.choice)
    return causes[:limit], causes[limit:]


def _ways(width: int, parts: Outline) -> list[_Line]:
    ways = [f"{way.when}: {way.command}" for way in parts.ways]
    return [*_prose(width, f"{INTRODUCTION}:"), *_code("code", ways)] if ways else []


def _ending(width: int, parts: Outline, *, whole: bool) -> list[_Line]:
    """Write how to check what was shown last, other causes, notes, and where there is more."""
    sentences: list[tuple[str, str]] = []
    if not whole:
        for section in () if parts.choice else parts.sections[-1:]:
            sentences += section.first
        others = list(dict.fromkeys(section.title for section in parts.others if section.title))[:SHOWN]
        told = "Other causes" if parts.owner is None or parts.is_looked_up else "Likely causes, for its maintainer"
        sentences += [(told, f"{'; '.join(others)}.")] if others and not parts.causes else []
    elif rest := [section.title for section in _split(parts)[1]]:
        sentences += [("Less likely", f"{'; '.join(rest)}.")]
    sentences += [detail for detail in parts.details if whole or detail[0] != ABOUT]
    lines = _labelled(width, sentences)
    if whole or not parts.causes:
        lines += _ways(width, parts)
    lines += _labelled(width, [("Read on", parts.read_on)] if parts.read_on else [])
    return [*lines, *_labelled(width, [("More", parts.command)] if parts.command else [])]


def _prose(width: int, text: str, kind: str = "") -> list[_Line]:
    return [(kind, line) for line in wrapped(text, width)]


def _labelled(width: int, sentences: Sequence[tuple[str, str]]) -> list[_Line]:
    return [line for label, text in sentences for line in _prose(width, f"{label}: {text}")]


def _code(kind: str, lines: Sequence[str]) -> list[_Line]:
    return [(kind, f"    {line}") for line in lines]


def _diff(lines: list[str], *, whole: bool) -> list[_Line]:
    return [(line[:1], f"    {line}".rstrip()) for line in (lines if whole else _near_a_change(lines))]


def _near_a_change(lines: list[str]) -> list[str]:
    """Return the lines that change, and up to two that stay on either side of them."""
    changed = [number for number, line in enumerate(lines) if not line.startswith("  ") and line]
    near = [line for number, line in enumerate(lines) if any(abs(number - other) <= 2 for other in changed)]
    while near and near[-1].startswith("  ") and (near[-1].endswith(":") or near[-1].lstrip().startswith("@")):
        near.pop()  # a line that only begins something
    while near and not near[-1]:
        near.pop()
    return near
