"""`gradients`: which parameters have a gradient on each rank, drawn for a notebook as `picture` draws.

Rows are parameters, columns are ranks. DistributedDataParallel averages each row over all ranks, so a row that has a
gradient on some ranks only is what it cannot reduce. The text has the same facts.
"""

from typing import Any

from samedevice.placement.drawing import (
    MARGIN,
    NAME,
    OUTLINE,
    WIDTH,
    call_bar,
    coloured,
    rectangle,
    svg,
    text_line,
    text_width,
)
from samedevice.placement.placements import Verdict, joined, printable

_ROW = 30
_NAMES = 150  # the width that names have at most
_CALL = "all-reduce"


class Gradients:
    """What `gradients` returns: a notebook shows the SVG, anything else the same facts as text."""

    def __init__(self, ranks: list[dict[str, bool]]) -> None:
        self._names = [printable(name) for name in ranks[0]]
        self._rows = list(zip(*(rank.values() for rank in ranks), strict=True))
        self._heads = [f"rank {number}" for number in range(len(ranks))]
        self._verdict = self._judged()

    def _judged(self) -> Verdict:
        """Tell whether every rank has the same gradients; if not, which of them have fewer."""
        torn = [row for row in self._rows if len(set(row)) > 1]
        if not torn:
            return Verdict("yes", "all ranks have the same gradients")
        fewer = joined([head for rank, head in enumerate(self._heads) if not all(row[rank] for row in torn)])
        names = joined([name for name, row in zip(self._names, self._rows, strict=True) if row in torn])
        return Verdict("no", f"no gradient on {fewer}: {names}")

    def __repr__(self) -> str:
        width = max(map(len, self._names))
        lines = [" " * width + "".join(f"  {head:8}" for head in self._heads)]
        for name, row in zip(self._names, self._rows, strict=True):
            lines.append(f"{name:{width}}" + "".join(f"  {_told(there):8}" for there in row))
        return "\n".join([*(line.rstrip() for line in lines), f"{_CALL}: {self._verdict.words}"])

    def _repr_html_(self) -> str:
        names = min(max(text_width(name, NAME) for name in self._names), _NAMES)
        left = MARGIN + names + 10
        wide = (WIDTH - MARGIN - left) / len(self._heads)
        heads = [
            text_line(head, left + (rank + 0.5) * wide, 31, wide, style="middle")
            for rank, head in enumerate(self._heads)
        ]
        parts = [coloured("ink", *heads)]
        y = 42
        for name, row in zip(self._names, self._rows, strict=True):
            parts.append(coloured("ink", text_line(name, MARGIN, y + 20, names, NAME, "bold")))
            for rank, there in enumerate(row):
                box = (left + rank * wide + 2, y + 2, wide - 4, _ROW - 4, 4)
                paint = ' fill-opacity=".13"' if there else f'{OUTLINE} stroke-width="2" stroke-dasharray="5 4"'
                label = text_line(_told(there), left + (rank + 0.5) * wide, y + 19, wide - 8, style="sans middle")
                parts.append(coloured("ink" if there else "error", rectangle(*box, paint), label))
            y += _ROW
        bar, height = call_bar(_CALL, self._verdict, y + MARGIN)
        title = f"{_CALL}: {self._verdict.words}"
        return svg(title, f"{self!r}.".replace("\n", ". "), [*parts, *bar], y + height + 2 * MARGIN)


def gradients(*ranks: Any) -> Gradients:
    """Draw which parameters have a gradient on each rank; as the last line of a cell, it shows.

    Args:
        ranks: a module for each rank, copies of one another, after `backward`. What requires no gradient is left out.

    Example:
        >>> from torch import nn
        >>> first, second = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
        >>> first.weight.sum().backward()
        >>> gradients(first, second)
                rank 0    rank 1
        weight  gradient  none
        all-reduce: no gradient on rank 1: weight

    Raises:
        TypeError: there is no module, or it has no parameter to train.
        ValueError: the modules have parameters of different names.
    """
    found = [
        {name: parameter.grad is not None for name, parameter in rank.named_parameters() if parameter.requires_grad}
        for rank in ranks
    ]
    if not found or not found[0]:
        raise TypeError("gradients takes a module for each rank, with parameters to train: gradients(rank_0, rank_1)")
    if any(list(rank) != list(found[0]) for rank in found):
        raise ValueError("the modules have different parameters: ranks train copies of one module")
    return Gradients(found)


def _told(there: bool) -> str:
    return "gradient" if there else "none"
