"""The line to change, written on the reader's own line: the code that a traceback shows, with a device in it.

docs/assets/doctor/changes.js does the same in the browser.
"""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from samedevice.catalog import load
from samedevice.doctor.text.candidates import Candidate, is_of_an_lstm
from samedevice.doctor.text.in_its_line import (
    begins_a_statement,
    can_be_rebound,
    is_a_list,
    is_target,
    is_written,
    occurrences,
    uses_a_variable_of,
)
from samedevice.doctor.text.read import Reading
from samedevice.doctor.text.refusing import calls_a_module
from samedevice.doctor.text.traceback import Frame
from samedevice.doctor.text.wanted import named_device, wanted_device
from samedevice.introspect.deciding import is_often_a_number, parts
from samedevice.introspect.lines import Line
from samedevice.introspect.operations import LOSS, is_layer, module_of
from samedevice.introspect.origins import called, decided_by

_LEARNED = re.compile(r"weight|bias|param|embed", re.ASCII)  # the name of what a module learns, which is no buffer


@dataclass(frozen=True)
class LineFix:
    """A change of the reader's own code.

    Attributes:
        frame: the frame whose line it is.
        expression: what is in the wrong place, as the line has it.
        action: "replace", or "before" for a line above.
        text: the new line, or lines.
        because: why it is this expression; "" where only the line was read.
        instead: other lines, for `__init__`, that fix it for good; or "".
    """

    frame: Frame
    expression: str
    action: Literal["replace", "before"]
    text: str
    because: str = ""
    instead: str = ""


def change(candidate: Candidate, among: Sequence[Candidate], reading: Reading) -> LineFix | None:
    """Write the change for a candidate, and with it for those of the same form in its line.

    Its text is "" where nobody knows to which of two GPUs it is to move. It is None where the candidate was cut off.

    Args:
        candidate: what to move.
        among: all candidates of its line.
        reading: the paste.
    """
    if candidate.cause == "in_place_or_copy":
        name = candidate.expression
        return LineFix(candidate.frame, name, "replace", f"{name} = {candidate.line.text}", candidate.because)
    if not candidate.line.is_whole(candidate.node):
        return None
    siblings = [
        each
        for each in among
        if each.kind == candidate.kind
        and each.line is candidate.line
        and (each is candidate or not is_often_a_number(each.node))
    ]
    moves_all = candidate.kind in ("created", "attribute")
    moved = siblings if moves_all else [candidate]
    # From the CPU all go to one device, so that the change is the same whichever it is.
    leading = candidate if reading.is_between_gpus else moved[0]
    device = wanted_device(leading, {each.expression for each in moved}, reading)
    gets_a_value = candidate.kind == "total" or is_target(candidate)
    if not device and (gets_a_value or not is_written(candidate)):
        return LineFix(candidate.frame, candidate.expression, "replace", "", candidate.because)
    if _is_a_pair(candidate):
        moved_pair = f"tuple(state.to({device}) for state in {candidate.expression})"
        change = _replaced(candidate, [(candidate.node, moved_pair)])
        return replace(change, expression=f"{candidate.expression}[0]")
    match candidate.kind:
        case "module":
            return _moved_module(candidate, device, reading)
        case _ if gets_a_value:
            return _total(candidate, device, reading)
        case _ if is_written(candidate):
            return _read_moved(candidate, reading)
        case "created":
            new = [(each.node, _created_on(each.line.text_of(each.node), device)) for each in siblings]
            return _replaced(candidate, new)
        case "attribute" if not is_a_list(candidate):
            moved = [each for each in siblings if not is_written(each) and not is_target(each)]
            new = [(node, f"{each.expression}.to({device})") for each in moved for node in occurrences(each)]
            return _replaced(candidate, new, _buffers(siblings))
    if is_a_list(candidate):
        return _items_moved(candidate, device)
    if candidate.role == "hidden" and len(siblings) > 1:  # an LSTM has two, which are made together
        return _replaced(candidate, [(each.node, _moved(each, device)) for each in siblings])
    if candidate.role == "**":
        name = candidate.expression
        return _replaced(candidate, [(candidate.node, f"{{key: value.to({device}) for key, value in {name}.items()}}")])
    if candidate.kind == "name" and can_be_rebound(candidate):
        is_the_input = candidate.role == "input" and len(among) == 1
        if not uses_a_variable_of(candidate, device, candidate.expression):
            return _moved_above(candidate, device, reading, is_the_input=is_the_input)
    return _replaced(candidate, [(node, _moved(candidate, device)) for node in occurrences(candidate)])


