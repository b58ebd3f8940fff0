"""A diagnosis as HTML, for a notebook: the same outline as the text, with what can wait folded.

What was pasted is shown as it is, never as HTML; `code` between backticks is marked only in sentences of the catalog.
"""

import html
import re
from typing import TYPE_CHECKING

from samedevice.doctor.outline import Outline, Section, outline
from samedevice.doctor.report import EXAMPLE, TELLS
from samedevice.doctor.text.normalise import escaped
from samedevice.doctor.text.ways import INTRODUCTION

if TYPE_CHECKING:
    from samedevice.doctor.diagnosis import Diagnosis


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
    if parts.choice:
        asked = [TELLS, _code([parts.tell])] if parts.tell else ["", ""]
        written += [f"<p><strong>{_marked(parts.choice)}</strong> {asked[0]}</p>", asked[1]]
    for section in parts.sections:
        written += _at_once(section)
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


def _at_once(section: Section) -> list[str]:
    details = "".join(_labelled(label, text) for label, text in section.details)
    return [
        f"<p><strong>{_marked(section.heading)}</strong></p>",
        *([_change(section.change)] if section.change else []),
        *_example(section),
        *(_labelled(label, text) for label, text in section.first),
        *([f"<details><summary>Why this happens</summary>{details}</details>"] if details else []),
    ]


def _folded(section: Section, line: str) -> list[str]:
    return [
        f"<details><summary>{_marked(line)}</summary>",
        *([_change(section.change)] if section.change else []),
        *(_labelled(label, text) for label, text in [*section.first, *section.details]),
        *_example(section),
        "</details>",
    ]


def _example(section: Section) -> list[str]:
    return [f"<p>{EXAMPLE}</p>", _change(section.example)] if section.example else []


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
