"""The frames of a failure, read from their failing lines on, innermost first."""

import ast
import contextlib
from collections.abc import Iterable
from typing import Any

from samedevice.doctor.ahead.meetings import Meetings
from samedevice.doctor.ahead.reading import TooLongError
from samedevice.doctor.ahead.seen import Place, Seen, as_of, one_of
from samedevice.doctor.ahead.statements import Statements
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call

_STEPS_ABOVE = 800  # expressions and statements of a frame that are read above its failing line


def read_ahead(evidence: Evidence, healed: Iterable[Any]) -> Meetings:
    """Read what runs after the failing line, with the culprit where it is wanted.

    Args:
        evidence: what is known of the culprit.
        healed: the tensors that move with it.
    """
    if not evidence.wanted_device or evidence.operand.device in (evidence.wanted_device, "meta"):
        return Meetings("", "", ())
    found = Meetings(evidence.operand.device, evidence.wanted_device, healed)
    reader = Statements(found)
    calls = [call for call in evidence.failure.user_calls if not call.in_library]
    reader.failed = frozenset(call.frame.f_code for call in calls)
    there = Seen(device=evidence.wanted_device)
    node = evidence.operand.argument.node
    if evidence.operand.tensor is None and evidence.operand.call in calls:
        reader.known[id(node)] = there
        found.heal([node])
    for inner in ast.walk(evidence.call.statement or ast.Pass()):
        # The change is written behind this call, whatever it was computed from.
        if isinstance(inner, ast.Call) and text_of(inner) == evidence.expression.text:
            reader.known[id(inner)] = there
            found.heal([inner])
    places = [
        Place(call.frame.f_code, call.globals, call.locals, call.scope) for call in calls if call.scope is not None
    ]
    try:
        for number, (call, place) in enumerate(zip(calls, places, strict=False)):
            result = _rest_of(call, reader, place)
            outer = calls[number + 1].node if number + 1 < len(places) else None
            if isinstance(outer, ast.expr):
                reader.known[id(outer)] = as_of(result, place, outer, places[number + 1])
    except TooLongError:
        pass
    return found


def _rest_of(call: Call, reader: Statements, place: Place) -> Seen:
    """Read a frame from its failing statement on; return the function's result."""
    way = _way_to(call, place.scope)
    _read_what_ran(way, reader, place)
    for depth in range(len(way) - 1, -1, -1):
        block, statement = way[depth]
        at = next(number for number, inner in enumerate(block) if inner is statement)
        is_innermost = depth == len(way) - 1
        if not is_innermost and isinstance(statement, ast.If) and way[depth + 1][0] is statement.body:
            _read_the_other_branch(statement, reader, place)
        is_left = (is_innermost and reader.run_one(statement, place)) or reader.run_body(block[at + 1 :], place)
        if depth and isinstance(loop := way[depth - 1][1], ast.For) and block is loop.body:
            reader.run_for_other_layers(loop, reader.read(loop.iter, place), place)
        if is_left and not any(isinstance(outer, (ast.For, ast.While)) for _, outer in way[:depth]):
            break
    return one_of(place.returned)


def _read_what_ran(way: list[tuple[list[ast.stmt], ast.stmt]], reader: Statements, place: Place) -> None:
    """Read the statements above the failing one for what they say of tensors that are to stay where they are."""
    reader.found.is_past, before = True, dict(place.env)
    with reader.at_most(_STEPS_ABOVE), contextlib.suppress(TooLongError):
        for block, statement in way:
            for above in block:
                if above is statement:
                    break
                reader.run_one(above, place)
    reader.found.is_past, place.env = False, before
    place.returned.clear()


def _read_the_other_branch(statement: ast.If, reader: Statements, place: Place) -> None:
    """Read the branch that did not run this time, with the names as they are."""
    before = dict(place.env)
    reader.run_body(statement.orelse, place)
    place.env = before


def _way_to(call: Call, tree: ast.AST) -> list[tuple[list[ast.stmt], ast.stmt]]:
    """Return the blocks around the failing line, outermost first, each with the statement in it that holds the line."""
    first = next((node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    is_module = call.function == "<module>"
    if not is_module and (first is None or first.name != call.function):
        return []
    block: list[ast.stmt] = tree.body if is_module else first.body  # type: ignore[union-attr, attr-defined]
    way: list[tuple[list[ast.stmt], ast.stmt]] = []
    while True:
        within = [inner for inner in block if inner.lineno <= call.line <= (inner.end_lineno or 0)]
        if not within or isinstance(within[0], (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return way
        statement = within[0]
        way.append((block, statement))
        blocks = [getattr(statement, name, None) for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(statement, "handlers", [])]
        inner = [each for each in blocks if each and each[0].lineno <= call.line <= (each[-1].end_lineno or 0)]
        if not inner:
            return way
        block = inner[0]
