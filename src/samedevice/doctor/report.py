"""A diagnosis as text, for `rich` and as HTML: where, one sentence, the fix, and the details last.

All three render one outline. What was pasted is shown as it is, never as HTML; `code` between backticks is marked only
in sentences of the catalog, and no line ends within it.
"""

import difflib
import html
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from samedevice.catalog import Cause, load
from samedevice.doctor.address import error_page, issue_form, site

if TYPE_CHECKING:
    from rich.text import Text

    from samedevice.doctor.diagnosis import Culprit, Diagnosis


_WIDTH = 88
_SHOWN = 3  # causes whose change text shows; HTML folds
_REASONS = 3  # why we think that it is this cause, strongest first


@dataclass(frozen=True)
class Section:
    """One cause: its heading, the lines to change (each with "- ", "+ " or "  " before it), and labelled sentences."""

    heading: str
    title: str
    change: list[str]
    details: list[tuple[str, str]]


@dataclass(frozen=True)
class Outline:
    """What is shown, in this order: `first` are labelled sentences like `details`, for what cannot wait."""

    place: str
    code: list[str]
    says: str
    first: list[tuple[str, str]]
    sections: list[Section]
    details: list[tuple[str, str]]
    links: list[tuple[str, str]]
    is_of_culprits: bool


def outline(diagnosis: "Diagnosis") -> Outline:
    message, place = diagnosis.message, diagnosis.place
    shown = []
    if place:
        function = "" if place.function.startswith("<") else place.function
        shown = [_shown(place.file), place.line and f"line {place.line}", function and f"in {function}"]
    ask = [("Next", diagnosis.ask)] if diagnosis.ask else []
    # The message says itself what it lacks, or there is none: then nothing else helps as much.
    at_once = message is None or bool(message.ask)
    if message:
        links = [(f"More about {message.id}", error_page(message.id))]
    elif diagnosis.other:
        links = [("Read on", diagnosis.other.link)]
    else:
        links = [("If it is a device error, tell us", issue_form(diagnosis.text))] if diagnosis.text.strip() else []
    return Outline(
        ", ".join(str(part) for part in shown if part),
        _underlined(place.code.split("\n"), diagnosis.culprits) if place else [],
        diagnosis.says,
        ask if at_once else [],
        _of_culprits(diagnosis)
        or [_section(number, likely.cause, likely.because) for number, likely in enumerate(diagnosis.causes)],
        [
            # With the tensor at hand nothing has to be read from the message's order of devices.
            *([("Note", message.note)] if message and message.note and not diagnosis.culprits else []),
            *([("Note", diagnosis.note)] if diagnosis.note else []),
            *([] if at_once else ask),
        ],
        links,
        bool(diagnosis.culprits),
    )


def _shown(file: str) -> str:
    """Name the cell of a notebook as IPython's tracebacks do, such as "Cell In[3]"; any other file keeps its name."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    # A frame's file has forward slashes, on Windows too.
    named = name_of and (name_of(file) or name_of(str(PurePath(file))))
    return " ".join(named) if named else file


def _underlined(code: list[str], culprits: "Sequence[Culprit]") -> list[str]:
    """Underline the first culprit in the failing line, if it stands there once."""
    for culprit in culprits[:1]:
        for number, line in enumerate(code):
            found = [match.span() for match in re.finditer(rf"(?<![\w.]){re.escape(culprit.expression)}(?!\w)", line)]
            if len(found) == 1:
                start, end = found[0]
                return [*code[: number + 1], " " * start + "^" * (end - start), *code[number + 1 :]]
    return code


def _of_culprits(diagnosis: "Diagnosis") -> list[Section]:
    """Make a section of each culprit. They were looked up, so the reader has nothing to check or to choose."""
    sections = []
    for number, culprit in enumerate(diagnosis.culprits[:_SHOWN]):
        cause = load().causes[culprit.case or culprit.cause]
        told = {earlier.case or earlier.cause for earlier in diagnosis.culprits[:number]}
        why = [("Why", cause.why), ("Lesson", f"{site()}{lesson_path(cause)}")]
        details = why if cause.id not in told else []
        heading = f"{'And' if number else 'At fault'}: {culprit.sentence}"
        fixed = {edit for earlier in diagnosis.culprits[:number] for edit in earlier.edits}
        is_fixed = bool(culprit.edits) and fixed >= set(culprit.edits)
        sections.append(Section(heading, cause.title, [] if is_fixed else _edited(culprit), details))
    return sections


def _edited(culprit: "Culprit") -> list[str]:
    """Write the lines to change as a diff, below a comment that says where they are; the fix alone if it is advice."""
    if not culprit.edits:
        return [f"+ {culprit.fix}"]
    lines: list[str] = []
    place = ""
    for edit in culprit.edits:
        function = "" if edit.function.startswith("<") else f", in {edit.function}"
        above = "above " if edit.action == "before" else ""
        here = f"{above}line {edit.line} of {PurePath(_shown(edit.file)).name}{function}:"
        # A statement of several lines has an edit for each of them, and only the first one has a text.
        if here != place and (edit.text or not place):
            place = here
            lines.append(here)
        lines += [f"- {edit.old}"] if edit.action == "replace" else []
        lines += [f"+ {line}" for line in edit.text.split("\n") if line]
    return lines


def _section(number: int, cause: Cause, because: tuple[str, ...]) -> Section:
    here = [("Here", " ".join(because[:_REASONS]))] if because else []
    lesson = ("Lesson", f"{site()}{lesson_path(cause)}")
    details = [*here, ("Why", cause.why), ("Make sure", cause.confirm), lesson]
    return Section(f"{'Or' if number else 'Most likely'}: {cause.title}", cause.title, change(cause), details)


def lesson_path(cause: Cause) -> str:
    """Tell where the site raises and fixes this, such as "notebooks/02-unmoved-batches/#the-batch-is-a-dict"."""
    return f"notebooks/{cause.lesson}/{f'#{cause.failure}' if cause.failure else ''}"


def change(cause: Cause) -> list[str]:
    """From `before` to `after`, line by line: "- " goes, "+ " comes, "  " stays."""
    compared = difflib.ndiff(cause.before.strip("\n").split("\n"), cause.after.strip("\n").split("\n"))
    return [line.rstrip() for line in compared if not line.startswith("?")]


def as_text(diagnosis: "Diagnosis") -> str:
    """Write it in at most 88 columns; code and addresses are never broken."""
    return "".join(f"{line}\n" for _, line in _lines(outline(diagnosis), _WIDTH))


def as_rich(diagnosis: "Diagnosis", width: int = _WIDTH) -> "Text":
    """Write the same in the terminal's own colours."""
    from rich.text import Text

    styles = {"place": "bold", "heading": "bold", "-": "red", "+": "green"}
    lines = [(line, styles.get(kind, "")) for kind, line in _lines(outline(diagnosis), min(width, _WIDTH))]
    return Text("\n").join(Text(line, style) for line, style in lines)


