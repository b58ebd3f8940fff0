"""What is shown of a diagnosis, and in which order; report.py and report_html.py write it out.

One tensor that is known has its change first. Several alternatives have a line that tells which it is, and a change
each. Without any, a text leads to what can tell, and names the likely causes. The catalog's own lines are an example,
and called one: they are never shown as the change of the reader's program.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from samedevice.catalog import Cause, load
from samedevice.doctor.site_addresses import error_page, issue_form
from samedevice.doctor.text.rank import LikelyCause
from samedevice.doctor.text.traceback import Frame
from samedevice.doctor.text.whose import name_of

if TYPE_CHECKING:
    from samedevice.doctor.diagnosis import Culprit, Diagnosis
    from samedevice.doctor.edits import Edit
    from samedevice.doctor.text.ways import Way
    from samedevice.doctor.text.whose import Owner


SHOWN = 3  # culprits that were looked up, and causes
ABOUT = "About this message"
_NAME = 60  # characters of the longest expression that a sentence repeats
_OTHERS = 3  # errors that are named beside the one that is explained
_REASONS = 3  # why we think that it is this cause, strongest first


@dataclass(frozen=True)
class Section:
    """One culprit or one cause: its heading, the lines to change, and labelled sentences.

    `change` are the reader's own lines (each with "- ", "+ " or "  " before it), `commands` what to run, with lines
    that say what for, and `example` the catalog's lines. `line` says the cause in one line where there is no room for
    more. `first` is shown at once, and `details` only where the reader asks for more.
    """

    heading: str
    title: str
    change: list[str]
    first: list[tuple[str, str]]
    details: list[tuple[str, str]]
    example: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    line: str = ""


@dataclass(frozen=True)
class Outline:
    """What is shown, in this order: `first` are labelled sentences like `details`, for what cannot wait.

    `owner` is who keeps the code, where that is not the reader: then what changes it is among `others`.
    `choice` says that the culprits are alternatives, and `tell` is the line that tells. `sections` are shown at once,
    those of `causes` as one line each, and those of `others` by their titles, until the reader asks for more. `command`
    prints the page of the message. `read_on` is a page of other people's, and `on_site` the address and the name of one
    of ours, which only HTML leads to.
    """

    place: str
    code: list[str]
    says: str
    first: list[tuple[str, str]]
    owner: "Owner | None"
    choice: str
    tell: str
    sections: list[Section]
    causes: list[Section]
    others: list[Section]
    ways: "Sequence[Way]"
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
    sections, causes, others = _sections(diagnosis, is_looked_up)
    owner = diagnosis.owner
    if owner is not None and not is_looked_up:
        to_edit = [replace(each, heading=f"To change it in `{owner.name}`: {each.title}") for each in sections]
        sections, causes, others = [], [], [*to_edit, *causes, *others]
    # Nothing has to be read from the order of devices in the message if the tensor is at hand.
    note = message.note if message and not is_looked_up and not diagnosis.other else ""
    about = [(ABOUT, note)] if note else []
    # It says what to make of the argument that the message names, where the reader has nothing better.
    is_about_the_argument = bool(causes) and "argument" in diagnosis.reads
    return Outline(
        place=_place(place) if place else "",
        code=_underlined(place.code.split("\n"), diagnosis) if place else [],
        says=diagnosis.says,
        first=[*(ask if at_once else []), *(about if is_about_the_argument else [])],
        owner=owner,
        choice=choice(diagnosis) if owner is None else "",
        tell=diagnosis.tell if diagnosis.candidates and owner is None else "",
        sections=sections,
        causes=causes,
        others=others,
        ways=diagnosis.ways,
        details=[
            *([] if is_about_the_argument else about),
            *([("Note", diagnosis.note)] if diagnosis.note else []),
            *(
                [("Note", f"The last error in this text is another one: {named(diagnosis.last)}.")]
                if diagnosis.last
                else []
            ),
            *_others(diagnosis),
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


def to_report(owner: "Owner") -> str:
    """Say where to report, above the text to report."""
    where = f"at {owner.where}" if owner.where.startswith("https://") else owner.where
    return f"If the error stays, report it {where}, with this text:"


def _others(diagnosis: "Diagnosis") -> list[tuple[str, str]]:
    """Name the other device errors of a text, the last ones: "SD030 (net.py, line 24, in pick)."."""
    named = [
        f"{each.message.id} ({_place(each.place)})." if each.place else f"{each.message.id}."
        for each in diagnosis.others
    ]
    more = [f"{len(named) - _OTHERS} more."] if len(named) > _OTHERS else []
    return [("Also in this text", each) for each in (*more, *named[-_OTHERS:])]


def command(id_: str) -> str:
    """Return the command that prints the page of a message or of a cause."""
    return f"samedevice explain {id_}"


def choice(diagnosis: "Diagnosis") -> str:
    """Say that one of the candidates is in the wrong place: "One of `pred` and `target` is on the CPU."."""
    if not diagnosis.candidates:
        return ""
    *first, last = (named(culprit.expression) for culprit in diagnosis.candidates)
    on_cpu = all(culprit.device == "cpu" for culprit in diagnosis.candidates)
    return f"One of {', '.join(first)} and {last} is {'on the CPU' if on_cpu else 'on the wrong device'}."


def named(expression: str) -> str:
    """Write a part of the reader's code in a sentence; a backtick in it would end the mark."""
    on_one_line = " ".join(line.strip() for line in expression.split("\n"))
    return f"`{on_one_line}`" if "`" not in on_one_line else on_one_line


