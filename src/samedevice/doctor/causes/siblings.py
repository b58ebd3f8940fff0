"""Tensors that would fail next for the same reason: `y` beside `x`, `std` beside `mean`, `v_cache` beside `k_cache`.

They are read in the function of the culprit, at the failing line or after it, and have the same origin as the culprit:
the same statement gave both, both were created in one function, both are attributes of one object, or both are items of
one container.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.gathering import gather
from samedevice.doctor.culprits.operands import Operand
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.origins import decided_by
from samedevice.introspect.values import Argument, value

_SETTLED = ("move", "values")  # after one of these the tensor is wanted where it is, or is moved already
# PyTorch wants the lengths of packed sequences on the CPU.
_LENGTHS = re.compile(r"len(?:gth)?s?\b", re.IGNORECASE)


def siblings(evidence: Evidence) -> Iterator[Evidence]:
    """Gather what is known of each tensor that would fail next for the same reason."""
    call = evidence.call
    if evidence.operand.tensor is None or call.scope is None or call.in_library:
        return
    names = {evidence.expression.text}
    for node in _read_after(call.scope, call.line):
        name = text_of(node)
        if name in names or not _is_alike(node, evidence) or _is_used_here(name, evidence):
            continue
        names.add(name)
        tensor = value(node, call)
        is_wrong = objects.is_tensor(tensor) and objects.device(tensor) == evidence.operand.device
        if is_wrong and tensor is not evidence.operand.tensor and objects.shape(tensor) != ():
            operand = Operand(tensor, objects.device(tensor), call, Argument(node, tensor))
            evidence.failure.want(tensor)
            found = gather(operand, [operand, *evidence.other_operands], evidence.failure, evidence.likely_causes)
            if _has_the_same_origin(found, evidence):
                yield replace(found, taken_in=found.taken_in or _taken_in(name, evidence))


def _taken_in(name: str, evidence: Evidence) -> ast.stmt | None:
    """Return the first statement above the failing one that takes a part or a copy of an attribute or an item."""
    if evidence.taken_in is None or evidence.call.scope is None:
        return None
    above = [node for node in ast.walk(evidence.call.scope) if isinstance(node, ast.Assign)]
    above = [node for node in above if node.lineno < evidence.call.line and _is_in(name, node.value)]
    return min(above, key=lambda node: node.lineno, default=None)


def _is_in(name: str, node: ast.AST) -> bool:
    return any(_is_named(inner, name) for inner in ast.walk(node))


def _read_after(scope: ast.AST, line: int) -> list[ast.expr]:
    """Return the names and items that are read at a line or below it, and all attributes, but none that moves."""
    nodes = [node for node in ast.walk(scope) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    settled = {text_of(node.value) for node in attributes if decided_by(node.attr) in _SETTLED}
    return [
        node
        for node in nodes
        if isinstance(node.ctx, ast.Load)
        and (isinstance(node, ast.Attribute) or (node.end_lineno or 0) >= line)
        and text_of(node) not in settled
        and not _LENGTHS.search(text_of(node))
    ]


def _is_used_here(name: str, evidence: Evidence) -> bool:
    """Tell whether a tensor meets others that are, like itself, not where the culprit is wanted: then it stays.

    `rows[order]` and `rows + order` are such, with `rows` on the CPU; of what is not known yet, nothing is said.
    """
    call = evidence.call
    for node in ast.walk(call.scope) if call.scope is not None else ():
        match node:
            case ast.Subscript(value=base, slice=index, ctx=ast.Load()):
                parts = [base, index]
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case _:
                continue
        mine = [part for part in parts if _is_in(name, part)]
        values = [value(part, call) for part in parts if part not in mine]
        culprit = evidence.operand.tensor  # which moves too
        others = [t for t in values if objects.is_tensor(t) and objects.shape(t) != () and t is not culprit]
        if mine and others and all(objects.device(other) == evidence.operand.device for other in others):
            return True
    return False


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and text_of(node) == name


def _is_alike(node: ast.expr, evidence: Evidence) -> bool:
    """Tell whether an expression is of the culprit's form: a name, its object's attribute, its container's item."""
    match node, evidence.expression.node:
        case ast.Name(), ast.Name():
            return True
        case (ast.Attribute(value=base), ast.Attribute(value=other)) | (
            ast.Subscript(value=base, slice=ast.Constant()),
            ast.Subscript(value=other, slice=ast.Constant()),
        ):
            return text_of(base) == text_of(other)
    return False


def _has_the_same_origin(found: Evidence, evidence: Evidence) -> bool:
    """Tell whether what gave the one gave the other, or gave it in the same way."""
    if not isinstance(evidence.expression.node, ast.Name):
        return (found.holder is None) == (evidence.holder is None)
    if found.origin.statement is not None and found.origin.statement is evidence.origin.statement:
        return True
    if evidence.origin.kind == "argument" and found.origin.kind == "argument":
        return found.origin_call is evidence.origin_call
    return found.origin.kind == evidence.origin.kind == "created"
