"""`where`: on which device every tensor is that an object holds, as a table and as a picture.

It looks and runs nothing: see walk.py. A part of a module that is all on one device is one row.
"""

import ast
import html
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.placement.drawing import drawn
from samedevice.placement.placements import Placement, Thing, joined
from samedevice.placement.rows import Row, rows_of
from samedevice.placement.walk import Walk, walk

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

_HEADINGS = ("name", "device", "holds", "bytes", "note")


class Where:
    """What `where` returns: print it, or show it in a notebook or with `rich`.

    Attributes:
        rows: the same facts as data.
        left_out: a sentence for each reason why something was not looked into; empty if everything was.
    """

    def __init__(self, rows: list[Row], things: list[Thing], left_out: list[str]) -> None:
        self.rows, self.left_out, self._things = rows, left_out, things

    def _lines(self) -> list[tuple[str, ...]]:
        """Return the headings and each row, without the column of notes if nobody has one."""
        columns = len(_HEADINGS) if any(row.note for row in self.rows) else len(_HEADINGS) - 1
        return [line[:columns] for line in (_HEADINGS, *(row.cells for row in self.rows))]

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        written = ["  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*(line.rstrip() for line in written), *self.left_out])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        headings, *lines = self._lines()
        head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
        body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
        left_out = "".join(f"\n<p>{html.escape(sentence)}</p>" for sentence in self.left_out)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
        return f"{drawn('', self._things)}\n{table}{left_out}"

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        from rich.table import Table
        from rich.text import Text

        headings, *lines = self._lines()
        table = Table(*headings)
        for row, line in zip(self.rows, lines, strict=True):
            table.add_row(*map(Text, line), style="bold" if row.note else "")
        yield table
        yield from map(Text, self.left_out)


def where(*objects: Any) -> Where:
    """Show on which device every tensor is that some objects hold.

    It reads the objects and runs none of your code. It looks into containers, plain objects, dataclasses, functions
    (their defaults and closures), modules and optimizers, however deep they are nested.

    Args:
        objects: anything: a model, a batch, an optimizer, a trainer. They are named as the call has them.

    Returns:
        A table with a row for each name and device. A part of a module that is all on one device is one row, and the
        tensors of a long list are counted. What `module.to(device)` does not move has rows of its own that say so:
        tensors and modules in plain attributes, lists, dicts and objects
        (https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer).
        "no tensor" means that it holds no tensor. What could not be read, such as an iterator, is named below the
        table.

    Raises:
        TypeError: there is nothing to look at.

    Example:
        >>> import torch
        >>> model = torch.nn.Linear(3, 1)
        >>> batch = {"x": torch.ones(16, 3)}
        >>> where(model, batch)
        name        device  holds         bytes
        model       cpu     2 parameters  16 B
        batch["x"]  cpu     (16, 3)       192 B
    """
    if not objects:
        raise TypeError("where() takes what to look at: where(model, optimizer, batch)")
    caller = sys._getframe(1)
    names = _names(Call(caller, caller.f_lasti, caller.f_lineno), len(objects))
    rows: list[Row] = []
    things: list[Thing] = []
    left_out: list[str] = []
    for name, value in zip(names, objects, strict=True):
        found = walk(value)
        rows_here = rows_of(name, found)
        rows += rows_here
        things.append(Thing(name, tuple(_placement(row, name) for row in rows_here)))
        left_out += _left_out(name, found)
    return Where(rows, things, left_out)


def _names(call: Call, count: int) -> list[str]:
    """Return the arguments as the call has them, or else number them."""
    node = call.node
    if (
        isinstance(node, ast.Call)
        and len(node.args) == count
        and not any(isinstance(a, ast.Starred) for a in node.args)
    ):
        return [text_of(argument) for argument in node.args]
    return [f"object {number}" for number in range(1, count + 1)] if count > 1 else ["object"]


def _left_out(name: str, found: Walk) -> Iterator[str]:
    """Yield a sentence for each reason why the walk did not look into something."""
    reasons: dict[str, list[str]] = {}
    for place, reason in found.unread:
        reasons.setdefault(reason, []).append(name + place.path)
    for reason, paths in reasons.items():
        named = paths if len(paths) <= 3 else [*paths[:2], f"{len(paths) - 2} more"]
        yield f"where did not look into {joined(named)}, because {reason}."
    if found.stopped_at is not None:
        yield f"where stopped after {found.stopped_at:,} objects in {name}, so there may be more tensors."


def _placement(row: Row, name: str) -> Placement:
    within = row.name.removeprefix(name).removeprefix(".")
    note = row.note.partition(":")[0] or ("" if row.shape is not None else row.holds)
    return Placement(row.device, within, row.shape, note)
