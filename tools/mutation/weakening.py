"""Every way to weaken a check: its source, with one thing that can refuse an answer taken out of it, each in turn.

What is taken out is found by its form, never by a list of places: a condition that leads to a refusal or a part of it,
a guard around an argument, a hook, a counter, the device that the result has to be on, one of several cases, the place
of an argument, a term that makes numbers differ. Functions named `..._reference` say what is right and refuse nothing:
they are left as they are.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

# Methods on which an answer to an exercise depends; pin_memory is none, for it changes no result.
PLACING = ("to", "requires_grad_")


@dataclass(frozen=True)
class Mutant:
    """One weakened module: the line, what stands there for what, and the code to run in the module's place."""

    line: int
    change: str
    code: CodeType


def mutants(source: str, guards: dict[str, int]) -> Iterator[Mutant]:
    """All weakened forms of a module, in the order of its lines.

    Args:
        source: the module.
        guards: functions that return one of their arguments guarded, by name, with the index of that argument.
    """
    tree = ast.parse(source)
    edits = sorted(_edits(tree, guards, None, ""), key=lambda edit: (edit[2].lineno, edit[2].col_offset))
    for parent, field, old, new in edits:
        before = _text(old)
        _put(parent, field, old, new)
        code = compile(ast.fix_missing_locations(tree), "<weakened>", "exec")
        _put(parent, field, new, old)
        yield Mutant(old.lineno, f"{before} -> {_text(new)}", code)


def guards_in(source: str) -> dict[str, int]:
    """The functions of a module that return an argument, after something was made for it that raises."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            inner = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            names, last = [argument.arg for argument in node.args.args], node.body[-1]
            if any(_has(one, ast.Raise) for one in inner) and isinstance(last, ast.Return):
                returned = ast.unparse(last).removeprefix("return ")
                if returned in names:
                    found[node.name] = names.index(returned)
    return found


def _edits(parent: Any, guards: dict[str, int], joins: Any, inside: str) -> Iterator[tuple[Any, str, Any, Any]]:
    """(parent, its field, old, new) of everything below.

    `joins`: in a refusal's condition, what joins alternatives; `inside`: the name of the function.
    """
    if isinstance(parent, ast.FunctionDef):
        inside = parent.name
    for field, value in ast.iter_fields(parent):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or str(getattr(child, "name", "")).endswith("_reference"):
                continue
            inner = joins
            if isinstance(parent, ast.If) and field == "test":
                inner = ast.Or if _refuses(parent) else None
            elif isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
                inner = {ast.Or: ast.And, ast.And: ast.Or}.get(joins)
            for new in _weaker(child, parent, field, guards, inner, inside):
                yield parent, field, child, ast.copy_location(new, child)
            yield from _edits(child, guards, inner, inside)


def _weaker(node: Any, parent: Any, field: str, guards: dict[str, int], joins: Any, inside: str) -> Iterator[ast.AST]:
    """What may stand in the place of a node, so that less is refused."""
    if field == "test" and (isinstance(parent, ast.While) or (isinstance(parent, ast.If) and _refuses(parent))):
        yield ast.Constant(False)
    match node:
        case ast.Expr(value=ast.Call()) if ast.unparse(node) != "super().__init__()":
            yield ast.Pass()
        case ast.AugAssign():
            yield ast.Pass()
        case ast.Assign(targets=[target]) if _of_an_argument(target):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if all(
            map(_of_an_argument, targets)
        ):
            for without in range(len(targets)):
                kept = [index for index in range(len(targets)) if index != without]
                left = ast.Tuple([targets[index] for index in kept], ast.Store())
                yield ast.Assign([left], ast.Tuple([values[index] for index in kept], ast.Load()))
        case ast.Raise(exc=ast.Call()) if not (isinstance(parent, ast.If) and len(parent.body) == 1):
            yield ast.Pass()
        case ast.Return() if isinstance(parent, ast.ExceptHandler):
            yield ast.Pass()
        case ast.Tuple(elts=kinds) if isinstance(parent, ast.ExceptHandler):
            for kind in kinds:
                yield ast.Tuple([one for one in kinds if one is not kind], ast.Load())
        case ast.With(items=items, body=body):
            for item in items:
                others = [one for one in items if one is not item]
                yield ast.With(others, body) if others else ast.If(ast.Constant(True), body, [])
        case ast.keyword(arg="result_on"):
            yield ast.keyword("result_on", ast.Constant(None))
        case ast.Constant(value=float()) if isinstance(parent, ast.Dict):  # a tolerance
            yield ast.Constant(float(ast.unparse(node)) * 10)
        case ast.BoolOp(op=op, values=values) if joins and isinstance(op, joins):
            for value in values:
                rest = [one for one in values if one is not value]
                yield ast.BoolOp(op, rest) if len(rest) > 1 else rest[0]
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]) if joins is ast.Or:
            if isinstance(left, ast.Attribute) and left.attr == "device":
                kinds = [ast.Attribute(side, "type", ast.Load()) for side in (left, right)]
                yield ast.Compare(kinds[0], [ast.NotEq()], [kinds[1]])
            elif not isinstance(right, ast.Constant) and not ast.unparse(left).endswith((".shape", ".type")):
                yield ast.Compare(left, [ast.Lt()], [right])
                yield ast.Compare(left, [ast.Gt()], [right])
        case ast.Call(func=ast.Name(id=name), args=args) if name in guards:
            yield args[guards[name]]
        case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in PLACING:
            yield value
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(times))]) if times > 1:
            yield ast.Call(node.func, [ast.Constant(1)], [])
        case ast.List(elts=cases) if len(cases) > 1 and _has(node, ast.Name):  # else it is one tensor's numbers
            for case in cases:
                yield ast.List([one for one in cases if one is not case], ast.Load())
        case ast.BinOp(left=left, right=right) if not isinstance(node.op, ast.BitOr):  # that is for types
            yield left
            # What is left of a layer has to be a layer: its input comes first.
            if not isinstance(right, ast.Constant) and inside != "forward":
                yield right
        case ast.Subscript(value=ast.Name(id="devices"), slice=ast.Constant(value=1)):
            yield ast.Subscript(node.value, ast.Constant(0), ast.Load())


def _refuses(node: ast.If) -> bool:
    return any(_has(one, ast.Raise) or _has(one, ast.Return) for one in node.body)


def _has(node: ast.AST, kind: type[ast.AST]) -> bool:
    return any(isinstance(one, kind) for one in ast.walk(node))


def _of_an_argument(target: ast.AST) -> bool:
    """Whether this is an attribute of anything but self: there it is a part of a network, not a device of a check."""
    return isinstance(target, ast.Attribute) and ast.unparse(target.value) != "self"


def _put(parent: Any, field: str, old: Any, new: Any) -> None:
    value = getattr(parent, field)
    setattr(parent, field, [new if one is old else one for one in value] if isinstance(value, list) else new)


def _text(node: ast.AST) -> str:
    """The first line of a node's source, which names it."""
    return ast.unparse(node).splitlines()[0]
