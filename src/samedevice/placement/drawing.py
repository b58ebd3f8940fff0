"""Placement pictures from data: names, shapes and devices go in, SVG comes out.

The colours stand twice: as attributes, for a notebook or any other page, and as classes, which the site's style sheet
recolours for its dark scheme. There is neither a `<style>` nor a `style`: the site's Content-Security-Policy forbids
both. There are no ids either, so no two pictures of a page can clash: a screen reader takes the name and description
of an image from its `<title>` and `<desc>`. A device has a label and a shape, never only a colour.
"""

import html
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from samedevice.placement.placements import (
    Thing,
    Verdict,
    devices_of,
    joined,
    printable,
    rows_on,
    sentences,
    shape_text,
    verdict,
)

WIDTH = 360
MARGIN = 12  # around the panels, and between them
_PAD = 8  # around the boxes of a panel, and around the text of a box
_LINE = 19  # from one line of text to the next
NAME, _VERDICT, TEXT = 15, 14, 13  # font sizes, in pixels on a screen that is 360 wide
_MONO, _SANS = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", "system-ui, sans-serif"
# The width of a letter as a part of the font size: the widest of the usual monospaced fonts', and about the others'.
_ADVANCE, _SANS_ADVANCE, _BOLD_ADVANCE = 0.605, 0.56, 0.66
_SCALE = 1.2  # how much larger it is drawn where there is room

_COLOURS = {
    "cpu": "#475569",
    "cuda-0": "#15803d",
    "cuda-1": "#b45309",
    "panel": "#f8fafc",
    "box": "#ffffff",
    "line": "#cbd5e1",
    "ink": "#0f172a",
    "error": "#b91c1c",
}
OUTLINE = ' fill="none" stroke="currentColor"'
_STYLES = {
    "sans": f'font-family="{_SANS}"',
    "bold": 'font-weight="700"',
    "italic": 'font-style="italic"',
    "middle": 'text-anchor="middle"',
    "end": 'text-anchor="end"',
}


def drawn(call: str, things: Sequence[Thing], judged: Verdict | None = None, missing: str | None = None) -> str:
    """Draw the picture as SVG: a panel for each device, and below them the call with its verdict.

    Args:
        call: the code that uses all of the things; "" for none.
        things: in the order in which they are drawn.
        judged: what to say of the call instead of `verdict(things)`.
        missing: a device that this machine lacks.
    """
    judged = judged or verdict(things)
    panels, y = _panels(things, missing)
    body = [element for panel in panels for element in panel.svg]
    if call:
        bar, height = call_bar(call, judged, y + MARGIN)
        body += [_wire(panel, y - MARGIN, y + MARGIN, height) for panel in panels if panel.device]
        body += bar
        y += MARGIN + height + MARGIN
    title = f"{call}: {judged.words}" if call else f"Devices of {joined([thing.name for thing in things])}"
    return svg(printable(title), sentences(call, things, judged), body, y)


def svg(title: str, description: str, body: Sequence[str], height: float) -> str:
    """Write the whole element: what a screen reader says of it, the ground, and the body on it."""
    ground = (1, 1, WIDTH - 2, height - 2, 10)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="placement" viewBox="0 0 {WIDTH} {height:g}" '
            f'width="{_SCALE * WIDTH:g}" height="{_SCALE * height:g}" font-family="{_MONO}" font-size="{TEXT}" '
            'role="img" data-search-exclude="">',
            f"<title>{html.escape(title)}</title>",
            f"<desc>{html.escape(description)}</desc>",
            coloured("panel", rectangle(*ground)),
            coloured("line", rectangle(*ground, OUTLINE)),
            *body,
            "</svg>",
        ]
    )


# The panels of the devices


@dataclass(frozen=True)
class _Panel:
    device: str
    x: float
    width: float
    bottom: float
    svg: list[str]