def _on_site(diagnosis: "Diagnosis") -> tuple[str, str] | None:
    """Return the page of the error, or the form for an unknown one, with its name; None until there is a site."""
    if diagnosis.other:
        return None
    if diagnosis.message:
        address, name = error_page(diagnosis.message.id), f"{diagnosis.message.id} on the site"
    else:
        address, name = issue_form(diagnosis.text), "If it is a device error, tell us"
    return (address, name) if address and diagnosis.text.strip() else None


def _underlined(code: list[str], diagnosis: "Diagnosis") -> list[str]:
    """Underline the first culprit in the failing line, or each candidate, where it stands there once."""
    culprits = diagnosis.candidates or diagnosis.culprits[:1]
    marks: dict[int, str] = {}
    for culprit in culprits:
        pattern = rf"(?<![\w.]){re.escape(culprit.expression)}(?!\w)"
        found = [(number, list(re.finditer(pattern, line))) for number, line in enumerate(code)]
        for number, (match,) in [(number, matches) for number, matches in found if len(matches) == 1][:1]:
            row = marks.get(number, "").ljust(match.end())
            marks[number] = row[: match.start()] + "^" * len(match[0]) + row[match.end() :]
    return [row for number, line in enumerate(code) for row in (line, marks.get(number)) if row is not None]


_Sections = tuple[list[Section], list[Section], list[Section]]


def _sections(diagnosis: "Diagnosis", is_looked_up: bool) -> _Sections:
    """Return the sections to show at once, the likely causes of a text without a culprit, and the other causes."""
    if is_looked_up:
        return _of_culprits(diagnosis), [], []
    if diagnosis.candidates:
        return _of_candidates(diagnosis)
    return _of_causes(diagnosis)


def _of_culprits(diagnosis: "Diagnosis") -> list[Section]:
    """Make a section of each culprit. They were looked up, so the reader has nothing to check or to choose."""
    sections = []
    for number, culprit in enumerate(diagnosis.culprits[:SHOWN]):
        cause = _cause_of(culprit)
        told = {earlier.case or earlier.cause for earlier in diagnosis.culprits[:number]}
        details = [("Why", cause.why), _lesson(cause)] if cause.id not in told else []
        fixed = {edit for earlier in diagnosis.culprits[:number] for edit in earlier.edits}
        is_fixed = bool(culprit.edits) and fixed >= set(culprit.edits)
        changed = [] if is_fixed else changed_lines(culprit)
        sections.append(Section(f"{'And: ' * bool(number)}{culprit.sentence}", cause.title, changed, [], details))
    return sections


