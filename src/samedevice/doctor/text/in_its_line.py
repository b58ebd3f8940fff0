"""How a candidate stands in its line: whether the line writes to it, reads it twice, or gives its name another value.

docs/assets/doctor/changes.js does the same in the browser.
"""

import ast
import re

from samedevice.catalog import load
from samedevice.doctor.text.candidates import Candidate, is_shown_whole
from samedevice.introspect.deciding import parts
from samedevice.introspect.lines import Line
from samedevice.introspect.origins import called, decided_by

# Calls that, made once more, change what the program does.
_TAKES_AWAY = ("next", "pop", "popleft", "popitem", "get", "get_nowait", "recv", "read", "reset", "step", "sample")
_LITERAL = re.compile(r'"[^"]*"')  # a device that needs no variable
_CELL = re.compile(r"(?:Cell|Input) In|<ipython-input|.*\.ipynb Cell", re.ASCII)
_ASSIGNS = re.compile(r"[^=]{1,200}? [-+*/@&|^%]?= |\w{1,80} ?: ", re.ASCII)  # a keyword has no blanks around its sign


def occurrences(candidate: Candidate) -> list[ast.expr]:
    """Return where the line reads the same name, attribute or entry: `x - x.mean()` does twice."""
    asked = {  # `x.shape` need not be that of the moved one
        id(node.value)
        for node in ast.walk(candidate.line.tree)
        if isinstance(node, ast.Attribute) and load().devices.attributes.get(node.attr) == "facts"
    } | {id(asked) for node in ast.walk(candidate.line.tree) if (asked := _asked(node, candidate.line)) is not None}
    written = ast.dump(candidate.node)
    return [
        node
        for node in ast.walk(candidate.line.tree)
        if isinstance(node, ast.expr) and id(node) not in asked and ast.dump(node) == written
    ]


def _asked(node: ast.AST, line: Line) -> ast.expr | None:
    """Return what a call only asks, or moves itself: `len(x)`, `x.size(0)`, `x.to(device)`; None for other calls."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[asked]):
            return asked
        case ast.Call(func=ast.Attribute(value=asked, attr=name)) if decided_by(name) in ("facts", "move"):
            is_moved = all(part.kind in ("moved", "on the CPU") for part in parts(node, line))
            return asked if is_moved else None  # `x.to(torch.float32)` stays where it is
    return None


def is_written(candidate: Candidate) -> bool:
    """Tell whether the line writes to it, so that a moved copy would be changed and thrown away."""
    operation = candidate.operation
    if operation is None or not operation.is_in_place or candidate.role != "self":
        return False
    if isinstance(operation.node, ast.Call) and not _is_a_statement(operation.node, candidate.line):
        return False  # what it makes is used, so that it has to be where the rest is
    written = operation.arguments[0][1]
    while written is not candidate.node:  # `x.view(-1).add_(y)` writes to `x`, `f(x).add_(y)` to what `f` makes
        match written:
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name[-1] == "_" or decided_by(name) == "view":
                written = inner
            case ast.Subscript(value=inner) | ast.Attribute(value=inner):
                written = inner
            case _:
                return False
    return candidate.kind != "result"


def _is_a_statement(call: ast.Call, line: Line) -> bool:
    """Tell whether a call is a statement of its own, or one before the dot of it: `x.mul_(2).add_(y)`."""
    for statement in line.tree.body:
        node: ast.AST | None = statement.value if isinstance(statement, ast.Expr) else None
        while isinstance(node, ast.Call | ast.Attribute):
            if node is call:
                return True
            node = node.func if isinstance(node, ast.Call) else node.value
    return False


def is_target(candidate: Candidate) -> bool:
    """Tell whether it is what an augmented assignment gives a new value: `x @= y`."""
    return any(
        isinstance(statement, ast.AugAssign) and statement.target is candidate.node
        for statement in candidate.line.tree.body
    )


def is_a_list(candidate: Candidate) -> bool:
    """Tell whether it is not a tensor but a list of those that are joined, or of what is passed."""
    return candidate.role == "list"


def can_be_rebound(candidate: Candidate) -> bool:
    """Tell whether a line above can give a name a new tensor.

    In a function that is certain only of a name that the line itself gives a value: any other may be one of the module,
    which an assignment would hide from the lines before it. A comprehension's variable does not exist above the line.
    """
    name = candidate.expression
    stored = {
        node.id
        for statement in candidate.line.tree.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    own = _variables_of(candidate.line)
    function = candidate.frame.function
    if not begins_a_statement(candidate.line):
        return False
    is_a_cell = not function and _CELL.match(candidate.frame.file) is not None
    is_of_the_module = is_a_cell or function == "<module>" or function.startswith("<cell")
    return name not in own and (is_of_the_module or name in stored)


def _variables_of(line: Line) -> set[str]:
    """Return the names that exist in a line only: the variables of its loops, comprehensions and lambdas."""
    own: set[str] = set()
    for node in ast.walk(line.tree):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension | ast.NamedExpr):
            own |= {inner.id for inner in ast.walk(node.target) if isinstance(inner, ast.Name)}
        elif isinstance(node, ast.arg):
            own.add(node.arg)
    return own


def can_be_asked(candidate: Candidate) -> bool:
    """Tell whether a line above the failing one can print where a candidate is, and leaves the program as it is."""
    calls = [node for node in ast.walk(candidate.node) if isinstance(node, ast.Call)]
    names = {node.id for node in ast.walk(candidate.node) if isinstance(node, ast.Name)}
    is_above = not candidate.line.text.startswith("elif") and names.isdisjoint(_variables_of(candidate.line))
    return is_above and not any(called(call) in _TAKES_AWAY or called(call).endswith("_") for call in calls)


def uses_a_variable_of(candidate: Candidate, *code: str) -> bool:
    """Tell whether code may use a variable that the line above does not have: what was cut off may be a loop."""
    names = [name for each in code for name in re.findall(r"[A-Za-z_]\w*", each, re.ASCII)]
    is_whole = is_shown_whole(candidate.line, candidate.frame)
    return not (is_whole or all(_LITERAL.fullmatch(each) for each in code)) or not _variables_of(
        candidate.line
    ).isdisjoint(names)


def begins_a_statement(line: Line) -> bool:
    """Tell whether a line can have another above it: one of the middle of a statement looks like an expression."""
    statement = line.tree.body[0]
    if line.text.startswith("elif"):
        return False
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return _ASSIGNS.match(line.text) is not None and not line.text.rstrip().endswith(",")
    if isinstance(statement, ast.Return):
        return True
    return not isinstance(statement, ast.Expr) and line.text.split("#")[0].rstrip().endswith(":")