def _is_a_pair(candidate: Candidate) -> bool:
    """Tell whether it is the hidden state and the cell state of an LSTM, passed as one tuple."""
    is_whole = (
        any(node is candidate.node for _, node in candidate.operation.arguments) if candidate.operation else False
    )
    is_named = candidate.kind in ("name", "attribute", "item")
    return candidate.role == "hidden" and is_whole and is_named and is_of_an_lstm(candidate.operation, candidate.line)


def _moved(candidate: Candidate, device: str) -> str:
    """Write an expression that is moved where it stands."""
    node = candidate.node
    match node:
        case ast.Call(func=ast.Attribute(value=moved)) if decided_by(called(node)) == "move":
            return _moved_text(moved, candidate.line, device)
    return _moved_text(node, candidate.line, device)


def _moved_text(node: ast.expr, line: Line, device: str) -> str:
    text = line.text_of(node)
    is_simple = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return f"{text}.to({device})" if is_simple else f"({text}).to({device})"


def _replaced(candidate: Candidate, new: Iterable[tuple[ast.expr, str]], instead: str = "") -> LineFix:
    line = candidate.line
    text = line.text
    pieces = {line.span(node): piece for node, piece in new if line.is_whole(node)}
    outermost = [
        span
        for span in pieces
        if not any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in pieces)
    ]
    for start, end in sorted(outermost, reverse=True):
        text = text[:start] + pieces[start, end] + text[end:]
    return LineFix(candidate.frame, candidate.expression, "replace", text, candidate.because, instead)


def _buffers(siblings: Iterable[Candidate]) -> str:
    """Write the lines that make buffers of plain attributes of `self`; "" for what a module learns.

    A plain attribute was in no checkpoint, so the buffer is in none: old ones load as before.
    """
    names = dict.fromkeys(
        each.node.attr
        for each in siblings
        if isinstance(each.node, ast.Attribute) and each.expression == f"self.{each.node.attr}"
    )
    kept = (name for name in names if not _LEARNED.search(name))
    return "\n".join(f'self.register_buffer("{name}", ..., persistent=False)' for name in kept)


def _created_on(call: str, device: str) -> str:
    """Write a factory's call with `device=`; move what takes none."""
    function = call.partition("(")[0].rpartition(".")[2]
    if load().devices.functions.get(function) == "cpu" or not call.endswith(")"):
        return f"{call}.to({device})"
    inner = call[:-1].rstrip().rstrip(",")
    return f"{inner}device={device})" if inner.endswith("(") else f"{inner}, device={device})"


def _total(candidate: Candidate, device: str, reading: Reading) -> LineFix:
    """Move what the line adds to above it, where its name can be given a new tensor; else move what is added."""
    statement = candidate.operation.node  # type: ignore[union-attr]
    target = statement.target if isinstance(statement, ast.AugAssign) else None
    # `totals["loss"]` is an entry of a dict, `x[0]` may be a part of a tensor, which has no other device.
    key = target.slice if isinstance(target, ast.Subscript) else None
    is_an_entry = isinstance(key, ast.Constant) and isinstance(key.value, str)
    is_bound = uses_a_variable_of(candidate, device)
    if target is candidate.node and (isinstance(target, ast.Name | ast.Attribute) or is_an_entry) and not is_bound:
        name = candidate.expression
        return LineFix(candidate.frame, name, "before", f"{name} = {name}.to({device})", candidate.because)
    return _read_moved(candidate, reading)


def _read_moved(candidate: Candidate, reading: Reading) -> LineFix:
    """Move what the line reads to where it writes: all that are tensors, rather than numbers, in most programs."""
    line = candidate.line
    target = getattr(candidate.operation and candidate.operation.node, "target", candidate.node)
    device = f"{line.text_of(target)}.device"
    arguments = candidate.operation.arguments if candidate.operation is not None else ()
    tensors = [node for role, node in arguments if role not in ("", "other", "value", "weight", "-")]
    numbers = [node for role, node in arguments if role in ("value", "weight", "-")]
    read = [
        node
        for node in candidate.others
        if not any(node is number for number in numbers)
        and any(part.kind not in _STAYS for part in parts(node, line))
        and (any(node is tensor for tensor in tensors) or not _is_a_number(node, line))
    ]
    return _replaced(candidate, [(node, _moved_text(node, line, device)) for node in read])


