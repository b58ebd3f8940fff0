"""How a value is reached from that of an expression: through attributes, keys, and the targets of statements."""

import ast
from collections.abc import Iterator
from typing import Any

from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin, gives

ANY = "any item"

Path = tuple[Any, ...]  # the names of attributes after a dot, the keys of items, and ANY


def path_to(name: str, origin: Origin) -> Path:
    """Return how what a statement gives to a name is reached from the value of its expression."""
    statement = origin.statement
    if isinstance(statement, ast.For | ast.AsyncFor | ast.comprehension):
        return (ANY, *(path_in(statement.target, name) or ()))
    if isinstance(statement, ast.Assign) and statement.value is origin.value:
        return next(filter(None, (path_in(target, name) for target in statement.targets)), ())
    return ()


def path_in(target: ast.expr, name: str) -> Path | None:
    """Return where a name stands in a target such as `(a, (b, c))`; None where it does not."""
    if text_of(target) == name:
        return ()
    if isinstance(target, ast.Tuple | ast.List):
        for number, part in enumerate(target.elts):
            if (inner := path_in(part, name)) is not None:
                return (number, *inner)
    return None


def items_at(items: list[ast.expr], path: Path) -> list[ast.expr]:
    """Return the items of a tuple that a path may mean."""
    if path and type(path[0]) is int and -len(items) <= path[0] < len(items):
        return [items[path[0]]]
    return items


def item_at(known: Any, key: Any) -> Any:
    """Return what a value holds at one step of a path, or MISSING."""
    if known is MISSING or key is ANY:
        return MISSING
    if type(key) is str and key.startswith("."):
        return objects.attribute(known, key[1:])
    return objects.item(known, key)


def put_into(statement: ast.AST, name: str) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what a statement puts into a container of that name, and whether it is one item of it."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=base))], value=item) if base == name:
            yield item, True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr=put), args=args)) if base == name:
            if put in ("append", "appendleft", "add") and args:
                yield args[0], True
            elif put == "extend" and args:
                yield args[0], False


def in_other_branches(name: str, origin: Origin, scope: ast.AST) -> list[Origin]:
    """Return what gives a name its value where a condition had turned out otherwise."""
    found: list[Origin] = []
    for node in ast.walk(scope):
        if isinstance(node, ast.If):
            branches = [[inner for each in branch for inner in ast.walk(each)] for branch in (node.body, node.orelse)]
            own = [branch for branch in branches if any(inner is origin.statement for inner in branch)]
            given = [gives(inner, name) for branch in branches if own and branch not in own for inner in branch]
            found += [each for each in given if each is not None and each.value is not None]
    return found
