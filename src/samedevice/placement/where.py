"""`where`: on which device everything is that modules, optimizers, batches and tensors hold.

It looks and runs nothing: see introspect/objects.py. A part of a module that is all on one device is one row.
"""

import ast
import html
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.placement.drawing import drawn
from samedevice.placement.holders import held_by_module, held_by_optimizer, step, stepped
from samedevice.placement.model import Placement, Thing
from samedevice.plurals import counted

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table

_NOT_MOVED = ".to() does not move it"
_HEADINGS = ("name", "device", "holds", "bytes", "note")


@dataclass(frozen=True)
class Row:
    """What one name holds on one device.

    Attributes:
        name: as the program would write it: "model.layers[0]", "optimizer", 'batch["labels"]'.
        device: "cpu", "cuda:0"; "" where there is no tensor.
        holds: "4 parameters, 2 buffers", "state of 4 parameters", or a tensor's shape.
        bytes: of all its tensors; a tensor that two names share counts once.
        note: what to know of it, such as that `.to()` does not move it.
        shape: of one tensor alone; None for several.
    """

    name: str
    device: str
    holds: str
    bytes: int
    note: str = ""
    shape: tuple[int, ...] | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        return self.name, self.device, self.holds, _size(self.bytes) if self.bytes else "", self.note


class Where:
    """What `where` returns: print it, or show it in a notebook or with `rich`. `rows` has the same facts."""

    def __init__(self, rows: list[Row], things: list[Thing]) -> None:
        self.rows, self._things = rows, things

    def _lines(self) -> list[tuple[str, ...]]:
        """The headings and each row, without notes where there are none."""
        columns = len(_HEADINGS) if any(row.note for row in self.rows) else len(_HEADINGS) - 1
        return [line[:columns] for line in (_HEADINGS, *(row.cells for row in self.rows))]

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        written = ["  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join(line.rstrip() for line in written)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        headings, *lines = self._lines()
        head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
        body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
        return f"{drawn('', self._things)}\n<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Table]":
        from rich.table import Table
        from rich.text import Text

        headings, *lines = self._lines()
        table = Table(*headings)
        for row, line in zip(self.rows, lines, strict=True):
            table.add_row(*map(Text, line), style="bold" if row.note else "")
        yield table


def where(*objects: Any) -> Where:
    """Where every parameter, buffer, plain tensor, optimizer state and batch is.

    Args:
        objects: modules, optimizers, tensors, NumPy arrays, and lists, tuples, dicts and partial functions of them.
            They are named as the call has them.

    Returns:
        A table with a row for each name and device. A part of a module that is all on one device is one row. What
        `module.to(device)` does not move has rows of its own that say so: tensors and modules in plain attributes,
        lists and dicts (https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer).

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
    for name, one in zip(names, objects, strict=True):
        found = list(_rows(name, one)) or [Row(name, "", "no tensor", 0)]
        rows += found
        things.append(Thing(name, tuple(_placement(row, name) for row in found)))
    return Where(rows, things)


def _names(call: Call, count: int) -> list[str]:
    """The arguments as the call has them, else what they are called by their number."""
    node = call.node
    if (
        isinstance(node, ast.Call)
        and len(node.args) == count
        and not any(isinstance(a, ast.Starred) for a in node.args)
    ):
        return [text_of(argument) for argument in node.args]
    return [f"object {number}" for number in range(1, count + 1)] if count > 1 else ["object"]


def _rows(name: str, one: Any) -> Iterator[Row]:
    if objects.is_module(one):
        yield from _of_module(name, one)
        yield from _unregistered(name, one)
    elif objects.is_optimizer(one):
        yield from _of_optimizer(name, one)
    elif objects.is_a(one, "numpy", "ndarray"):
        array = sys.modules["numpy"].ndarray  # a subclass may have a shape of its own
        yield Row(name, "cpu", str(array.shape.__get__(one)), int(array.nbytes.__get__(one)), "NumPy array")
    else:
        for path, tensor in objects.inside(one):
            size = objects.shape(tensor)
            yield Row(name + path, objects.device(tensor), _shape(tensor), _bytes([tensor]), shape=size)
        for path, part in objects.items(one):
            if objects.is_module(part) or objects.is_optimizer(part):
                yield from _rows(name + path, part)


def _of_module(name: str, module: Any) -> Iterator[Row]:
    registered = _registered(module)
    devices = dict.fromkeys(objects.device(tensor) for _, tensor in registered)
    if len(devices) == 1:
        yield Row(name, next(iter(devices)), _counted(registered), _bytes(tensor for _, tensor in registered))
        return
    own = objects.attributes(module)
    for where_ in ("_parameters", "_buffers"):
        for key, tensor in own.get(where_, {}).items():
            if tensor is not None:
                kind = "parameter" if where_ == "_parameters" else "buffer"
                yield Row(
                    name + step(module, key), objects.device(tensor), f"{kind} {_shape(tensor)}", _bytes([tensor])
                )
    for key, child in own.get("_modules", {}).items():
        if child is not None:
            yield from _of_module(name + step(module, key), child)


def _registered(module: Any) -> list[tuple[str, Any]]:
    found = {id(tensor): (held.kind, tensor) for tensor, held in held_by_module("", module) if held.moves}
    return list(found.values())


def _unregistered(name: str, module: Any) -> Iterator[Row]:
    """Each plain attribute, list and dict, of the module and those in it, a row for each device."""
    seen = {id(tensor) for _, tensor in _registered(module)}
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for tensor, held in held_by_module(name, module):
        if not held.moves and id(tensor) not in seen:
            seen.add(id(tensor))
            end = [*re.finditer(rf"\.{re.escape(held.name)}(?!\w)", held.path)][-1].end()
            groups.setdefault((held.root + held.path[:end], held.kind, objects.device(tensor)), []).append(tensor)
    for (path, kind, device), tensors in groups.items():
        if "attribute" in kind:
            note = f"{'plain' if kind == 'attribute' else 'class'} attribute: {_NOT_MOVED}"
            yield Row(path, device, _shape(tensors[0]), _bytes(tensors), note, objects.shape(tensors[0]))
        else:
            note = f"{'functools.partial' if kind == 'partial' else f'Python {kind}'}: {_NOT_MOVED}"
            yield Row(path, device, counted(len(tensors), "tensor"), _bytes(tensors), note)


def _of_optimizer(name: str, optimizer: Any) -> Iterator[Row]:
    for device, count in Counter(map(objects.device, stepped(optimizer))).items():
        yield Row(name, device, f"{counted(count, 'parameter')} to step", 0)
    state: dict[tuple[str, str], list[Any]] = {}
    for _, tensor, key in held_by_optimizer(optimizer):
        state.setdefault((key, objects.device(tensor)), []).append(tensor)
    for (key, device), tensors in state.items():
        yield Row(f"{name}.state", device, f"{len(tensors)} {key}", _bytes(tensors))


def _counted(registered: list[tuple[str, Any]]) -> str:
    counts = Counter(kind for kind, _ in registered)
    return ", ".join(counted(counts[kind], kind) for kind in ("parameter", "buffer") if counts[kind])


def _shape(tensor: Any) -> str:
    shape = objects.shape(tensor)
    return "no shape yet" if shape is None else str(shape)


def _bytes(tensors: Any) -> int:
    return sum(objects.bytes_of(tensor) for tensor in tensors)


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def _placement(row: Row, name: str) -> Placement:
    within = row.name.removeprefix(name).removeprefix(".")
    note = row.note.partition(":")[0] or ("" if row.shape is not None else row.holds)
    return Placement(row.device, within, row.shape, note)
