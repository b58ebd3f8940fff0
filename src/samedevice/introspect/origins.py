"""Where a local name got its value: read from the function's source, last assignment above the failing line first."""

import ast
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from samedevice.catalog import load
from samedevice.introspect import classes
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import scope as scope_of
from samedevice.introspect.namespaces import globals_of

END = 10**9  # a line below all others


@dataclass(frozen=True)
class Origin:
    """Where a name got its value.

    Attributes:
        kind: "loop" (from a `for`), "created" (by a factory of torch), "moved" (by .to, .cuda, .cpu or
            .type_as), "call" (of something else), "argument" (of the function) or "other".
        statement: the statement that gave the value, or None for an argument.
        value: the expression on the right of that statement, or what the loop goes over.
    """

    kind: str
    statement: ast.stmt | ast.comprehension | None
    value: ast.expr | None


def find_origin(
    name: str,
    scope: ast.AST,
    line: int = END,
    failed: ast.stmt | None = None,
    did_not_give: Callable[[ast.AST], bool] | None = None,
) -> Origin:
    """Find where `name` got the value that it has at a line of a function, which is its end by default.

    Args:
        name: such as "x" or "self.scale".
        scope: the statements of the function.
        line: the line at which the value counts.
        failed: the statement that failed at that line: it has not given any value yet.
        did_not_give: tells of a statement whether it certainly is not the one, as it did not run.
    """
    best: tuple[int, Origin] | None = None
    for node in ast.walk(scope):
        found = gives(node, name) if node is not failed else None
        if found is None or (did_not_give is not None and did_not_give(node)):
            continue
        given = getattr(node, "lineno", None) or node.target.lineno  # type: ignore[attr-defined]
        if given > line and name.isidentifier() and not _is_repeated(scope, line, given):
            continue
        # A later line may have given it too, if both are in a loop.
        key = given if given <= line else given - 1_000_000
        if best is None or key >= best[0]:
            best = key, found
    if best:
        return best[1]
    return Origin("argument" if name in _arguments(scope) else "other", None, None)


