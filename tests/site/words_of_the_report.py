"""The words of the report in the order of the page, and those that the page shows: they are the same."""

import re

from samedevice.doctor.outline import outline
from samedevice.doctor.report import EXAMPLE, TELLS
from samedevice.doctor.text.ways import INTRODUCTION

PIECES = "p:not(dd p), h2, h3, summary, dt, .diagnosis__code, .command pre, :is(.change, .example) code > *"
LESSON = "Run it in its lesson"
INSTALL = r'^(?:Once, where your program runs|%?pip install "samedevice @ git\+[^"]+" ?)'
ONCE = "or, once and for all, in the __init__ of a module:"


def words_shown(result):
    """Return the pieces of text that the page shows, folded ones too; not how to install the package, which it adds."""
    pieces = [re.sub(INSTALL, "", _plain(piece)) for piece in result.locator(PIECES).all_text_contents()]
    return [re.sub(r" ?Run it in lesson \d+", LESSON, piece) for piece in pieces if piece]


def words_of(diagnosis):
    """Return what is said in Python, in the order of the page."""
    parts, culprits = outline(diagnosis), diagnosis.culprits
    failing = [parts.place, " ".join(line for line in parts.code if set(line) - set(" ^"))] if parts.code else []
    first, details = dict(parts.first), dict(parts.details)
    note = labelled({**first, **details}, "About this message")
    section = next(iter(parts.sections), None)
    words = [parts.choice or (section.heading if section else ""), parts.says, *labelled(first, "Next")]
    if len(culprits) != 1:
        words += failing
    if parts.choice:
        # One of those that a change moves.
        firsts = {(each.edits or each.fix, each.instead): each for each in reversed(culprits)}
        changed = [_changed(*each) for each in zip(parts.sections, list(firsts.values())[::-1], strict=True)]
        words += [TELLS, parts.tell] if parts.tell else []
        words += [word for each in changed for word in each]
        why, others = parts.others[: len(changed)], parts.others[len(changed) :]
        reasons = [word for each in why for word in [each.heading, *_why(each), *_lesson(each)]]
        words += ["Why this happens", *reasons, *note]
    elif section:
        words += _changed(section, *culprits)[1:] + labelled(dict(section.first), "Check")
        words += ["Why this happens", *(failing if culprits else []), *_why(section), *note]
        others = parts.others
    else:
        words += labelled(first, "About this message") + _ways(parts, f"{INTRODUCTION}:")
        words += [word for each in parts.causes for word in [each.line, *_in_full(each)]]
        words += ["About this message", details["About this message"]] if "About this message" in details else []
        others = []
    others = others[:3]
    words += [f"Other causes ({len(others)})"] * bool(others)
    words += [word for each in others for word in [each.heading, *_in_full(each)]]
    words += labelled(details, "Next")
    words += [f"{label}: {text}" for label, text in parts.details if label in ("Note", "Also in this text")]
    words += [] if parts.causes else _ways(parts, INTRODUCTION)
    words += [f"More about {diagnosis.message.id}{LESSON if section and not parts.choice else ''}"]
    return [word for word in map(_plain, words) if word]


def labelled(said, *labels):
    """Return what is said below labels; "Why" needs none, since the fold that it is in says so."""
    return [said[label] if label == "Why" else f"{label}: {said[label]}" for label in labels if label in said]


def _changed(section, culprit=None):
    """Return the heading and the lines; above which line of the reader's a new one goes, the page shows as well."""
    if section.example:
        return [section.heading, EXAMPLE, *section.example]
    if culprit is None:
        return [section.heading, *(line.partition(" ")[2] for line in section.commands)]
    own = [f"  {line}" for edit in culprit.edits if edit.action == "before" for line in edit.old.split("\n")]
    at = section.change.index(ONCE) if ONCE in section.change else len(section.change)
    return [section.heading, *section.change[:at], *own, *section.change[at:]]


def _why(section):
    return labelled(dict([*section.first, *section.details]), "Why", "Why we think so", "Read on")


def _lesson(section):
    """Return what leads to the lesson; a cause that was told of another candidate has none again."""
    return [LESSON] if "Why" in dict(section.details) else []


def _in_full(section):
    lines = _changed(section)[1:]
    said = [*labelled(dict(section.first), "Check"), *_why(section), LESSON]
    return [*said, *lines] if section.example else [*lines, *said]


def _ways(parts, introduction):
    return [introduction, *(word for way in parts.ways for word in (way.when, way.command))] if parts.ways else []


def _plain(text):
    return re.sub(r"\s+", " ", text.replace("`", "")).strip()