def _panels(things: Sequence[Thing], missing: str | None) -> tuple[list[_Panel], float]:
    """Draw the panels, two in a row and an odd last one alone, and say where the next row would begin."""
    devices = devices_of((placement for thing in things for placement in thing.placements), nowhere=True)
    panels: list[_Panel] = []
    y = float(MARGIN)
    for row in [devices[index : index + 2] for index in range(0, len(devices), 2)]:
        width = (WIDTH - (len(row) + 1) * MARGIN) / len(row)
        contents = [_boxes(things, device, width, 3 - len(row)) for device in row]
        height = max(bottom for _, bottom in contents)
        for number, (device, (boxes, _)) in enumerate(zip(row, contents, strict=True)):
            x = MARGIN + number * (width + MARGIN)
            frame = _frame(device, width, height, device == missing)
            svg = [f'<g transform="translate({x:g} {y:g})">', *frame, *boxes, "</g>"]
            panels.append(_Panel(device, x, width, y + height, svg))
        y += height + MARGIN
    return panels, y


def _frame(device: str, width: float, height: float, missing: bool) -> list[str]:
    dashes = ' stroke-dasharray="5 4"' if missing or device in ("", "meta") else ""
    label = f"no {device}" if missing else device or "no device"
    frame = (1, 1, width - 2, height - 2, 8)
    return [
        coloured("box", rectangle(*frame)),
        coloured(
            colour_of(device),
            rectangle(*frame, f'{OUTLINE} stroke-width="2"{dashes}'),
            device_sign(device, _PAD + 9, 20),
            text_line(label, _PAD + 25, 25, width - 2 * _PAD - 25, NAME, "sans bold"),
        ),
    ]


def _boxes(things: Sequence[Thing], device: str, width: float, columns: int) -> tuple[list[str], float]:
    """Draw a device's things, each in the column that is the shortest so far, and say where the panel ends."""
    here = [thing for thing in things if any(placement.device == device for placement in thing.placements)]
    columns = min(columns, len(here))
    wide = (width - _PAD * (columns + 1)) / columns
    bottoms = [38.0] * columns
    boxes: list[str] = []
    for thing in here:
        column = bottoms.index(min(bottoms))
        box, height = _box(thing, device, wide)
        boxes += [f'<g transform="translate({_PAD + column * (wide + _PAD):g} {bottoms[column]:g})">', *box, "</g>"]
        bottoms[column] += height + _PAD
    return boxes, max(bottoms)


def _box(thing: Thing, device: str, width: float) -> tuple[list[str], float]:
    """Draw the part of a thing that is on `device`: its name, and a line or two for each tensor."""
    inner, right = width - 2 * _PAD, width - _PAD
    y = 20
    texts = [text_line(thing.name, _PAD, y, inner, NAME, "bold")]
    rows, more = rows_on(thing, device)
    for row in rows:
        name, size = (row.name, TEXT) if row.name else (thing.name, NAME)
        shape = shape_text(row.shape)
        if text_width(shape, TEXT) > inner:
            shape = shape.replace(" ", "")
        if row.name:
            y += _LINE
            texts.append(text_line(name, _PAD, y, inner))
        if shape:
            if text_width(name, size) + text_width(f" {shape}", TEXT) > inner:
                y += _LINE
            texts.append(text_line(shape, right, y, inner, style="end"))
        if row.note:
            y += _LINE - 2
            texts.append(text_line(row.note, _PAD, y, inner, style="sans italic"))
    if more:
        y += _LINE
        texts.append(text_line(f"and {more} more", _PAD, y, inner, style="sans"))
    height = y + 10
    tint = rectangle(0, 0, width, height, 4 if device == "cpu" else 10, ' fill-opacity=".13"')
    return [coloured(colour_of(device), tint), coloured("ink", *texts)], height


# The call


def call_bar(call: str, judged: Verdict, y: float) -> tuple[list[str], float]:
    """Draw the call and its verdict in a frame as wide as all panels together, and return its height too."""
    frame_width, left = WIDTH - 2 * MARGIN, MARGIN + 40
    room = frame_width - 40 - _PAD
    words = textwrap.wrap(judged.words, int(room / (_VERDICT * _BOLD_ADVANCE)))
    height = 37 + _LINE * len(words)
    frame = (MARGIN + 1, y + 1, frame_width - 2, height - 2, 8)
    size = NAME if text_width(call, NAME) <= room else TEXT
    lines = [
        text_line(line, left, y + 45 + _LINE * number, room, _VERDICT, "sans bold") for number, line in enumerate(words)
    ]
    svg = [
        coloured("box", rectangle(*frame)),
        coloured("ink", text_line(call, left, y + 25, room, size)),
        coloured(
            "error" if judged.mark == "no" else "ink",
            rectangle(*frame, f'{OUTLINE} stroke-width="2"'),
            _mark(judged.mark, MARGIN + 20, y + height / 2),
            *lines,
        ),
    ]
    return svg, height


