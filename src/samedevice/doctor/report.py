"""A diagnosis as text, for `rich` and as HTML: where, one sentence, the fix, and the details last.

All three render one outline. What was pasted is shown as it is, never as HTML; `code` between backticks is marked only
in sentences of the catalog, and no line ends within it.
"""

import difflib
import html
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from samedevice.catalog import Cause, load
from samedevice.doctor.site_addresses import error_page, issue_form
from samedevice.doctor.text.traceback import Frame
from samedevice.doctor.wrapping import wrapped

if TYPE_CHECKING:
    from rich.text import Text

    from samedevice.doctor.diagnosis import Culprit, Diagnosis
    from samedevice.doctor.edits import Edit
    from samedevice.doctor.text.rank import LikelyCause


_WIDTH = 88
_NARROWEST, _WIDEST = 40, 100
_SHOWN = 3  # culprits, and causes whose change the whole text shows; HTML folds
_ABOUT = "About this message"
_NAME = 60  # characters of the longest expression that a sentence repeats
_REASONS = 3  # why we think that it is this cause, strongest first


@dataclass(frozen=True)
class Section:
    """One cause: its heading, the lines to change (each with "- ", "+ " or "  " before it), and labelled sentences.

    `first` is shown at once, `details` only where the reader asks for more.
    """

    heading: str
    title: str
    change: list[str]
    first: list[tuple[str, str]]
    details: list[tuple[str, str]]


@dataclass(frozen=True)
class Outline:
    """What is shown, in this order: `first` are labelled sentences like `details`, for what cannot wait.

    `command` prints the page of the message. `read_on` is a page of other people's, and `on_site` the address and the
    name of one of ours, which only HTML leads to.
    """

    place: str
    code: list[str]
    says: str
    first: list[tuple[str, str]]
    sections: list[Section]
    other_causes: list[str]
    details: list[tuple[str, str]]
    command: str
    read_on: str
    on_site: tuple[str, str] | None
    is_looked_up: bool


def outline(diagnosis: "Diagnosis") -> Outline:
    """Return what is shown of a diagnosis."""
    message, place = diagnosis.message, diagnosis.place
    is_looked_up = any(not culprit.is_read for culprit in diagnosis.culprits)
    ask = [("Next", diagnosis.ask)] if diagnosis.ask else []
    # If there is no message, or the message itself says what it lacks, nothing else helps as much.
    at_once = message is None or bool(message.ask)
    # Nothing has to be read from the order of devices in the message if the tensor is at hand.
    about = message.note if message and not is_looked_up and not diagnosis.other else ""
    return Outline(
        place=_place(place) if place else "",
        code=_underlined(place.code.split("\n"), diagnosis.culprits) if place else [],
        says=diagnosis.says,
        first=ask if at_once else [],
        sections=_of_culprits(diagnosis) if is_looked_up else _of_causes(diagnosis),
        other_causes=[] if is_looked_up else _other_causes(diagnosis.causes),
        details=[
            *([(_ABOUT, about)] if about else []),
            *([("Note", diagnosis.note)] if diagnosis.note else []),
            *([] if at_once else ask),
        ],
        command=command(message.id) if message and not diagnosis.other else "",
        read_on=diagnosis.other.link if diagnosis.other else "",
        on_site=_on_site(diagnosis),
        is_looked_up=is_looked_up,
    )


def _place(place: Frame) -> str:
    """Say where the failing line stands, as far as that is known: "train.py, line 12, in main"."""
    function = "" if place.function.startswith("<") else place.function
    parts = (place.file, place.line and f"line {place.line}", function and f"in {function}")
    return ", ".join(str(part) for part in parts if part)


def command(id_: str) -> str:
    """Return the command that prints the page of a message or of a cause."""
    return f"samedevice explain {id_}"


def _on_site(diagnosis: "Diagnosis") -> tuple[str, str] | None:
    """Return the page of the error, or the form for an unknown one, with its name; None until there is a site."""
    if diagnosis.other:
        return None
    if diagnosis.message:
        address, name = error_page(diagnosis.message.id), f"{diagnosis.message.id} on the site"
    else:
        address, name = issue_form(diagnosis.text), "If it is a device error, tell us"
    return (address, name) if address and diagnosis.text.strip() else None


def _other_causes(causes: "Sequence[LikelyCause]") -> list[str]:
    """Return the titles of the causes after the first for which something was said; all, where nothing was of any."""
    is_known = any(likely.because for likely in causes)
    return [likely.title for likely in causes[1:] if likely.because or not is_known][:_SHOWN]


