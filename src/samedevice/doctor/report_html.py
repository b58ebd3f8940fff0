"""A diagnosis as HTML, for a notebook: the same outline as the text, with what can wait folded.

What was pasted is shown as it is, never as HTML; `code` between backticks is marked only in sentences of the catalog.
"""

import html
import re
from typing import TYPE_CHECKING

from samedevice.doctor.outline import Outline, Section, outline, to_report
from samedevice.doctor.report import EXAMPLE, TELLS, UPDATE
from samedevice.doctor.text.normalise import escaped
from samedevice.doctor.text.ways import INTRODUCTION

if TYPE_CHECKING:
    from samedevice.doctor.diagnosis import Diagnosis
    from samedevice.doctor.text.whose import Owner


def as_html(diagnosis: "Diagnosis") -> str:
    """Write a fragment without styles or scripts, which every Content-Security-Policy allows."""
    parts = outline(diagnosis)
    written = ['<div class="samedevice">']
    if parts.code:
        written.append(f"<p>{html.escape(parts.place)}</p>")
        written.append(_code(parts.code))
    # The sentence holds what was read from the paste: its backticks are marked only after everything was escaped.
    written.append(f'<p class="samedevice-says"><strong>{_marked(parts.says)}</strong></p>')
    written += [_labelled(label, text) for label, text in parts.first]
    owned = _owned(parts.owner) if parts.owner is not None else []
    written += [] if parts.is_looked_up else owned
    if parts.choice:
        asked = [TELLS, _code([parts.tell])] if parts.tell else ["", ""]
        written += [f"<p><strong>{_marked(parts.choice)}</strong> {asked[0]}</p>", asked[1]]
    for section in parts.sections:
        written += _at_once(section)
    written += owned if parts.is_looked_up else []
    ways = _ways(parts)
    written += ways if parts.causes else []
    written += [line for section in parts.causes for line in _folded(section, section.line)]
    written += [line for section in parts.others for line in _folded(section, section.heading)]
    written += [_labelled(label, text) for label, text in parts.details]
    written += [] if parts.causes else ways
    if parts.read_on:
        written.append(f"<p>{_link(parts.read_on, 'Read on')}</p>")
    if parts.command:
        written.append(f"<p>More: <code>{html.escape(parts.command)}</code></p>")
    if parts.on_site:
        written.append(f"<p>{_link(*parts.on_site)}</p>")
    return escaped("\n".join([*written, "</div>"]))


def _owned(owner: "Owner") -> list[str]:
    """Write whose code it is, what its user can do, and the text to report."""
    tries = "".join(f"<li>{_marked(tried)}</li>" for tried in owner.tries)
    return [
        f"<p><strong>{_marked(owner.says)}</strong></p>",
        *([f"<ol>{tries}</ol>"] if tries else []),
        *([f"<p>{UPDATE}</p>", _code([owner.command])] if owner.command else []),
        f"<p>{_marked(to_report(owner))}</p>",
        _code(owner.report.split("\n")),
    ]


def _at_once(section: Section) -> list[str]:
    details = "".join(_labelled(label, text) for label, text in section.details)
    return [
        f"<p><strong>{_marked(section.heading)}</strong></p>",
        *([_change(section.change)] if section.change else []),
        *map(_step, section.commands),
        *([f"<p>{EXAMPLE}</p>", _change(section.example)] if section.example else []),
        *(_labelled(label, text) for label, text in section.first),
        *([f"<details><summary>Why this happens</summary>{details}</details>"] if details else []),
    ]


def _folded(section: Section, line: str) -> list[str]:
    return [
        f"<details><summary>{_marked(line)}</summary>",
        *([_change(section.change)] if section.change else []),
        *map(_step, section.commands),
        *(_labelled(label, text) for label, text in [*section.first, *section.details]),
        *([f"<p>{EXAMPLE}</p>", _change(section.example)] if section.example else []),
        "</details>",
    ]


def _step(line: str) -> str:
    """Write a command as a block of its own, to be copied alone, and what the next ones are for as a paragraph."""
    sign, _, text = line.partition(" ")
    return f"<p>{html.escape(text)}</p>" if sign == "#" else _code([text])


def _ways(parts: Outline) -> list[str]:
    ways = [f"<dt>{html.escape(way.when)}</dt><dd><code>{html.escape(way.command)}</code></dd>" for way in parts.ways]
    return [f"<p>{INTRODUCTION}:</p>", f"<dl>{''.join(ways)}</dl>"] if ways else []


def _labelled(label: str, text: str) -> str:
    return f"<p>{label}: {_marked_or_link(text)}</p>"


def _code(lines: list[str]) -> str:
    return f"<pre><code>{html.escape(chr(10).join(lines))}</code></pre>"


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