def _wire(panel: _Panel, lowest: float, bar: float, height: float) -> str:
    """Draw a line from a panel to the bar: down from the lowest row, else through the margin beside the panels."""
    if panel.bottom == lowest:
        path = f"M{panel.x + panel.width / 2:g} {panel.bottom:g}V{bar:g}"
    else:
        edge, margin = (MARGIN, MARGIN / 2) if panel.x == MARGIN else (WIDTH - MARGIN, WIDTH - MARGIN / 2)
        path = f"M{edge:g} {panel.bottom - 20:g}H{margin:g}V{bar + height / 2:g}H{edge:g}"
    return coloured(colour_of(panel.device), f'<path d="{path}"{OUTLINE} stroke-width="2"/>')


def _mark(mark: str, x: float, y: float) -> str:
    """Draw a check mark, a cross or a question mark, with its middle at (x, y)."""
    if mark == "maybe":
        return text_line("?", x, y + 9, size=26, style="sans bold middle")
    path = {"yes": "m-9 1l6 6 11-14", "no": "m-8-8l16 16m0-16l-16 16"}[mark]
    return f'<path d="M{x:g} {y:g}{path}"{OUTLINE} stroke-width="3" stroke-linecap="round"/>'


# Signs, colours, text


def device_sign(device: str, x: float, y: float) -> str:
    """Draw a square, a circle, a triangle or a diamond, which tell the device without its colour."""
    match device:
        case "cpu":
            return rectangle(x - 7, y - 7, 14, 14, 2)
        case "cuda:0" | "rank 0":
            return f'<circle cx="{x:g}" cy="{y:g}" r="8"/>'
        case "cuda:1" | "rank 1":
            return f'<path d="M{x:g} {y - 8:g}l9 15h-18z"/>'
        case "" | "meta":
            return rectangle(x - 7, y - 7, 14, 14, 2, f'{OUTLINE} stroke-width="2" stroke-dasharray="3 2"')
        case _:
            return f'<path d="M{x:g} {y - 9:g}l9 9-9 9-9-9z"/>'


def colour_of(device: str) -> str:
    """Return the colour of a device: three of them have colours of their own. A rank has that of its GPU."""
    colours = {"cpu": "cpu", "cuda:0": "cuda-0", "cuda:1": "cuda-1", "rank 0": "cuda-0", "rank 1": "cuda-1"}
    return colours.get(device, "ink")


def coloured(name: str, *elements: str) -> str:
    return f'<g class="{name}" color="{_COLOURS[name]}" fill="currentColor">{"".join(elements)}</g>'


def rectangle(x: float, y: float, width: float, height: float, radius: float, paint: str = "") -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"{paint}/>'


def text_line(text: str, x: float, y: float, room: float = WIDTH, size: int = TEXT, style: str = "") -> str:
    """Draw one line of text; if it is wider than `room`, its middle is cut and its title has the whole."""
    text = printable(text)
    advance = _ADVANCE if "sans" not in style else _BOLD_ADVANCE if "bold" in style else _SANS_ADVANCE
    cut = _cut(text, int(room / (size * advance)))
    whole = "" if cut == text else f"<title>{html.escape(text)}</title>"
    attributes = [f'x="{x:g}" y="{y:g}"'] + [f'font-size="{size}"'] * (size != TEXT)
    attributes += [_STYLES[word] for word in style.split()]
    return f"<text {' '.join(attributes)}>{whole}{html.escape(cut)}</text>\n"  # else two words are one without the SVG


def _cut(text: str, cells: int) -> str:
    shown, kept = text, len(text) - 1
    while _cells(shown) > cells and kept > 1:
        shown = f"{text[: (kept + 1) // 2]}\N{HORIZONTAL ELLIPSIS}{text[-(kept // 2) :]}"
        kept -= 1
    return shown


def text_width(text: str, size: int) -> float:
    return _cells(text) * size * _ADVANCE


def _cells(text: str) -> int:
    """Return the width of a text in letters: a letter of East Asian scripts is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in printable(text))
