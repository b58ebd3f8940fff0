"""`steps_on_ranks`: a program line by line on several ranks, and after each line what every rank has of each tensor.

A rank is a process, started as `torchrun` starts it. Each runs the whole program and prints after each line what it
has; then the lines of all ranks are put together and shown as `steps` shows them, with a panel for each rank.
"""

import ast
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from lessons.ranks import run_on_ranks
from lessons.steps import Step, Steps
from samedevice.placement.placements import Placement, Thing, Verdict, dotted, joined, shape_text

_Row = tuple[str, str, tuple[int, ...], tuple[int, ...]]  # a thing, a name within it, its shape, that of the part here


def steps_on_ranks(program: str, /, ranks: int = 2, setup: str = "") -> Steps:
    """Run a program line by line in several processes, and draw after each line what every one of them has.

    Args:
        program: Python, a statement a line. After each line, the tensors and modules that have a name are drawn.
        ranks: how many processes, each of which runs all of it.
        setup: what every rank runs before. What it makes is drawn from the first line on.

    Raises:
        TypeError: there is no line to run.
        RuntimeError: a rank failed; the text is that of its error.

    Example:
        >>> steps_on_ranks("one = torch.ones(2)", setup="import torch")
        1. one = torch.ones(2)  one: (2,) on each rank
    """
    lines = [ast.get_source_segment(program, statement) or "" for statement in ast.parse(program).body]
    if not lines:
        raise TypeError('steps_on_ranks takes a program, as in steps_on_ranks("y = x + 1", setup="import torch; ...")')
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "steps.py")
        file.write_text(f"from lessons.steps_on_ranks import record\nrecord({setup!r}, {program!r})\n", "utf-8")
        printed = run_on_ranks([str(file)], ranks)
    told = [[_rows(line) for line in text.splitlines()] for text in printed]
    return Steps([_step(line, there) for line, there in zip(lines, pairwise(zip(*told, strict=True)), strict=True)])


def record(setup: str, program: str) -> None:
    """Run a program line by line in this process, one of the ranks; print before it, and after each line, what it has.

    What the program itself prints is lost.
    """
    from torch import distributed  # here, so that `import lessons` stays light

    names: dict[str, Any] = {"print": lambda *_, **__: None}
    exec(setup, names)
    print(json.dumps(_of_names(names)))
    for statement in ast.parse(program).body:
        exec(compile(ast.Module([statement], []), "<steps>", "exec"), names)
        print(json.dumps(_of_names(names)))
    if distributed.is_initialized():
        distributed.destroy_process_group()


def _of_names(names: dict[str, Any]) -> list[_Row]:
    import torch
    from torch.distributed.tensor import DTensor

    found = []
    for name, value in names.items():
        if isinstance(value, torch.nn.Module):
            tensors = dict(value.named_parameters())
        elif isinstance(value, torch.Tensor):
            tensors = {"": value}
        else:
            continue
        for key, tensor in tensors.items():
            here = tensor.to_local() if isinstance(tensor, DTensor) else tensor
            found.append((name, key, tuple(tensor.shape), tuple(here.shape)))
    return found


def _rows(line: str) -> list[_Row]:
    return [(name, key, tuple(shape), tuple(here)) for name, key, shape, here in json.loads(line)]


def _step(line: str, there: tuple[tuple[list[_Row], ...], tuple[list[_Row], ...]]) -> Step:
    before, after = there
    names = dict.fromkeys(row[0] for rows in after for row in rows)
    things = tuple(
        Thing(name, tuple(_placement(rank, row) for rank, rows in enumerate(after) for row in rows if row[0] == name))
        for name in names
    )
    told = []
    for row in after[0]:
        mine = [_find(rows, row) for rows in after]
        if mine != [_find(rows, row) for rows in before]:
            told.append(_told(dotted(row[0], row[1]), mine))
    return Step(line, things, Verdict("yes", "; ".join(told) or "nothing new"))


def _find(rows: list[_Row], wanted: _Row) -> _Row | None:
    return next((row for row in rows if row[:2] == wanted[:2]), None)


def _placement(rank: int, row: _Row) -> Placement:
    _, key, shape, here = row
    return Placement(f"rank {rank}", key, shape, "" if here == shape else f"here {shape_text(here)}")


def _told(name: str, mine: list[_Row | None]) -> str:
    """Say what the ranks have of a tensor: once if all have the same."""
    parts = [_part(row) if row else "nothing" for row in mine]
    if len(set(parts)) == 1:
        return f"{name}: {parts[0]} on each rank"
    return f"{name}: {joined([f'{part} on rank {rank}' for rank, part in enumerate(parts)])}"


def _part(row: _Row) -> str:
    _, _, shape, here = row
    return shape_text(shape) if here == shape else f"{shape_text(here)} of {shape_text(shape)}"