def _underlined(code: list[str], culprits: "Sequence[Culprit]") -> list[str]:
    """Underline the first culprit in the failing line, if it stands there once."""
    for culprit in culprits[:1]:
        for number, line in enumerate(code):
            found = [match.span() for match in re.finditer(rf"(?<![\w.]){re.escape(culprit.expression)}(?!\w)", line)]
            if len(found) == 1:
                start, end = found[0]
                return [*code[: number + 1], " " * start + "^" * (end - start), *code[number + 1 :]]
    return code


def _of_causes(diagnosis: "Diagnosis") -> list[Section]:
    """Make a section of each likely cause; the first shows the change of the one culprit that was read, if any."""
    message = diagnosis.message
    read = [*diagnosis.culprits, *[None] * len(diagnosis.causes)]
    is_told = any(likely.because for likely in diagnosis.causes)
    # If many causes share a message, nothing but their numbers tells them apart.
    first = "Most often" if message and message.base and not is_told else "Most likely"
    return [_section("Or" if number else first, likely, read[number]) for number, likely in enumerate(diagnosis.causes)]


def _of_culprits(diagnosis: "Diagnosis") -> list[Section]:
    """Make a section of each culprit. They were looked up, so the reader has nothing to check or to choose."""
    sections = []
    for number, culprit in enumerate(diagnosis.culprits[:_SHOWN]):
        cause = load().causes[culprit.case or culprit.cause]
        told = {earlier.case or earlier.cause for earlier in diagnosis.culprits[:number]}
        details = [("Why", cause.why), _lesson(cause)] if cause.id not in told else []
        fixed = {edit for earlier in diagnosis.culprits[:number] for edit in earlier.edits}
        is_fixed = bool(culprit.edits) and fixed >= set(culprit.edits)
        changed = [] if is_fixed else changed_lines(culprit)
        sections.append(Section(f"{'And: ' * bool(number)}{culprit.sentence}", cause.title, changed, [], details))
    return sections


def changed_lines(culprit: "Culprit") -> list[str]:
    """Write the lines to change as a diff, below a comment that says where they are; the fix alone if it is advice."""
    if not culprit.edits:
        return [f"+ {culprit.fix}"]
    lines: list[str] = []
    place = ""
    for edit in culprit.edits:
        here = _place_of(edit, culprit.is_read)
        # A statement of several lines has an edit for each of them, and only the first one has a text.
        if here != place and (edit.text or not place):
            place = here
            lines.append(here)
        old, new = edit.old.split("\n"), edit.text.split("\n")
        if edit.action == "replace" and len(old) == len(new) > 1:  # a statement that was read whole
            lines += [line for pair in zip(old, new, strict=True) for line in _changed_line(*pair)]
            continue
        lines += [f"- {line}" for line in old] if edit.action == "replace" else []
        lines += [f"+ {line}" for line in new if line]
    return lines


def _changed_line(old: str, new: str) -> list[str]:
    return [f"  {old}"] if old == new else [f"- {old}", f"+ {new}"]


def _place_of(edit: "Edit", is_read: bool) -> str:
    """Say which line to change: the reader's own, where a text showed it."""
    function = "" if edit.function.startswith("<") or not edit.function else f", in {edit.function}"
    above = "above " if edit.action == "before" else ""
    package = Frame(edit.file, edit.line, edit.function, "").package
    line = "your line" if is_read and not package else "line"
    if not edit.file:
        return f"{above}{line}:"
    number = f" {edit.line}" if edit.line else ""
    owner = f" of {package}" if package else ""
    return f"{above}{line}{number} of {PurePath(edit.file).name}{owner}{function}:"


def _section(label: str, likely: "LikelyCause", culprit: "Culprit | None") -> Section:
    """Make a section of a likely cause: the change on the reader's own line where it was read, else an example's."""
    cause = likely.cause
    reasons = [("Why we think so", " ".join(likely.because[:_REASONS]))] if likely.because else []
    if culprit is not None:
        changed = changed_lines(culprit)
        if culprit.instead:
            changed += ["or, once and for all, in the __init__ of a module:"]
            changed += [f"+ {line}" for line in culprit.instead.split("\n")]
    else:
        changed = change(cause) if cause.commands else ["for example:", *change(cause)]
    link = [("Read on", cause.link)] if cause.link else []
    first = [*reasons, ("Check", _check(cause, culprit)), *link]
    heading = f"{label}: {cause.title}"
    return Section(heading, cause.title, changed, first, [("Why", cause.why), _lesson(cause)])


def _check(cause: Cause, culprit: "Culprit | None") -> str:
    """Say how to check a cause: with the reader's own name for the tensor, where it was read and fits in a sentence."""
    name = culprit.expression if culprit is not None else ""
    is_short = name and len(name) <= _NAME and not set(name) & set("`\n")
    return cause.confirm_read.replace("{name}", name) if cause.confirm_read and is_short else cause.confirm