def _lines(parts: Outline, width: int) -> Iterator[tuple[str, str]]:
    """Yield each line of the text, and before it what kind of line it is."""

    def filled(kind: str, text: str, indent: str = "") -> Iterator[tuple[str, str]]:
        unbroken = re.sub("`[^`]+`", lambda code: code[0].replace(" ", "\0"), text)
        lines = textwrap.wrap(
            unbroken,
            width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return ((kind, line.replace("\0", " ")) for line in lines)

    if parts.code:
        yield "place", parts.place
        yield from (("code", f"    {line}") for line in parts.code)
        yield "", ""
    yield from filled("says", parts.says)
    for label, text in parts.first:
        yield from filled("", f"{label}: {text}")
    for number, section in enumerate(parts.sections[:_SHOWN]):
        yield "", ""
        yield from filled("heading", section.heading)
        if section.change:
            yield "", ""
        for line in section.change if not number or parts.is_of_culprits else _changed(section.change):
            yield line[:1], f"    {line}".rstrip()
        yield "", ""
        for label, text in section.details:
            # Of a likely cause after the first, what tells whether it is this one; of a culprit, all.
            if not number or label in ("Here", "Make sure") or "Make sure" not in dict(section.details):
                yield from filled("", f"{label}: {text}", "  ")
    if rest := [section.title for section in parts.sections[_SHOWN:]]:
        yield "", ""
        yield from filled("", f"Less likely: {'; '.join(rest)}.")
    if parts.details or parts.links:
        yield "", ""
    for label, text in parts.details:
        yield from filled("", f"{label}: {text}")
    for label, address in parts.links:
        # Filled with the text, the form's address would be longer than all that is said.
        yield "", f"{label}: {address.partition('&error=')[0]}"


def _changed(lines: list[str]) -> list[str]:
    """Return only the lines that are removed and added, without the indent that they share."""
    lines = [line for line in lines if line.startswith(("-", "+"))]
    indent = min((len(line[2:]) - len(line[2:].lstrip()) for line in lines if line[2:]), default=0)
    return [line[:2] + line[2 + indent :] for line in lines]


def as_html(diagnosis: "Diagnosis") -> str:
    """Write a fragment without styles or scripts, which every Content-Security-Policy allows."""
    parts = outline(diagnosis)
    written = ['<div class="samedevice">']
    if parts.code:
        written.append(f"<p>{html.escape(parts.place)}</p>")
        written.append(f"<pre><code>{html.escape(chr(10).join(parts.code))}</code></pre>")
    # The sentence holds what was read from the paste: its backticks are marked only after everything was escaped.
    written.append(f'<p class="samedevice-says"><strong>{_marked(parts.says)}</strong></p>')
    written += [_labelled(label, text) for label, text in parts.first]
    for number, section in enumerate(parts.sections):
        rows = [f"<dt>{label}</dt><dd>{_marked_or_link(text)}</dd>" for label, text in section.details]
        written.append(
            f"<details{'' if number else ' open'}><summary>{_marked(section.heading)}</summary>\n"
            f"{_change(section.change)}\n<dl>{''.join(rows)}</dl></details>"
        )
    written += [_labelled(label, text) for label, text in parts.details]
    written += [f"<p>{_link(address, label)}</p>" for label, address in parts.links]
    return "\n".join([*written, "</div>"])


def _labelled(label: str, text: str) -> str:
    return f"<p>{label}: {_marked(text)}</p>"


def _change(lines: list[str]) -> str:
    tags = {"-": "del", "+": "ins"}
    shown = []
    for line in lines:
        text, tag = html.escape(line), tags.get(line[:1])
        shown.append(f"<{tag}>{text}</{tag}>" if tag else text)
    return "<pre><code>" + "\n".join(shown) + "</code></pre>"


def _marked(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _marked_or_link(text: str) -> str:
    return _link(text, text) if text.startswith("https://") else _marked(text)


def _link(address: str, label: str) -> str:
    return f'<a href="{html.escape(address)}">{html.escape(label)}</a>'
