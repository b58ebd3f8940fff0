"""A diagnosis as text, for `rich` and as HTML: where, one sentence, the fix, and the details last.

All three render one outline, as docs/assets/doctor.js does in the browser. What was pasted is shown as it is, never as HTML;
`code` between backticks is marked only in sentences of the catalog.
"""

import difflib
import html
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samedevice.catalog import Cause, load
from samedevice.doctor.address import error_page, issue_form, lesson_page

if TYPE_CHECKING:
    from rich.text import Text

    from samedevice.doctor.diagnosis import Diagnosis

_WIDTH = 88


@dataclass(frozen=True)
class Section:
    """One cause: its heading, the lines to change (each with "-", "+" or " " before it), and labelled sentences."""

    heading: str
    change: list[str]
    details: list[tuple[str, str]]


@dataclass(frozen=True)
class Outline:
    place: str
    code: str
    says: str
    sections: list[Section]
    details: list[tuple[str, str]]
    links: list[tuple[str, str]]


def outline(diagnosis: "Diagnosis") -> Outline:
    message, place = diagnosis.message, diagnosis.place
    sections = []
    for number, likely in enumerate(diagnosis.causes):
        details = [("Why", likely.why)]
        details += [("Here", reason) for reason in likely.because]
        details += [("Make sure", likely.cause.confirm)]
        if load().lessons[likely.lesson].ready:
            details += [("Lesson", lesson_page(likely.lesson))]
        heading = f"{'Most likely' if number == 0 else 'Or'}: {likely.title}"
        sections.append(Section(heading, change(likely.cause), details))
    details, links = [], []
    if message and message.note:
        details.append(("Note", message.note))
    if diagnosis.ask:
        details.append(("Next", diagnosis.ask))
    if message:
        links.append((message.id, error_page(message.id)))
    elif diagnosis.other:
        links.append(("Read on", diagnosis.other.link))
    elif diagnosis.text.strip():
        links.append(("If it is a device error, tell us", issue_form(diagnosis.text)))
    return Outline(
        f"{place.file}{f', line {place.line}' if place.line else ''}{f', in {place.function}' if place.function else ''}"
        if place
        else "",
        place.code if place else "",
        diagnosis.says,
        sections,
        details,
        links,
    )


def change(cause: Cause) -> list[str]:
    """From `before` to `after`, line by line: "- " goes, "+ " comes, "  " stays."""
    compared = difflib.ndiff(cause.before.strip("\n").split("\n"), cause.after.strip("\n").split("\n"))
    return [line.rstrip() for line in compared if not line.startswith("?")]


def as_text(diagnosis: "Diagnosis") -> str:
    """At most 88 columns, but for code and addresses, which are never broken."""
    parts = outline(diagnosis)
    written = []
    if parts.place:
        written += [parts.place, f"    {parts.code}", ""]
    written += [_filled(parts.says), ""]
    for section in parts.sections:
        written += [_filled(section.heading), "", *(f"    {line}".rstrip() for line in section.change), ""]
        written += [_detail(label, text) for label, text in section.details]
        written += [""]
    written += [_filled(f"{label}: {text}") for label, text in parts.details]
    written += [f"{label}: {address}" for label, address in parts.links]
    return "\n".join(written).rstrip("\n") + "\n"


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _detail(label: str, text: str) -> str:
    return _filled(f"{label}: {text}", "  ")


def as_rich(diagnosis: "Diagnosis") -> "Text":
    """The same, in the terminal's own colours."""
    from rich.text import Text

    styled = Text()
    for line in as_text(diagnosis).splitlines(keepends=True):
        style = {"    - ": "red", "    + ": "green"}.get(line[:6], "")
        style = style or ("bold" if line.startswith(("Most likely: ", "Or: ")) else "")
        styled.append(line, style)
    return styled


def as_html(diagnosis: "Diagnosis") -> str:
    """A fragment without styles or scripts: a page's Content-Security-Policy need not allow it anything."""
    parts = outline(diagnosis)
    written = ['<div class="samedevice">']
    if parts.place:
        written.append(f"<p>{html.escape(parts.place)}</p><pre><code>{html.escape(parts.code)}</code></pre>")
    # The sentence holds what was read from the paste: its backticks are marked only after everything was escaped.
    written.append(f'<p class="samedevice-says">{_marked(parts.says)}</p>')
    for number, section in enumerate(parts.sections):
        body = [_change(section.change), "<dl>"]
        body += [f"<dt>{html.escape(label)}</dt><dd>{_marked_or_link(text)}</dd>" for label, text in section.details]
        body.append("</dl>")
        opened = " open" if number == 0 else ""
        written.append(f"<details{opened}><summary>{_marked(section.heading)}</summary>{''.join(body)}</details>")
    written += [f"<p>{html.escape(label)}: {_marked(text)}</p>" for label, text in parts.details]
    written += [f"<p>{_link(address, label)}</p>" for label, address in parts.links]
    return "\n".join([*written, "</div>"])


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
