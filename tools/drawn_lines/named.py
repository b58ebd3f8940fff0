"""What an expression is that the doctor named: the culprit, another tensor, or nothing that could be it.

It is evaluated in the failing frame. That is safe: the program is our own, and has run already.
"""

import ast
import contextlib
import io
import types
import warnings
from dataclasses import dataclass

import torch

from drawn_lines.program import Program
from drawn_lines.running import Failure
from drawn_lines.templates import parts, spelled


@dataclass(frozen=True)
class Named:
    """An expression that was named.

    Attributes:
        expression: as it was named.
        is_culprit: whether it is the culprit, or holds it, or is computed from it.
        is_partner: whether it met the culprit on another GPU, so that it may be named just as well.
        impossible: why it cannot be the culprit, by what the line shows of it; "" if it can.
        has_device: whether its value is a tensor, or a module that has some.
    """

    expression: str
    is_culprit: bool
    impossible: str
    is_partner: bool = False
    has_device: bool = False


def looked_at(program: Program, failed: Failure, expression: str) -> Named:
    """Look at an expression that was named."""
    try:
        written = spelled(expression)
        code = compile(expression.strip(), "<named>", "eval")
    except (SyntaxError, ValueError):
        return Named(expression, False, "is no expression")
    try:
        value = _quietly(code, namespace(program, failed))
    except Exception as error:
        return Named(expression, False, f"cannot be evaluated in the failing frame: {error!r}")
    node = ast.parse(expression.strip(), mode="eval").body
    is_culprit = written in program.culprits or _is_of_owner(program, node) or _follows(program, expression, value)
    has_device = isinstance(value, torch.Tensor) or (isinstance(value, torch.nn.Module) and _has_tensors(value))
    is_partner = program.is_between_gpus and written in program.partners and _has_tensors(value)
    return Named(expression, is_culprit, "" if is_culprit else _why_impossible(node, value), is_partner, has_device)


def namespace(program: Program, failed: Failure) -> dict[str, object]:
    """Return the names of the failing frame; from Python 3.12 on those of a comprehension are gone from it."""
    names = dict(failed.names)
    for variable, several in program.loops:
        values = names.get(several)
        if variable not in names and isinstance(values, list):
            names[variable] = values[0]
    return names


def _quietly(code: types.CodeType, names: dict[str, object]) -> object:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return eval(code, names)


def _is_of_owner(program: Program, node: ast.expr) -> bool:
    """Tell whether it is a tensor of the layer, or of the loss, that is the culprit."""
    while isinstance(node, ast.Attribute):
        node = node.value
        if ast.dump(node) in program.owners:
            return True
    return False


def _follows(program: Program, expression: str, value: object) -> bool:
    """Tell whether it is computed from the culprit, on the culprit's device: only that decides where it is."""
    wrong = "cuda:1" if program.is_between_gpus else "cpu"
    is_there = isinstance(value, torch.Tensor) and str(value.device) == wrong
    return is_there and not program.culprits.isdisjoint(parts(expression))


def _why_impossible(node: ast.expr, value: object) -> str:
    """Return why an expression cannot be a tensor: a reader of the line can tell, without knowing what names are."""
    # `self.blocks[0]` may be any layer.
    is_any_layer = isinstance(value, torch.nn.Module) and isinstance(node, ast.Subscript)
    if is_any_layer or _has_tensors(value) or (isinstance(value, int | float) and _is_kept(node)):
        return ""
    return f"is no tensor, and holds none: {type(value).__name__}"


def _is_kept(node: ast.expr) -> bool:
    """Tell whether it is a name, an attribute or an item, which could be a tensor as well as the number that it is."""
    if isinstance(node, ast.Attribute):
        return not (isinstance(node.value, ast.Name) and node.value.id in ("math", "torch"))
    return isinstance(node, ast.Name | ast.Subscript)


def _has_tensors(value: object) -> bool:
    if isinstance(value, torch.nn.Module):
        is_loss = type(value).__name__.endswith("Loss")  # a loss may have a weight, which its call does not show
        return is_loss or any(True for _ in value.parameters()) or any(True for _ in value.buffers())
    if isinstance(value, dict):
        return any(map(_has_tensors, value.values()))
    return isinstance(value, torch.Tensor) or (isinstance(value, list | tuple) and any(map(_has_tensors, value)))
