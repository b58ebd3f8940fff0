"""A statement with another expression in it: what a line to change is written from."""

import ast
import copy
import re
from typing import Any

from samedevice.doctor.culprits.evidence import Suspect
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import kind_of, origin
from samedevice.introspect.values import value

_NAME = r'[A-Za-z_][\w.\[\]"]*'  # what can be given a value
LONGEST = 100  # characters of a statement that is shown whole
_TAKE_A_DEVICE = origins.FACTORIES - {"Tensor", "FloatTensor", "LongTensor", "IntTensor", "BoolTensor", "DoubleTensor"}


def set_to(about: Suspect, new: str) -> str:
    """`name = new` before the failing line, where `name` can be given something; else that line with `new` in it."""
    name, call = about.expression, about.call
    one_of_a_tuple = re.fullmatch(r"(.+?)(\.\w+|\[[^\[\]]+\])", name)
    if one_of_a_tuple:
        base = value(ast.parse(one_of_a_tuple[1], mode="eval").body, call) if is_code(one_of_a_tuple[1]) else MISSING
        if type(base) is tuple and name not in text_of(call.statement or ast.Pass()):
            return f"{one_of_a_tuple[1]} = tuple({new.replace(name, 'one')} for one in {one_of_a_tuple[1]})"
        if objects.is_one_of(base, tuple) or (about.holder and about.holder.kind == "class attribute"):
            return in_line(about, new)
    root = (re.match(r"\w*", name) or [""])[0]
    came = origin(root, call.scope, call.line) if call.scope is not None and root else None
    in_a_line = came is not None and isinstance(came.statement, ast.comprehension)
    is_outside = root not in call.locals and root != "self"
    is_free = root in call.frame.f_code.co_freevars
    if in_a_line or is_outside or is_free or call.function == "<lambda>" or not re.fullmatch(_NAME, name):
        return in_line(about, new)
    return f"{name} = {new}"


def in_line(about: Suspect, new: str, of: str = "") -> str:
    """The failing statement with `new` where it has the expression, or `new` alone where that is too long."""
    call = about.call
    statement = call.statement
    old = of or about.expression
    if statement is None and call.scope is not None:
        loops = [one for one in ast.walk(call.scope) if isinstance(one, ast.For) and _is_loop_at(one, call.line)]
        statement = next(iter(loops), None)
    if statement is None or call is not about.scene.place:
        return new

    class Other(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            is_given = isinstance(getattr(node, "ctx", None), ast.Store)
            if isinstance(node, ast.expr) and not is_given and text_of(node) == old:
                return ast.parse(new, mode="eval").body
            return super().visit(node)

    copied = copy.deepcopy(statement)
    if isinstance(copied, ast.For):
        copied.body, copied.orelse = [], []
    before = text_of(copied)
    mended = text_of(Other().visit(copied))
    return mended if mended != before and len(mended) <= LONGEST and "\n" not in mended else new


def made_there(made: ast.expr, device: str) -> str:
    """The expression, with `device=` in the calls that make its tensors, and without a move elsewhere."""
    there = ast.parse(device, mode="eval").body
    found = False

    class There(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> Any:
            nonlocal found
            made_or_moved = origins.called(node) in _TAKE_A_DEVICE
            if made_or_moved:
                node.keywords = [one for one in node.keywords if one.arg != "device"]
                node.keywords.append(ast.keyword("device", there))
            elif origins.called(node) in ("cuda", "to") and isinstance(node.func, ast.Attribute):
                inner = kind_of(node.func.value) == "made"
                node = self.visit(node.func.value) if inner else _to(node.func.value, there)
            else:
                return self.generic_visit(node)
            found = True
            return node

    tree = There().visit(copy.deepcopy(made))
    return text_of(tree if found else _to(tree, there))


def replaced(tree: ast.AST, old: ast.expr, new: ast.expr) -> str:
    """The statement of a function that holds `old`, with `new` there."""
    for statement in ast.walk(tree):
        if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) and any(
            node is old for node in ast.walk(statement)
        ):
            return text_of(replaced_in(statement, old, new))
    return text_of(new)


def replaced_in(tree: Any, old: ast.expr, new: ast.expr) -> Any:
    """`tree` with another expression in place of one of its own."""

    class Other(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return copy.deepcopy(new) if ast.dump(node) == wanted else super().visit(node)

    wanted = ast.dump(old)
    return Other().visit(copy.deepcopy(tree))


def moved_to(tensor: ast.expr, device: str) -> ast.Call:
    """`tensor.to(device)`."""
    return _to(tensor, ast.parse(device, mode="eval").body)


def is_code(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _is_loop_at(node: ast.For, line: int) -> bool:
    """Whether the loop's first line, which takes the next item, is that line."""
    return node.lineno <= line <= (node.iter.end_lineno or 0)


def _to(tensor: ast.expr, device: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(tensor, "to", ast.Load()), [device], [])