def _of_candidates(diagnosis: "Diagnosis") -> _Sections:
    """Make a section of each change with the candidates that it moves; for later, one of their cause, and of others."""
    sections, why = [], []
    told: set[str] = set()
    for culprits in _by_change(diagnosis.candidates):
        cause, names = _cause_of(culprits[0]), " or ".join(named(culprit.expression) for culprit in culprits)
        beginning, sentences = f"If it is {names}:", [culprit.sentence for culprit in culprits if culprit.sentence]
        sections.append(Section(beginning, cause.title, _changed_or_instead(culprits[0]), [], []))
        reasons = [("Why we think so", " ".join(sentences))] if sentences else []
        details = [*reasons, *([] if cause.id in told else [("Why", cause.why), _lesson(cause)])]
        why.append(Section(f"{beginning} {cause.title}", "", [], [], details))
        told.add(cause.id)
    causes = {culprit.cause for culprit in diagnosis.candidates}
    rest = _with_reasons([likely for likely in diagnosis.causes if likely.id not in causes], diagnosis)
    return sections, [], [*why, *(_section("Or", likely) for likely in rest)]


def _by_change(candidates: Sequence["Culprit"]) -> list[list["Culprit"]]:
    """Put those together that one change moves: a line with two plain attributes has both registered as buffers."""
    groups: dict[object, list[Culprit]] = {}
    for culprit in candidates:
        groups.setdefault((culprit.edits or culprit.fix, culprit.instead), []).append(culprit)
    return list(groups.values())


def _of_causes(diagnosis: "Diagnosis") -> _Sections:
    """Make a section of each likely cause; the first is shown at once if it has own lines or commands to show."""
    if not diagnosis.causes:
        return [], [], []
    label, culprit = how_likely(diagnosis), next(iter(diagnosis.culprits), None)
    first = diagnosis.causes[0] if culprit is None else _likely(culprit, diagnosis)
    rest = _with_reasons([likely for likely in diagnosis.causes if likely.id != first.id], diagnosis)
    # An example of two tensors is no remedy for two others; what is refused otherwise has a remedy of its own.
    message = diagnosis.message
    is_of_any = message is not None and bool(message.base or message.ask) and message.subject != "libraries"
    if culprit is None and not first.cause.commands and is_of_any:
        shown = [_section(label, first, is_example=True), *(_section("Or", likely, is_example=True) for likely in rest)]
        return [], shown[:SHOWN], shown[SHOWN:]
    others = [_section("Or", likely, is_example=culprit is None) for likely in rest]
    return [_section(label, first, culprit, is_example=culprit is None)], [], others


def _likely(culprit: "Culprit", diagnosis: "Diagnosis") -> LikelyCause:
    """Return the cause of a culprit with why we think so, which is at least the culprit itself."""
    cause = _cause_of(culprit)
    same = [likely for likely in diagnosis.causes if likely.cause is cause]
    return same[0] if same else LikelyCause(cause, (culprit.sentence,) if culprit.sentence else ())


def _with_reasons(rest: Sequence[LikelyCause], diagnosis: "Diagnosis") -> list[LikelyCause]:
    """Return the causes for which something was said; all, where nothing was of any."""
    is_known = any(likely.because for likely in diagnosis.causes)
    return [likely for likely in rest if likely.because or not is_known]


def how_likely(diagnosis: "Diagnosis") -> str:
    """Say how sure the first cause is. If many causes share a message, nothing but their numbers tells them apart."""
    is_told = bool(diagnosis.culprits) or any(likely.because for likely in diagnosis.causes)
    return "Most often" if diagnosis.message and diagnosis.message.base and not is_told else "Most likely"


def _cause_of(culprit: "Culprit") -> Cause:
    return load().causes[culprit.case or culprit.cause]


