"""The answer to a paste: its causes in order, and what is named: one tensor, or two to four of which it is one.

docs/assets/doctor/answer.js does the same in the browser.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from samedevice.catalog import load
from samedevice.doctor.text.by_cause import changes_of_cause
from samedevice.doctor.text.candidates import LIKELY, MOST, Candidate, candidates
from samedevice.doctor.text.changes import LineFix, change
from samedevice.doctor.text.elsewhere import created, discarded_moves, passed_to_a_library
from samedevice.doctor.text.in_its_line import can_be_asked
from samedevice.doctor.text.rank import LikelyCause, rank
from samedevice.doctor.text.read import CPU, Reading
from samedevice.doctor.text.traceback import Frame
from samedevice.doctor.text.whose import OF_OPERATIONS
from samedevice.introspect.deciding import is_often_a_number
from samedevice.introspect.operations import operations

# What a form tells. A name of which the line tells nothing has another cause.
_OF_A_FORM = (
    "unregistered_tensor_attribute",
    "model_not_moved",
    "loss_weight_not_moved",
    "submodule_created_in_forward",
    "library_bug",
    "in_place_or_copy",
    "metric_or_accumulator_state",
    "hidden_state_not_moved",
)
# A line of a paste that may be code, without the signs that quote it.
_CODE = re.compile(
    r"^(?:>{1,3} ?|`{1,3}|-{1,8}> ?\d{1,6} |\[\d{1,6}\] )?"
    r"(?P<code>(?:[\w.\[\], '\"]{1,80} ?[-+*/@]?= ?|return |for .{1,80} in )[^=`][^`]{2,300}|[\w.]{1,80}\([^`]{1,300}\)"
    r"|\[[^`]{1,300}\])(?:`|$)",
    re.ASCII,
)
_LINES = 20  # that may be code, of a paste without a traceback: the last ones
_OF_PROSE = 0.95
_OF_A_LIBRARY, _IN_A_LIBRARY = 5.5, 4.0  # where two tensors met in a library's own line; in what that line calls
_OF_A_LAYER = re.compile(r"weight|bias|running_mean|running_var|mat[12]|input|index|indices|hx|cx|hidden", re.ASCII)


@dataclass(frozen=True)
class Named:
    """What is named.

    Attributes:
        cause: the id of the cause that it would be.
        change: what moves it.
        is_module: whether it is a module.
        may_be_a_number: whether it is called as what is often a number, or may have begun as one.
        can_be_asked: whether a line above the failing one can print its device.
    """

    cause: str
    change: LineFix
    is_module: bool = False
    may_be_a_number: bool = False
    can_be_asked: bool = True


def answer(reading: Reading) -> tuple[tuple[LikelyCause, ...], tuple[Named, ...]]:
    """Return the causes, the most likely first, and what is named.

    Args:
        reading: the paste.

    Returns:
        The causes that the message can have, and up to four that are named, in the order of their causes: if one is
        named, nothing else is left, and of several any can be it.
    """
    found, evidence = _candidates(reading)
    thrown_away = discarded_moves(reading)
    causes = rank(reading, [*evidence, *thrown_away])
    first = causes[0] if causes else None
    if first is not None and first.id == "in_place_or_copy" and thrown_away:
        found = thrown_away[:1]
    elif reading.library_frame is not None:
        is_own = [not each.frame.package for each in found]
        found = [each for each, own in zip(found, is_own, strict=True) if own or _is_of_a_library(each)]
    found = [_with_a_cause(each, causes) for each in found]
    could_be = found[:1] if all(each.is_known for each in found) else found  # a change moves all that are known
    changes = [(each, change(each, found, reading)) for each in could_be] if len(could_be) <= MOST else []
    named = [_named(each, written) for each, written in changes if written is not None]
    # Of what was cut off, nobody knows whether it is the one.
    if not named or len(named) < len(could_be):
        return causes, _of_cause(causes, reading)
    ids = [cause.cause.id for cause in causes] + [cause.id for cause in causes]
    numbers = {each.expression for each in found if is_often_a_number(each.node)}
    in_order = sorted(
        named,
        key=lambda each: (each.change.expression in numbers, ids.index(each.cause) if each.cause in ids else len(ids)),
    )
    is_certain = len(in_order) == 1
    return _beginning_with(in_order[0].cause, causes, found) if is_certain else causes, tuple(in_order)


def _named(candidate: Candidate, written: LineFix) -> Named:
    may_be_a_number = candidate.kind == "total" or is_often_a_number(candidate.node)
    return Named(candidate.cause, written, candidate.kind == "module", may_be_a_number, can_be_asked(candidate))


def _candidates(reading: Reading) -> tuple[list[Candidate], list[Candidate]]:
    """Return what may be named, and all the reasons to think of a cause."""
    if not any(frame.code for frame in reading.frames):
        return _of_prose(reading)
    frame = reading.library_frame
    if frame is not None:
        if passed := passed_to_a_library(reading):
            return passed, passed
        found = [_of_a_library(each, frame) for each in candidates(reading, frame)]
        is_told = any(each.cause == "library_bug" for each in found)
        return found, found if is_told else [*found, *_library_alone(frame, reading)]
    if reading.place is None or reading.place.in_library:
        return [], []
    found = candidates(reading)
    return found, found or created(reading, reading.place)


def _is_of_a_library(candidate: Candidate) -> bool:
    """Tell whether a library's own line creates it on the CPU."""
    return candidate.cause == "library_bug" and candidate.is_known


