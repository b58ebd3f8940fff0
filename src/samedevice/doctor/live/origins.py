"""Where a local name got its value: read from the function's source, last assignment above the failing line first."""

import ast
from dataclasses import dataclass

# Functions of torch that make a tensor where `device=` says, else on the default device.
FACTORIES = {
    "arange", "bartlett_window", "blackman_window", "empty", "eye", "from_numpy", "full", "hamming_window",
    "hann_window", "kaiser_window", "linspace", "logspace", "normal", "ones", "rand", "randint", "randn", "randperm",
    "tensor", "as_tensor", "asarray", "tril_indices", "triu_indices", "zeros", "Tensor", "FloatTensor", "LongTensor",
    "IntTensor", "BoolTensor", "DoubleTensor", "scalar_tensor", "complex", "polar", "range", "empty_strided",
}  # fmt: skip


@dataclass(frozen=True)
class Origin:
    """How a name came about.

    Attributes:
        kind: "loop" (a `for` gave it), "made" (a factory of torch), "moved" (.to, .cuda, .cpu), "call" (of something
            else), "argument" (of the function) or "other".
        statement: what gave it, or None for an argument.
        value: the expression on its right, or what the loop goes over.
        in_loop: whether it was given anew in the loop that the failing line stands in.
    """

    kind: str
    statement: ast.stmt | ast.comprehension | None
    value: ast.expr | None
    in_loop: bool = False


def origin(name: str, scope: ast.AST, line: int, failed: ast.stmt | None = None) -> Origin:
    """Where `name` got the value that it has at `line` of `scope`; not in the statement that failed there."""
    best: tuple[int, Origin] | None = None
    for node in ast.walk(scope):
        found = _gives(node, name) if node is not failed else None
        if found is None:
            continue
        given = getattr(node, "lineno", None) or node.target.lineno  # type: ignore[attr-defined]
        # In a loop a later line too may have given it.
        key = given if given <= line else given - 1_000_000
        if best is None or key >= best[0]:
            best = key, found
    if best:
        return best[1]
    return Origin("argument" if name in _arguments(scope) else "other", None, None)


def kind_of(value: ast.expr) -> str:
    """What an expression makes: "made", "moved", "call" or "other"."""
    match value:
        case ast.Call():
            name = called(value)
            if name in FACTORIES:
                return "made"
            if name in ("to", "cuda", "cpu"):
                return "moved"
            receiver = value.func.value if isinstance(value.func, ast.Attribute) else None
            # torch.zeros(3).float() and torch.triu(torch.ones(3, 3)) are made where their inner call made them.
            for inner in [receiver, *value.args[:1]]:
                if inner is not None and kind_of(inner) in ("made", "moved"):
                    return kind_of(inner)
            return "call"
        case ast.BinOp():
            return next((kind for kind in (kind_of(value.left), kind_of(value.right)) if kind == "made"), "other")
        case ast.UnaryOp():
            return kind_of(value.operand)
        case ast.Subscript():
            return kind_of(value.value) if isinstance(value.value, ast.Call) else "other"
    return "other"


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def device_argument(node: ast.Call) -> ast.expr | None:
    return next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)


def discarded_move(name: str, scope: ast.AST) -> ast.Expr | None:
    """A statement `name.to(...)` whose result nobody takes."""
    for node in ast.walk(scope):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="to" | "cuda" | "cpu", value=moved))):
                if ast.unparse(moved).replace("'", '"') == name:
                    return node
    return None


def _gives(node: ast.AST, name: str) -> Origin | None:
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
    return None


def _part(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    """Of `a, b = f(), g()` the value of one name."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        for part, item in zip(target.elts, value.elts, strict=False):
            if _names(part, name):
                return item
    return value


def _names(target: ast.AST, name: str) -> bool:
    if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        return ast.unparse(target).replace("'", '"') == name
    return any(_names(part, name) for part in ast.iter_child_nodes(target))


def _arguments(scope: ast.AST) -> set[str]:
    for node in ast.walk(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            every = node.args
            named = [*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg]
            return {one.arg for one in named if one}
    return set()