def _lesson(cause: Cause) -> tuple[str, str]:
    return "Lesson", f'"{load().lessons[cause.lesson].title}"'


def lesson_path(cause: Cause) -> str:
    """Tell where the site raises and fixes this, such as "notebooks/02-unmoved-batches/#the-batch-is-a-dict"."""
    return f"notebooks/{cause.lesson}/{f'#{cause.failure}' if cause.failure else ''}"


def change(cause: Cause) -> list[str]:
    """Compare `before` and `after` line by line: "- " goes, "+ " comes, "  " stays. Commands stay as they are."""
    if cause.commands:
        return cause.commands.strip("\n").split("\n")
    compared = difflib.ndiff(cause.before.strip("\n").split("\n"), cause.after.strip("\n").split("\n"))
    return [line.rstrip() for line in compared if not line.startswith("?")]


def as_text(diagnosis: "Diagnosis", *, whole: bool = False, width: int = _WIDTH) -> str:
    """Write it in lines of at most `width` columns; code and addresses are never broken.

    Args:
        diagnosis: what `explain` returned.
        whole: also why it happened, notes, and how to fix the other causes.
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


def _lines(parts: Outline, width: int, *, whole: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each line of the text, and before it what kind of line it is."""

    def filled(kind: str, text: str) -> Iterator[tuple[str, str]]:
        return ((kind, line) for line in wrapped(text, width))

    if parts.code:
        yield "place", parts.place
        yield from (("code", f"    {line}") for line in parts.code)
        yield "", ""
    yield from filled("says", parts.says)
    for label, text in parts.first:
        yield from filled("", f"{label}: {text}")
    shown = _SHOWN if whole or parts.is_looked_up else 1
    sentences: list[tuple[str, str]] = parts.first
    for section in parts.sections[:shown]:
        yield "", ""
        yield from filled("heading", section.heading)
        if section.change:
            yield "", ""
        for line in section.change if whole else _near_a_change(section.change):
            yield line[:1], f"    {line}".rstrip()
        sentences = [*section.first, *(section.details if whole else [])]
        if sentences:
            yield "", ""
        for label, text in sentences:
            yield from filled("", f"{label}: {text}")
    rest = [section.title for section in parts.sections[shown:]] if whole else []
    if rest or (parts.sections and not sentences):
        yield "", ""
    for label, text in _ending(parts, rest, whole=whole):
        yield from filled("", f"{label}: {text}")


def _ending(parts: Outline, rest: list[str], *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield the labelled sentences at the end; `rest` are the titles of causes that were too many to show."""
    if parts.other_causes and not whole:
        yield "Other causes", f"{'; '.join(parts.other_causes)}."
    if rest:
        yield "Less likely", f"{'; '.join(rest)}."
    yield from (detail for detail in parts.details if whole or detail[0] != _ABOUT)
    if parts.read_on:
        yield "Read on", parts.read_on
    if parts.command:
        yield "More", parts.command


def _near_a_change(lines: list[str]) -> list[str]:
    """Return the lines that change, and up to two that stay on either side of them."""
    changed = [number for number, line in enumerate(lines) if not line.startswith("  ") and line]
    near = [line for number, line in enumerate(lines) if any(abs(number - other) <= 2 for other in changed)]
    while near and near[-1].startswith("  ") and (near[-1].endswith(":") or near[-1].lstrip().startswith("@")):
        near.pop()  # a line that only begins something
    return near


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
        at_once = parts.is_looked_up or not number
        heading = _marked(section.heading)
        written.append(f"<p><strong>{heading}</strong></p>" if at_once else f"<details><summary>{heading}</summary>")
        if section.change:
            written.append(_change(section.change))
        written += [_labelled(label, text) for label, text in section.first]
        details = "".join(_labelled(label, text) for label, text in section.details)
        if at_once and details:
            written.append(f"<details><summary>Why this happens</summary>{details}</details>")
        elif not at_once:
            written.append(f"{details}</details>")
    written += [_labelled(label, text) for label, text in parts.details]
    if parts.read_on:
        written.append(f"<p>{_link(parts.read_on, 'Read on')}</p>")
    if parts.command:
        written.append(f"<p>More: <code>{html.escape(parts.command)}</code></p>")
    if parts.on_site:
        written.append(f"<p>{_link(*parts.on_site)}</p>")
    return "\n".join([*written, "</div>"])


def _labelled(label: str, text: str) -> str:
    return f"<p>{label}: {_marked_or_link(text)}</p>"


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