def _of_a_library(candidate: Candidate, frame: Frame) -> Candidate:
    """Blame the library for what its own line creates or keeps; what it was given may be the user's."""
    if candidate.cause in ("tensor_created_in_forward_without_device", "unregistered_tensor_attribute"):
        because = f"The line that failed is {frame.package}'s own, and so is `{candidate.expression}`."
        return replace(candidate, cause="library_bug", because=because)
    return replace(candidate, because="")


def _library_alone(frame: Frame, reading: Reading) -> list[Candidate]:
    """Blame a library where two tensors met in its own line, and the message names neither."""
    line = frame.statement
    argument = reading.reads.get("argument", "")
    is_mixed = reading.reads.get("between") == CPU and not _OF_A_LAYER.fullmatch(argument)
    if line is None or not line.tree.body or not is_mixed or frame.package in OF_OPERATIONS:
        return []
    is_an_operator = any(operation.kind in ("operator", "function") for operation in operations(line))
    points = _OF_A_LIBRARY if is_an_operator else _IN_A_LIBRARY
    because = f"The line that failed is {frame.package}'s own."
    whole = ast.Name("")  # no part of the line
    return [Candidate(frame, line, whole, "result", cause="library_bug", points=points, because=because)]


def _of_prose(reading: Reading) -> tuple[list[Candidate], list[Candidate]]:
    """Read the lines of code that stand in a paste without a traceback; where two could be it, neither is named."""
    lines: list[list[Candidate]] = []
    evidence: list[Candidate] = []
    for frame in code_lines(reading)[-_LINES:]:
        here = candidates(reading, frame)
        made = [] if here else created(reading, frame)
        if (here or made) and not _is_moved_later((here or made)[0], reading):
            lines.append(here)
            evidence += [each for each in here or made if each.points >= LIKELY]
    lines = [here for here in lines if here]
    told = [replace(each, points=each.points * _OF_PROSE) for each in evidence]
    return lines[0] if len(lines) == 1 else [], told


def code_lines(reading: Reading) -> list[Frame]:
    """Return the lines of a paste without a traceback that may be code, as frames without a file."""
    found = [match["code"].rstrip(".;, ") for text in reading.trace.split("\n") if (match := _CODE.match(text))]
    return [Frame("", 0, "", code) for code in dict.fromkeys(found)]


def _is_moved_later(candidate: Candidate, reading: Reading) -> bool:
    """Tell whether a line creates a tensor that another line of the paste moves."""
    names = re.findall(r"^(\w+) ?=", candidate.line.text, re.ASCII)
    return any(f"{name}{move}" in reading.trace for name in names for move in (".to(", ".cuda("))


def _with_a_cause(candidate: Candidate, causes: Sequence[LikelyCause]) -> Candidate:
    """Give a candidate whose form does not tell its cause the most likely one that a name can have."""
    if candidate.cause:
        return candidate
    likely = [cause.cause.id for cause in causes if cause.id not in _OF_A_FORM]
    first = likely[0] if likely else causes[0].id if causes else "input_not_moved"
    return replace(candidate, cause=first)


def _of_cause(causes: Sequence[LikelyCause], reading: Reading) -> tuple[Named, ...]:
    """Return the changes that the most likely cause tells by itself."""
    if not causes:
        return ()
    first = causes[0]
    own = [frame for frame in reading.frames if frame.code and not frame.in_library]
    for frame in own[::-1] or code_lines(reading)[-_LINES:]:
        changes = changes_of_cause(first.cause.id, frame, reading)
        if not changes and first.case:
            changes = changes_of_cause(first.id, frame, reading)
        if changes:
            return tuple(Named(first.cause.id, each) for each in changes) if len(changes) <= MOST else ()
    return ()


def _beginning_with(cause: str, causes: tuple[LikelyCause, ...], found: Sequence[Candidate]) -> tuple[LikelyCause, ...]:
    """Put the cause of what is named before the others."""
    first = next((each for each in causes if cause in (each.cause.id, each.id)), None)
    if first is None:
        because = tuple(each.because for each in found if each.cause == cause and each.because)
        first = LikelyCause(load().causes[cause], because)
    return (first, *(each for each in causes if each is not first and each.id != first.id))