_STAYS = ("created", "on the CPU", "number on the CPU")


def _is_a_number(node: ast.expr, line: Line) -> bool:
    return all(is_often_a_number(part.node) for part in parts(node, line))


def _items_moved(candidate: Candidate, device: str) -> LineFix:
    """Move each item of a list."""
    name = candidate.expression
    moved = f"[item.to({device}) for item in {name}]"
    if isinstance(candidate.node, ast.Name) and can_be_rebound(candidate):
        return LineFix(candidate.frame, name, "before", f"{name} = {moved}", candidate.because)
    return _replaced(candidate, [(candidate.node, moved)])


def _moved_above(candidate: Candidate, device: str, reading: Reading, *, is_the_input: bool) -> LineFix:
    """Move a tensor above the line that passes it: the input of a layer where the program has it, not in `forward`."""
    name, frame = candidate.expression, candidate.frame
    outer, passed = _passed_from(frame, name, reading) if is_the_input else (frame, name)
    if outer is not frame:
        moved = f"{passed} = {passed}.to({named_device(outer, reading)})"
        return LineFix(outer, passed, "before", moved, candidate.because)
    return LineFix(frame, name, "before", f"{name} = {name}.to({device})", candidate.because)


def _passed_from(frame: Frame, name: str, reading: Reading) -> tuple[Frame, str]:
    """Follow the one argument of `forward` outwards, to the line where the program has it."""
    own = [each for each in reading.frames if each.code and not each.in_library]
    outer = own[: own.index(frame)] if frame in own else []
    while outer and frame.function.rpartition(".")[2] in ("forward", "__call__"):
        given = _arguments_of_a_layer(outer[-1])
        if len(given) != 1 or not isinstance(given[0], ast.Name):
            break
        frame, name = outer.pop(), given[0].id
    return frame, name


def _arguments_of_a_layer(frame: Frame) -> list[ast.expr]:
    """Return what the first call of a module in a frame's line is given without a keyword."""
    line = frame.statement
    for node in ast.walk(line.tree) if line is not None else ():
        if isinstance(node, ast.Call) and is_layer(node.func):
            return list(node.args)
    return []


def _moved_module(candidate: Candidate, device: str, reading: Reading) -> LineFix:
    """Move a module: a loss where it stands, a layer with the model that the outermost frame calls, if it names one."""
    name = candidate.expression
    if candidate.cause == "submodule_created_in_forward":
        layer = f"self.{called(candidate.node).lower()}"  # type: ignore[arg-type]
        new = _replaced(candidate, [(candidate.node, f"{name}.to({device})")])
        return LineFix(new.frame, name, "replace", new.text, candidate.because, f"{layer} = {name}")
    above = LineFix(candidate.frame, name, "before", f"{name}.to({device})", candidate.because)
    moved = [(candidate.node, f"{name}.to({device})")]
    can_be_above = begins_a_statement(candidate.line) and not uses_a_variable_of(candidate, device, name)
    here = above if can_be_above else _replaced(candidate, moved)
    if candidate.cause == "loss_weight_not_moved":
        return here
    own = [each for each in reading.frames if each.code and not each.in_library]
    is_a_part = isinstance(candidate.node, ast.Attribute) and not reading.is_between_gpus
    for frame in own[: own.index(candidate.frame)] if is_a_part and candidate.frame in own else ():
        line = frame.statement
        called_model = _called_model(frame, reading)
        if called_model is not None and line is not None and begins_a_statement(line):
            model, where = called_model
            return LineFix(frame, name, "before", f"{model}.to({where})", candidate.because)
    return here


def _called_model(frame: Frame, reading: Reading) -> tuple[str, str] | None:
    """Return the model that a frame's line calls, and the device to move it to; None where it calls none."""
    line = frame.statement if calls_a_module(frame, reading) else None
    calls = [node for node in ast.walk(line.tree) if isinstance(node, ast.Call)] if line is not None else []
    calls.sort(key=lambda call: LOSS.search(line.text_of(call.func)) is not None)  # type: ignore[union-attr]
    for node in calls:
        function = module_of(node.func)
        if line is not None and isinstance(function, ast.Name | ast.Attribute) and is_layer(function):
            return line.text_of(function), named_device(frame, reading)
    return None