def changed_lines(culprit: "Culprit") -> list[str]:
    """Write the lines to change as a diff, below a comment that says where they are; the fix alone if it is advice."""
    if not culprit.edits:
        return [f"+ {culprit.fix}"]
    lines: list[str] = []
    place, above = "", None
    for edit in culprit.edits:
        here = _place_of(edit, culprit.is_read)
        # A statement of several lines has an edit for each of them, and only the first one has a text.
        is_rest = not edit.text and above is not None and (above.file, above.line + 1) == (edit.file, edit.line)
        above = edit
        if here != place and not is_rest:
            place = here
            lines.append(here)
        old, new = edit.old.split("\n"), edit.text.split("\n")
        if edit.action == "replace" and len(old) == len(new) > 1:  # a statement that was read whole
            lines += [line for pair in zip(old, new, strict=True) for line in _changed_line(*pair)]
            continue
        if old == new[:1]:  # lines come below it
            lines.append(f"  {old[0]}")
            new = new[1:]
        else:
            lines += [f"- {line}" for line in old] if edit.action == "replace" else []
        lines += [f"+ {line}" for line in new if line]
    return lines


def _changed_or_instead(culprit: "Culprit") -> list[str]:
    """Write the lines to change, and those that fix it for good, where there are such."""
    once = ["or, once and for all, in the __init__ of a module:"] if culprit.instead else []
    return [*changed_lines(culprit), *once, *(f"+ {line}" for line in culprit.instead.split("\n") if line)]


def _changed_line(old: str, new: str) -> list[str]:
    return [f"  {old}"] if old == new else [f"- {old}", f"+ {new}"]


def _place_of(edit: "Edit", is_read: bool) -> str:
    """Say which line to change: the reader's own, where a text showed it."""
    function = "" if edit.function.startswith("<") or not edit.function else f", in {edit.function}"
    above = "above " if edit.action == "before" else "" if edit.text else "delete "
    frame = Frame(edit.file, edit.line, edit.function, "")
    package = name_of(frame) if is_read else frame.package
    line = "your line" if is_read and not package else "line"
    if not edit.file:
        return f"{above}{line}:"
    number = f" {edit.line}" if edit.line else ""
    owner = f" of {package}" if package else ""
    file = PurePath(edit.file).name if is_read or package else _from_here(edit.file)
    return f"{above}{line}{number} of {file}{owner}{function}:"


def _from_here(file: str) -> str:
    """Write a path as one types it in the current folder: two files of a project may have the same name."""
    try:
        return PurePath(file).relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):  # it is elsewhere, or is a cell; the folder is gone
        return file


def _section(label: str, likely: LikelyCause, culprit: "Culprit | None" = None, *, is_example: bool = False) -> Section:
    """Make a section of a likely cause, with the change of the reader's own line where it was read, or commands."""
    cause = likely.cause
    reasons = [("Why we think so", " ".join(likely.because[:_REASONS]))] if likely.because else []
    link = [("Read on", cause.link)] if cause.link else []
    own = _changed_or_instead(culprit) if culprit is not None else []
    return Section(
        heading=f"{label}: {cause.title}",
        title=cause.title,
        change=own,
        first=[*(reasons if culprit is None else []), ("Check", _check(cause, culprit)), *link],
        details=[*(reasons if culprit is not None else []), ("Why", cause.why), _lesson(cause)],
        example=change(cause) if is_example and not cause.commands else [],
        commands=[] if own else cause.steps,
        # Why we think so stands in the line too, where nothing of the reader's own is shown.
        line=" ".join([f"{label}: {cause.title}.", *(likely.because[:1] if label != "Or" else []), cause.sign]),
    )


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
    """Compare `before` and `after` line by line: "- " goes, "+ " comes, "  " stays. Commands are as they are shown."""
    if cause.commands:
        return cause.steps
    compared = difflib.ndiff(cause.before.strip("\n").split("\n"), cause.after.strip("\n").split("\n"))
    return [line.rstrip() for line in compared if not line.startswith("?")]
