"""`timeline`: on which device each tensor of a loop is, step by step, drawn for a notebook as `picture` draws.

Rows are names, columns are steps; the first step at which two devices meet is framed. The text has the same facts.
"""

from collections.abc import Sequence
from itertools import groupby, zip_longest
from typing import Any

from samedevice.placement.drawing import (
    MARGIN,
    NAME,
    OUTLINE,
    TEXT,
    WIDTH,
    call_bar,
    colour_of,
    coloured,
    device_sign,
    rectangle,
    svg,
    text_line,
    text_width,
)
from samedevice.placement.placements import Placement, Thing, Verdict, devices_of, printable, verdict

_ROW = 30
_SHOWN = 10  # steps at most, for a sign needs its room: the framed one and those before it
_NAMES = 116  # the width that names have at most


class Timeline:
    """What `timeline` returns: a notebook shows the SVG, anything else the same facts as text."""

    def __init__(self, rows: dict[str, list[Placement | None]]) -> None:
        self._names = [printable(name) for name in rows]
        self._steps = list(zip_longest(*rows.values()))
        judged = [verdict(Thing("", (placement,)) for placement in step if placement) for step in self._steps]
        self._met = next((number for number, one in enumerate(judged) if one.mark != "yes"), None)
        self._call = "each step" if self._met is None else f"step {self._met}"
        self._verdict = Verdict("yes", "one device") if self._met is None else judged[self._met]

    def __repr__(self) -> str:
        width = max(map(len, self._names))
        told = [f"{name:{width}}  {self._told(row)}" for row, name in enumerate(self._names)]
        return "\n".join([*told, f"{self._call}: {self._verdict.words}"])

    def _told(self, row: int) -> str:
        """Return the devices of one name in their order: "cuda:0 in steps 0-2, cpu in step 3"."""
        told = []
        for device, run in groupby(range(len(self._steps)), lambda step: self._device(step, row)):
            numbers = list(run)
            steps = f"step {numbers[0]}" if len(numbers) == 1 else f"steps {numbers[0]}-{numbers[-1]}"
            told.append(f"{device or 'none'} in {steps}")
        return ", ".join(told)

    def _device(self, step: int, row: int) -> str:
        placement = self._steps[step][row]
        return placement.device if placement else ""

    def _repr_html_(self) -> str:
        grid, y = self._grid()
        legend, y = self._legend(y + 24)
        bar, height = call_bar(self._call, self._verdict, y + MARGIN)
        title = f"{self._call}: {self._verdict.words}"
        return svg(title, f"{self!r}.".replace("\n", ". "), [*grid, *legend, *bar], y + height + 2 * MARGIN)

    def _grid(self) -> tuple[list[str], float]:
        """Return a sign for each name at each step, and where the last row ends."""
        end = len(self._steps) if self._met is None else min(self._met + 3, len(self._steps))
        begin = max(0, end - _SHOWN)
        shown = range(begin, min(begin + _SHOWN, len(self._steps)))
        names = min(max(text_width(name, NAME) for name in [*self._names, "step"]), _NAMES)
        left = MARGIN + names + 8
        wide = (WIDTH - MARGIN - left) / len(shown)
        middles = {step: left + (place + 0.5) * wide for place, step in enumerate(shown)}
        numbers = [text_line(str(step), x, 31, style="middle") for step, x in middles.items()]
        parts = [coloured("ink", text_line("step", MARGIN, 31), *numbers)]
        y = 42
        for row, name in enumerate(self._names):
            parts.append(coloured("ink", text_line(name, MARGIN, y + 20, names, NAME, "bold")))
            for step, x in middles.items():
                if device := self._device(step, row):
                    cell = rectangle(x - wide / 2 + 2, y + 1, wide - 4, _ROW - 2, 4, ' fill-opacity=".13"')
                    parts.append(coloured(colour_of(device), cell, device_sign(device, x, y + _ROW / 2)))
            y += _ROW
        if self._met is not None:
            frame = (middles[self._met] - wide / 2, 14, wide, y - 12, 4)
            parts.append(coloured("error", rectangle(*frame, f'{OUTLINE} stroke-width="2"')))
        return parts, y

    def _legend(self, y: float) -> tuple[list[str], float]:
        """Return a legend of signs and devices, and where its last line is."""
        parts, x = [], float(MARGIN)
        for device in devices_of(placement for step in self._steps for placement in step if placement):
            if x + 23 + text_width(device, TEXT) > WIDTH - MARGIN:
                x, y = float(MARGIN), y + 24
            parts.append(coloured(colour_of(device), device_sign(device, x + 9, y - 4), text_line(device, x + 23, y)))
            x += 43 + text_width(device, TEXT)
        return parts, y


def timeline(**steps: Sequence[Any]) -> Timeline:
    """Draw on which device each tensor is at each step of a loop; as the last line of a cell, it shows.

    Args:
        steps: by name, a list with one item a step: a tensor, its device, or None before the tensor exists. Give the
            device of a weight, because a module's `to` moves the tensor itself.

    Example:
        >>> import torch
        >>> meta, cpu = torch.device("meta"), torch.device("cpu")
        >>> timeline(total=[meta, meta, cpu], loss=[meta, meta, meta])
        total  meta in steps 0-1, cpu in step 2
        loss   meta in steps 0-2
        step 2: two devices, cpu and meta

    Raises:
        TypeError: there is no step to draw, or an item is neither a tensor, nor a device, nor None.
    """
    rows = {name: [_placement(item) for item in items] for name, items in steps.items()}
    if not any(rows.values()):
        raise TypeError("timeline takes lists by their names, as in timeline(total=totals, loss=losses)")
    return Timeline(rows)


def _placement(item: Any) -> Placement | None:
    import torch  # here, so that `import lessons` stays light

    if item is None:
        return None
    if isinstance(item, torch.Tensor):
        return Placement(str(item.device), shape=tuple(item.shape))
    if isinstance(item, torch.device):  # "cuda" is the current GPU: a tensor there has its number
        return Placement(str(torch.empty(0, device=item).device))
    raise TypeError(f"timeline takes tensors, devices and None; it got {type(item).__name__!r}")
