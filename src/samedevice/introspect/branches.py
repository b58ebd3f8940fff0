"""Which statements of a function have run: by the conditions around them, as the frame's names answer them now."""

import ast
from typing import Any

from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.values import value

_PLAIN = (bool, int, float, str, type(None))


def did_not_run(statement: ast.AST, call: Call) -> bool:
    """Tell whether a statement of a frame's function certainly did not run.

    It stands in the branch of an `if` whose condition now says that the other one ran. A condition of a name that the
    function assigned to since is no proof.

    Example: with `causal` True, the second statement here did not run.

        if causal:
            mask = torch.tril(torch.ones(n, n))
        else:
            mask = torch.ones(n, n, device=x.device)
    """
    if call.scope is None:
        return False
    for node in ast.walk(call.scope):
        if isinstance(node, ast.If):
            is_in_body = any(statement is inner for part in node.body for inner in ast.walk(part))
            is_in_else = any(statement is inner for part in node.orelse for inner in ast.walk(part))
            if (is_in_body or is_in_else) and _is_as_it_was(node, call.scope):
                held = _truth(node.test, call)
                if held is not None and held != is_in_body:
                    return True
    return False


def runs_before(statement: ast.AST, line: int, scope: ast.AST) -> bool:
    """Tell whether a statement of a function has run whenever a line below it does: no branch or loop is left between.

    Example: `out` has a value at the last line here only if there are rows.

        for row in rows:
            out = layer(row)
        return x.to(out.device)
    """
    for node in ast.walk(scope):
        if isinstance(node, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try)):
            for block in (node.body, node.orelse, *(handler.body for handler in getattr(node, "handlers", []))):
                is_inside = any(statement is inner for part in block for inner in ast.walk(part))
                if is_inside and not block[0].lineno <= line <= (block[-1].end_lineno or 0):
                    return False
    return True


def _is_as_it_was(branch: ast.If, scope: ast.AST) -> bool:
    """Tell whether nothing at the `if` or below it assigns to what its condition reads."""
    read = {text_of(node) for node in ast.walk(branch.test) if isinstance(node, (ast.Name, ast.Attribute))}
    stored = [
        node
        for node in ast.walk(scope)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)
    ]
    return not any(text_of(node) in read and node.lineno >= branch.lineno for node in stored)


def _truth(test: ast.expr, call: Call) -> bool | None:
    """Return whether a condition holds by the values that can be looked up; None where that is not known."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            held = _truth(inner, call)
            return None if held is None else not held
        case ast.BoolOp(op=op, values=parts):
            all_ = [_truth(part, call) for part in parts]
            decides = isinstance(op, ast.Or)
            if decides in all_:
                return decides
            return None if None in all_ else not decides
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(value(left, call), op, value(right, call))
    found = value(test, call)
    return bool(found) if type(found) in _PLAIN else None


def _compared(left: Any, op: ast.cmpop, right: Any) -> bool | None:
    if left is MISSING or right is MISSING:
        return None
    if isinstance(op, (ast.Is, ast.IsNot)) and (left is None or right is None):
        return (left is right) == isinstance(op, ast.Is)
    if not (type(left) in _PLAIN and type(right) in _PLAIN) and not (
        objects.is_device(left) and objects.is_device(right)
    ):
        return None
    match op:
        case ast.Eq():
            return bool(left == right)
        case ast.NotEq():
            return bool(left != right)
    return None
