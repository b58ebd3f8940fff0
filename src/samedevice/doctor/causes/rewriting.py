"""Lines of the program with another expression in them, and lines that are put above them."""

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.edits import Change, Part, Source, statement_of
from samedevice.introspect import objects
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain

LONGEST = 100  # characters of a statement that is shown whole


def before_line(call: Call, text: str, statement: ast.stmt | None = None) -> Change:
    """Write a line before the one that failed in a frame, or before another statement there."""
    statement = statement or statement_of(call)
    return Change(text, Source.of_call(call).above(statement, text) if statement is not None else ())


def at_the_end_of_init(call: Call, line: str) -> tuple[Part, ...]:
    """Put a line at the end of `__init__` of the module whose method a frame is; write `__init__` where it has none."""
    init = objects.method(call.method_of, "__init__")
    if init is None:
        return ()
    tree = scope(init.__code__, globals_of(init))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] if tree is not None else []
    if functions and not is_library(plain(init.__code__.co_filename)):
        return Source.of_method(init).below(functions[0].body[-1], line)
    methods = [node for node in ast.walk(call.scope) if isinstance(node, ast.FunctionDef)] if call.scope else []
    new = f"def __init__(self):\n    super().__init__()\n    {line}\n"
    return Source.of_call(call).above(methods[0], new) if methods and not methods[0].decorator_list else ()


def in_line(evidence: Evidence, new: str, old: str = "") -> Change:
    """Write the failing statement with `new` in place of `old`; `new` alone where the statement is too long.

    `old` is the tensor's expression unless it is given.
    """
    call = evidence.call
    statement = statement_of(call)
    old = old or evidence.expression.text
    if statement is None:
        return Change(new)
    here = _in_lambdas(statement) if call.function == "<lambda>" else _head(statement)
    nodes = [node for node in here if isinstance(node, ast.expr) and _is_read_as(node, old)]
    outermost = [node for node in nodes if not any(node in ast.walk(other) for other in nodes if other is not node)]
    source = Source.of_call(call)
    parts = [part for node in outermost for part in _written_there(source, node, new, old, statement)]

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if isinstance(node, ast.arguments) and call.function == "<lambda>":
                return node
            if isinstance(node, ast.expr) and _is_read_as(node, old):
                return ast.parse(new, mode="eval").body
            return super().visit(node)

    copied = copy.deepcopy(statement)
    if isinstance(copied, ast.For):
        copied.body, copied.orelse = [], []
    after = text_of(Replace().visit(copied))
    is_short = bool(outermost) and len(after) <= LONGEST and "\n" not in after
    return Change(after if is_short and call is evidence.failure.user_call else new, tuple(parts))


def _written_there(source: Source, node: ast.expr, new: str, old: str, statement: ast.stmt) -> tuple[Part, ...]:
    """Write `new` in the place of a node, and only what it adds behind the node where it begins with that."""
    written = _in_brackets(new, node, statement)
    is_added = written.startswith(f"{old}.") and isinstance(node, (ast.Call, ast.Subscript, ast.Attribute, ast.Name))
    return source.after(node, written.removeprefix(old)) if is_added else source.replaced(node, written)


def _head(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement without the statements in it."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        yield node
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def _in_lambdas(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of the lambdas of a statement, but not their defaults, which are computed outside of them."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Lambda):
            yield from ast.walk(node.body)


def _is_read_as(node: ast.expr, text: str) -> bool:
    """Tell whether an expression has this text, and is not assigned to."""
    return not isinstance(getattr(node, "ctx", None), ast.Store) and text_of(node) == text


def _in_brackets(new: str, old: ast.expr, statement: ast.stmt) -> str:
    """Put brackets round an expression that would bind less tightly than the one whose place it takes."""
    parents = [node for node in ast.walk(statement) if old in ast.iter_child_nodes(node)]
    is_bound = any(isinstance(node, (ast.BinOp, ast.Attribute, ast.UnaryOp, ast.Subscript)) for node in parents)
    binds = isinstance(parsed(new), (ast.Call, ast.Attribute, ast.Name, ast.Subscript, ast.Constant))
    return f"({new})" if is_bound and not binds else new


def with_argument(call: ast.Call, name: str, new: ast.expr | None) -> ast.Call:
    """Return a copy of a call with another value for a keyword argument; without that argument for None."""
    copied = copy.deepcopy(call)
    copied.keywords = [keyword for keyword in copied.keywords if keyword.arg != name]
    if new is not None:
        copied.keywords.append(ast.keyword(name, new))
    return copied


def statement_with(source: Source, tree: ast.AST, old: ast.expr, new: ast.expr) -> Change:
    """Write the statement of a function that holds `old`, with `new` there."""
    return statement_with_each(source, tree, [(old, new)])


def statement_with_each(source: Source, tree: ast.AST, pairs: Sequence[tuple[ast.expr, ast.expr]]) -> Change:
    """Write the statement of a function that holds some expressions, with a new one in the place of each."""
    edits = tuple(part for old, new in pairs for part in source.replaced(old, text_of(new)))
    first = pairs[0][0]
    for statement in ast.walk(tree):
        if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) and any(
            node is first for node in ast.walk(statement)
        ):
            changed: ast.AST = statement
            for old, new in pairs:
                changed = replaced(changed, old, new)
            return Change(text_of(changed), edits)
    return Change(text_of(pairs[0][1]), edits)


def replaced(tree: Any, old: ast.expr, new: ast.expr) -> Any:
    """Return a copy of a syntax tree with another expression in place of one of its own."""

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return copy.deepcopy(new) if ast.dump(node) == wanted else super().visit(node)

    wanted = ast.dump(old)
    return Replace().visit(copy.deepcopy(tree))
