"""`steps`: a program line by line, and after each line the device of every tensor, drawn of what really ran.

A notebook shows one step at a time: the steps are radio buttons, so the arrow keys go through them, and on paper all of
them stand below each other. Text has the same facts, a line a step.
"""

import ast
import hashlib
import html
import re
from dataclasses import dataclass
from typing import Any

from samedevice.placement.drawing import drawn
from samedevice.placement.picture import as_thing
from samedevice.placement.placements import Placement, Thing, Verdict, devices_of, joined, verdict

_NOBODY = "nobody keeps it"
# A line that moves or copies; what any other line makes is its result.
_COPY = re.compile(r"\.(to|cpu|cuda|clone|contiguous)\([^()]*\)$")
# Where no other style sheet has the class: a notebook. The site's own has it, and leaves this one out.
_STYLE = """\
.steps { max-width: 440px; position: relative }
.steps > input { opacity: 0; pointer-events: none; position: absolute }
.steps > input:not(:checked) + div { display: none }
.steps > input:focus-visible + div pre { outline: 2px solid }
.steps pre { background: none; margin: 0 }
.steps b { background: #fde68a; color: #000 }
.steps label { border: 1px solid; border-radius: 4px; cursor: pointer; display: inline-block; padding: 6px 14px }
@media print { .steps > input:not(:checked) + div { display: block } .steps label { display: none } }
"""


@dataclass(frozen=True)
class Step:
    """A line that ran, the things as they are after it, and what it did."""

    line: str
    things: tuple[Thing, ...]
    verdict: Verdict


class Steps:
    """What `steps` returns: a notebook shows one step at a time, anything else all of them as text."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps

    def __repr__(self) -> str:
        width = max(len(step.line) for step in self._steps)
        return "\n".join(
            f"{number}. {step.line:{width}}  {step.verdict.words}" for number, step in enumerate(self._steps, 1)
        )

    def _repr_html_(self) -> str:
        name = f"steps-{hashlib.sha256(repr(self).encode()).hexdigest()[:8]}"
        shown = "".join(self._shown(name, number) for number in range(len(self._steps)))
        return (
            f'<div class="steps" role="group" aria-label="A program, step by step"><style>{_STYLE}</style>{shown}</div>'
        )

    def _shown(self, name: str, number: int) -> str:
        """Write a step: its button, which no eye sees, and what is shown while it is on."""
        step, last = self._steps[number], len(self._steps) - 1
        told = html.escape(f"Step {number + 1} of {last + 1}: {step.line}", quote=True)
        lines = [html.escape(other.line) for other in self._steps]
        lines[number] = f"<b>{lines[number]}</b>"
        ways = [("Back", number - 1)] * (number > 0) + [("Next", number + 1)] * (number < last)
        labels = " ".join(f'<label for="{name}-{to}">{way}</label>' for way, to in ways)
        on = ' checked=""' if number == 0 else ""
        return (
            f'<input type="radio" name="{name}" id="{name}-{number}" aria-label="{told}"{on}>'
            f"<div><pre>{chr(10).join(lines)}</pre>{drawn(step.line, step.things, step.verdict)}"
            f"<p>{labels} {number + 1} of {last + 1}</p></div>"
        )


def steps(program: str, /, **given: Any) -> Steps:
    """Run a program line by line and draw after each line where every tensor is; as the last line of a cell, it shows.

    The lines really run: what they move is moved. The first line that raises is the last step.

    Args:
        program: Python, a statement a line. What a line makes and does not keep is drawn, too.
        given: what the program uses, by name. Modules and tensors are drawn from the first step on.

    Example:
        >>> import torch
        >>> steps('x.to("meta")\\nx = x.to("meta")', x=torch.ones(3))
        1. x.to("meta")      a copy on meta, which nobody keeps
        2. x = x.to("meta")  x now names another tensor, on meta

    Raises:
        TypeError: there is no line to run.
        SyntaxError: the program is not Python.
    """
    statements = ast.parse(program).body
    if not statements:
        raise TypeError('steps takes a program, as in steps("y = x.to(device)", x=x, device=device)')
    names: dict[str, Any] = dict(given)
    done: list[Step] = []
    for statement in statements:
        line = ast.get_source_segment(program, statement) or ""
        held, before = dict(names), _drawn(names)
        try:
            made = _run(statement, names)
        except RuntimeError as error:
            done.append(_failed(line, statement, before, error))
            break
        others = {name: _kind(value) for name, value in names.items() if name in held and held[name] is not value}
        done.append(_finished(line, before, _drawn(names), others, made, is_copy=_COPY.search(line) is not None))
    return Steps(done)


def _run(statement: ast.stmt, names: dict[str, Any]) -> Any:
    """Run one statement; return the tensor that it made and left to nobody, or None."""
    import torch  # here, so that `import lessons` stays light

    if not isinstance(statement, ast.Expr):
        exec(compile(ast.Module([statement], []), "<steps>", "exec"), names)
        return None
    made = eval(compile(ast.Expression(statement.value), "<steps>", "eval"), names)
    is_kept = any(made is kept for kept in names.values())
    return made if isinstance(made, torch.Tensor) and not is_kept else None


def _drawn(names: dict[str, Any]) -> dict[str, Thing]:
    """Return the things that a step shows: all names but Python's own, modules of Python and what holds no tensor."""
    import torch

    shown = {
        name: as_thing(name, value)
        for name, value in names.items()
        if not name.startswith("__") and isinstance(value, (torch.Tensor, torch.nn.Module, list, tuple, dict))
    }
    return {name: thing for name, thing in shown.items() if any(placement.device for placement in thing.placements)}


def _kind(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        return "tensor"
    return "module" if isinstance(value, torch.nn.Module) else type(value).__name__


def _finished(
    line: str, before: dict[str, Thing], after: dict[str, Thing], others: dict[str, str], made: Any, is_copy: bool
) -> Step:
    """Say what a line changed: what is new, what moved, which names have `others` now, and what it made for nobody."""
    told = []
    for name, thing in after.items():
        now, then = _devices(thing), _devices(before[name]) if name in before else []
        if now == then:
            continue
        if not then:
            told.append(f"{name} is on {joined(now)}")
        elif name in others:
            told.append(f"{name} now names another {others[name]}, on {joined(now)}")
        else:
            told.append(f"{name}: {joined(then)} to {joined(now)}")
    things = list(after.values())
    if made is not None:
        name = "a copy" if is_copy else "a result"
        told.append(f"{name} on {made.device}, which nobody keeps")
        things.append(Thing(name, (Placement(str(made.device), shape=tuple(made.shape), note=_NOBODY),)))
    return Step(line, tuple(things), Verdict("yes", ", ".join(told) or "nothing moved"))


def _failed(line: str, statement: ast.stmt, before: dict[str, Thing], error: RuntimeError) -> Step:
    used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    met = verdict(thing for name, thing in before.items() if name in used)
    words = met.words if met.mark == "no" else str(error).partition("\n")[0]
    return Step(line, tuple(before.values()), Verdict("no", f"fails: {words}"))


def _devices(thing: Thing) -> list[str]:
    return devices_of(thing.placements)