def _is_repeated(scope: ast.AST, line: int, later: int) -> bool:
    """Tell whether a loop goes from a later line back to a line."""
    loops = [node for node in ast.walk(scope) if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    return any(loop.lineno <= line and later <= (loop.end_lineno or 0) for loop in loops)


def kind_of(value: ast.expr) -> str:
    """Tell how an expression makes its value: "created", "moved", "call" or "other"."""
    match value:
        case ast.Call():
            if creates(value):
                return "created"
            if decided_by(called(value)) in ("move", "argument"):
                return "moved"
            receiver = value.func.value if isinstance(value.func, ast.Attribute) else None
            # torch.zeros(3).float() and torch.triu(torch.ones(3, 3)) are made where their inner call made them.
            begins = ast.unparse(value.func).split(".")
            arguments = value.args[:1] if begins[0] in ("torch", "F") or "functional" in begins else []
            for inner in [receiver, *arguments]:
                if inner is not None and kind_of(inner) in ("created", "moved"):
                    return kind_of(inner)
            return "call"
        case ast.BinOp():
            sides = (kind_of(value.left), kind_of(value.right))
            return next((kind for kind in ("created", "moved") if kind in sides), "other")
        case ast.Compare():
            return kind_of(value.left)
        case ast.IfExp():
            return kind_of(value.body)
        case ast.UnaryOp():
            return kind_of(value.operand)
        case ast.Subscript():
            return kind_of(value.value) if isinstance(value.value, ast.Call) else "other"
    return "other"


def called(node: ast.Call) -> str:
    """Return the last name of what is called: "zeros" of `torch.zeros(3)`."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def decided_by(name: str) -> str:
    """Return what decides the device of what a function or a method of PyTorch returns.

    Returns:
        A word of the catalog's factories.toml, such as "default" for "zeros" and "move" for "cuda"; "" for other names.
    """
    devices = load().devices
    return devices.functions.get(name) or devices.methods.get(name, "")


def is_move(name: str) -> bool:
    """Tell whether a method moves a tensor or a module: `to`, `cuda`, `cpu`."""
    return decided_by(name) == "move"


def creates(node: ast.Call) -> bool:
    """Tell whether a call is one of a factory, which makes a tensor rather than computing one from others."""
    match decided_by(called(node)):
        case "default" | "data" | "cpu":
            return True
        case "size":
            return len(node.args) > 2 or any(keyword.arg == "size" for keyword in node.keywords)
    return False


def device_argument(node: ast.Call) -> ast.expr | None:
    """Return what a call passes as `device=`."""
    return next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)


def asks_for_a_device(node: ast.AST) -> bool:
    """Tell whether a call in an expression passes `device=`."""
    return any(device_argument(inner) is not None for inner in ast.walk(node) if isinstance(inner, ast.Call))


def discarded_move(name: str, scope: ast.AST) -> ast.Expr | None:
    """Find a statement `name.to(...)`, whose result is thrown away."""
    return next((node for moved, node in _discarded(scope) if moved == name), None)


def discarded_moves(scope: ast.AST) -> list[str]:
    """Return what is moved in statements that throw the result away."""
    return [moved for moved, _ in _discarded(scope)]


def moved_in_a_loop(scope: ast.AST) -> set[str]:
    """Return the names of containers whose tensors a loop moves one by one, and throws each result away."""
    loops = [find_origin(moved, scope) for moved in discarded_moves(scope)]
    over = [loop.value for loop in loops if loop.kind == "loop" and loop.value is not None]
    return {node.id for value in over for node in ast.walk(value) if isinstance(node, ast.Name)}


def _discarded(scope: ast.AST) -> Iterator[tuple[str, ast.Expr]]:
    for node in ast.walk(scope):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method, value=moved))) if is_move(method):
                yield text_of(moved), node


@dataclass(frozen=True)
class Assignment:
    """A statement in a method that assigns to an attribute of its object.

    Attributes:
        method: the method.
        statement: the whole statement.
        value: the expression on its right.
        itself: what the method calls its object, mostly "self".
    """

    method: types.FunctionType
    statement: ast.stmt
    value: ast.expr
    itself: str = "self"


def discarded_in(owner: object, name: str) -> tuple[types.FunctionType, ast.Expr] | None:
    """Find a statement `self.name.to(...)`, whose result is thrown away, and the method of the object that has it."""
    for kind in classes.mro(type(owner)):
        for method in classes.namespace(kind).values():
            method = classes.wrapped(method)[-1] if type(method) is types.FunctionType else None
            names = method.__code__.co_names if method is not None else ()
            if method is not None and name in names and any(map(is_move, names)):
                tree = scope_of(method.__code__, globals_of(method))
                if tree is not None and (found := discarded_move(f"self.{name}", tree)) is not None:
                    return method, found
    return None


def assigned(owner: object, name: str) -> Assignment | None:
    """Find what the methods of an object's class assign to the attribute `name`, `__init__` first."""
    return assigned_in(owner, name, "__init__") or next(reassigned(owner, name), None)


def assigned_in(owner: object, name: str, method: str) -> Assignment | None:
    """Find what one method of an object's class assigns to the attribute `name`."""
    methods = (classes.namespace(kind).get(method) for kind in classes.mro(type(owner)))
    return next(filter(None, (_assigned(function, name) for function in methods)), None)


def reassigned(owner: object, name: str) -> Iterator[Assignment]:
    """Yield what the methods other than `__init__` assign to the attribute `name`, the last of each method first."""
    for kind in classes.mro(type(owner)):
        for key, method in classes.namespace(kind).items():
            if key != "__init__" and (last := _assigned(method, name)) is not None:
                yield last
                tree = scope_of(last.method.__code__, globals_of(last.method))
                given = [gives(node, f"self.{name}") for node in ast.walk(tree)] if tree is not None else []
                for each in filter(None, given):
                    if isinstance(each.statement, ast.stmt) and each.value and each.statement is not last.statement:
                        yield Assignment(last.method, each.statement, each.value)


def statements_of(owner: object) -> Iterator[tuple[types.FunctionType, str, ast.stmt]]:
    """Yield the statements of an object's methods, each after its method and what that calls the object."""
    for kind in classes.mro(type(owner)):
        for method in classes.namespace(kind).values():
            tree = scope_of(method.__code__, globals_of(method)) if type(method) is types.FunctionType else None
            for node in ast.walk(tree) if tree is not None and method.__code__.co_argcount else ():
                if isinstance(node, ast.stmt):
                    yield method, method.__code__.co_varnames[0], node


def _assigned(method: object, name: str) -> Assignment | None:
    method = classes.wrapped(method)[-1] if type(method) is types.FunctionType else None
    if method is None or name not in (*method.__code__.co_names, *method.__code__.co_consts):
        return None
    tree = scope_of(method.__code__, globals_of(method))
    itself = (method.__code__.co_varnames[: method.__code__.co_argcount] or ("self",))[0]
    origin = find_origin(f"{itself}.{name}", tree) if tree is not None else None
    if origin is None or origin.value is None or not isinstance(origin.statement, ast.stmt):
        return None
    return Assignment(method, origin.statement, origin.value, itself)


def gives(node: ast.AST, name: str) -> Origin | None:
    """Return the origin that a statement is for `name`, or None where it gives that name no value."""
    match node:
        case ast.Assign():
            for target in node.targets:
                if _names(target, name):
                    value = _part(target, node.value, name)
                    return Origin(kind_of(value), node, value)
        case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            if _names(node.target, name):
                return Origin(kind_of(value), node, value)  # type: ignore[arg-type]
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            if _names(node.target, name):
                return Origin("loop", node, node.iter)
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[of, ast.Constant(value=str(key)), value])):
            if f"{text_of(of)}.{key}" == name:
                return Origin(kind_of(value), node, value)
    return None


def _part(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    """Return the part of `a, b = f(), g()` that one name gets."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        for part, item in zip(target.elts, value.elts, strict=False):
            if _names(part, name):
                return item
    return value


def _names(target: ast.AST, name: str) -> bool:
    if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        return text_of(target) == name
    return any(_names(part, name) for part in ast.iter_child_nodes(target))


def _arguments(scope: ast.AST) -> set[str]:
    for node in ast.walk(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            every = node.args
            named = [*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg]
            return {argument.arg for argument in named if argument}
    return set()
