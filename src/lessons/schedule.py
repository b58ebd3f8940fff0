"""`schedule`: what the CPU and the GPU do side by side, moment by moment, drawn for a notebook as `picture` draws.

Rows are the CPU and the GPU, columns are moments. `schedule` draws what the caller says and measures nothing. It judges
one thing: whether the CPU reads or writes memory while a copy of it is still under way. The text has the same
facts.
"""

from collections.abc import Sequence
from itertools import groupby

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
)
from samedevice.placement.placements import Verdict, printable

_ROW = 34
_LEFT = MARGIN + 38  # where the first moment begins, behind "CPU" and "GPU"
_TOUCHES = ("read", "write")
_COPY, _WAIT = "copy", "wait"


class Schedule:
    """What `schedule` returns: a notebook shows the SVG, anything else the same facts as text."""

    def __init__(self, call: str, cpu: Sequence[str], gpu: Sequence[str]) -> None:
        self._call = printable(call)
        self._rows = {"CPU": [printable(word) for word in cpu], "GPU": [printable(word) for word in gpu]}
        self._moments = max(len(cpu), len(gpu))
        self._touch = next(number for number, word in enumerate(cpu) if word in _TOUCHES)
        self._early = self._touch <= max(number for number, word in enumerate(gpu) if word == _COPY)
        order = "before" if self._early else "after"
        self._verdict = Verdict("no" if self._early else "yes", f"the CPU {cpu[self._touch]}s {order} the copy is done")

    def __repr__(self) -> str:
        told = [f"{name}  {', '.join(map(_told, _boxes(words)))}" for name, words in self._rows.items()]
        return "\n".join([*told, f"{self._call}: {self._verdict.words}"])

    def _repr_html_(self) -> str:
        rows, y = self._drawn()
        bar, height = call_bar(self._call, self._verdict, y + MARGIN)
        title = f"{self._call}: {self._verdict.words}"
        return svg(title, f"{self!r}.".replace("\n", ". "), [*rows, *bar], y + height + 2 * MARGIN)

    def _drawn(self) -> tuple[list[str], float]:
        """Return the arrow of time, a box for each thing that the CPU or the GPU does, and where the last row ends."""
        wide = (WIDTH - MARGIN - _LEFT) / self._moments
        arrow = f'<path d="M{_LEFT + 40:g} 26H{WIDTH - MARGIN - 2:g}m-6-5l6 5-6 5"{OUTLINE} stroke-width="1.5"/>'
        parts = [coloured("ink", text_line("time", _LEFT + 2, 31), arrow)]
        y = 42.0
        for (name, words), colour in zip(self._rows.items(), ("cpu", "cuda-0"), strict=True):
            parts.append(coloured("ink", text_line(name, MARGIN, y + 22, size=NAME, style="bold")))
            for word, first, last in _boxes(words):
                box = (_LEFT + first * wide + 2, y + 2, (last - first + 1) * wide - 4, _ROW - 4, 4)
                paint = f'{OUTLINE} stroke-dasharray="3 3"' if word == _WAIT else ' fill-opacity=".16"'
                middle = _LEFT + (first + last + 1) / 2 * wide
                parts.append(coloured(colour, rectangle(*box, paint)))
                parts.append(coloured("ink", text_line(word, middle, y + 22, box[2], style="middle")))
            y += _ROW
        if self._early:
            frame = (_LEFT + self._touch * wide, 40, wide, y - 38, 4)
            parts.append(coloured("error", rectangle(*frame, f'{OUTLINE} stroke-width="2"')))
        return parts, y


def schedule(call: str, *, cpu: Sequence[str], gpu: Sequence[str]) -> Schedule:
    """Draw what the CPU and the GPU do at the same time; as the last line of a cell, it shows.

    Args:
        call: the code that reads or writes.
        cpu: a word for each moment, "" for nothing; the same word in neighbouring moments is one box. "read" or "write"
            is where the CPU uses the memory that is copied, "wait" where it waits.
        gpu: the same for the GPU; "copy" is the transfer.

    Example:
        >>> schedule("x.cpu().mean()", cpu=["x.cpu()", "wait", "wait", "read"], gpu=["busy", "busy", "copy"])
        CPU  x.cpu() at 0, wait at 1-2, read at 3
        GPU  busy at 0-1, copy at 2
        x.cpu().mean(): the CPU reads after the copy is done

    Raises:
        ValueError: the CPU neither reads nor writes, or the GPU copies nothing.
    """
    if not set(_TOUCHES) & set(cpu) or _COPY not in gpu:
        raise ValueError('schedule draws a "read" or a "write" of the CPU and a "copy" of the GPU')
    return Schedule(call, cpu, gpu)


def _boxes(words: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return (word, first moment, last moment) of each thing that is done."""
    runs = [(word, list(run)) for word, run in groupby(range(len(words)), lambda moment: words[moment])]
    return [(word, run[0], run[-1]) for word, run in runs if word]


def _told(box: tuple[str, int, int]) -> str:
    word, first, last = box
    return f"{word} at {first}" if first == last else f"{word} at {first}-{last}"
