"""Where the tensor that a name stands for came from: through the arguments of calls to the frames outside."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samedevice.doctor.culprits.failure import Scene
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin, kind_of, origin
from samedevice.introspect.outside import given_outside, is_from_outside
from samedevice.introspect.values import value

# What hands its arguments on as they are, between a call and the function that it runs.
_HANDS_ON = tuple(
    str(Path("torch", *file))
    for file in (("nn", "modules", "module.py"), ("utils", "_contextlib.py"), ("amp", "autocast_mode.py"))
)


@dataclass(frozen=True, eq=False)
class Trail:
    """How a tensor came about, and the frame in which that was read.

    Attributes:
        came: what gave it.
        scope: that frame.
        name: what it is called there; "" for the value of an expression.
    """

    came: Origin
    scope: Call
    name: str


def trail(tensor: Any, name: str, call: Call, scene: Scene) -> Trail:
    """Follow `name`, as a frame has it, to what gave it its value."""
    frames = [one for one in reversed(scene.calls) if one.in_third_party or not one.in_library]
    if name.isidentifier() and (held := value(ast.Name(name, ast.Load()), call)) is not MISSING:
        tensor = held
    line, failed = call.line, call.statement
    for _ in range(20):
        if call.scope is None:
            return Trail(Origin("other", None, None), call, name)
        root = (re.match(r"\w*", name) or [""])[0]
        came = origin(name, call.scope, line, failed)
        if came.kind == "other" and came.value is None and root != "self" and "(" not in name:
            came = origin(root, call.scope, line, failed)
            if came.kind == "other" and came.value is None and is_from_outside(root, call):
                return _from_outside(name, root, tensor, call, frames)
        if call.in_third_party and isinstance(came.statement, ast.stmt) and (begins := _begins(came, call)):
            name, line, failed = begins, came.statement.lineno, came.statement
            continue
        if came.kind != "argument":
            return Trail(came, call, name)
        callers = frames[frames.index(call) + 1 :] if call in frames else []
        given = _given(name, root, tensor, call, callers)
        if given is None and _in_a_loop(call):
            again = origin(name, call.scope, line)  # by the failing statement itself, an iteration ago
            if again.value is not None:
                return Trail(again, call, name)
        given = given or _handed_on(root, tensor, call, callers, scene)
        if given is None:
            return Trail(came, call, name)
        node, outer, path = given
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return Trail(Origin(kind_of(node), None, node), outer, "")
        name, call = text_of(node) + path, outer
        line, failed = call.line, call.statement
    return Trail(came, call, name)


def _given(name: str, root: str, tensor: Any, call: Call, callers: list[Call]) -> tuple[ast.expr, Call, str] | None:
    """The very object that a caller has: the expression there, its frame, and the path from it to the tensor."""
    whole = value(ast.Name(root, ast.Load()), call)
    for caller in callers:
        nodes = [node for node in ast.walk(caller.node) if isinstance(node, ast.expr)] if caller.node else []
        nodes = [node for node in nodes if not isinstance(node, ast.Starred)]
        for wanted, path in ((tensor, ""), (whole, name[len(root) :])):
            if objects.is_one_of(wanted, str, int, float, type(None)):
                continue  # many names may have these
            if same := [node for node in nodes if value(node, caller) is wanted]:
                return max(same, key=lambda node: len(ast.unparse(node))), caller, path
        if found := _unpacked(tensor, caller):
            return found[0], caller, found[1]
    return None


def _handed_on(
    root: str, tensor: Any, call: Call, callers: list[Call], scene: Scene
) -> tuple[ast.expr, Call, str] | None:
    """The expression in the place of an argument, in the call that ran its function."""
    for caller in callers:
        if _hands_on(call, caller, scene) and (node := _bound(root, call, caller)) is not None:
            held = value(node, caller)
            elsewhere = objects.is_tensor(held) and objects.is_tensor(tensor)
            if not (elsewhere and objects.device(held) != objects.device(tensor)):
                return node, caller, ""
    return None


def _unpacked(tensor: Any, caller: Call) -> tuple[ast.expr, str] | None:
    """Of `f(*pair)` and `f(**batch)`, unless the caller itself was only handed them."""
    if not isinstance(caller.node, ast.Call):
        return None
    packed = [node.value for node in caller.node.args if isinstance(node, ast.Starred)]
    packed += [keyword.value for keyword in caller.node.keywords if keyword.arg is None]
    code = caller.frame.f_code
    own = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :] if code.co_flags & 0x0C else ()
    for node in packed:
        if isinstance(node, ast.Name) and node.id in own[:2]:
            continue
        for path, held in objects.inside(value(node, caller)):
            if held is tensor:
                return node, path
    return None


def _hands_on(call: Call, caller: Call, scene: Scene) -> bool:
    """Whether what the caller passes is what the callee was given."""
    between = scene.calls[scene.calls.index(caller) + 1 : scene.calls.index(call)]
    return all(one.file.endswith(_HANDS_ON) for one in between)


def _bound(name: str, call: Call, caller: Call) -> ast.expr | None:
    """The expression that a caller passes for the argument `name`."""
    if not isinstance(caller.node, ast.Call):
        return None
    for keyword in caller.node.keywords:
        if keyword.arg == name:
            return keyword.value
    code = call.frame.f_code
    arguments = list(code.co_varnames[: code.co_argcount])
    if name not in arguments or any(isinstance(node, ast.Starred) for node in caller.node.args):
        return None
    place = arguments.index(name) - (call.method_of is not None)
    return caller.node.args[place] if 0 <= place < len(caller.node.args) else None


def _from_outside(name: str, root: str, tensor: Any, call: Call, frames: list[Call]) -> Trail:
    """Of a global, or a name of the function around: from the frame that has it, else from the lines of the file."""
    for frame in frames[frames.index(call) + 1 :] if call in frames else []:
        if frame.file == call.file and frame.scope is not None and root in frame.locals:
            found = origin(root, frame.scope, frame.line)
            if found.value is not None and value(ast.Name(root, ast.Load()), frame) is not MISSING:
                return Trail(found, frame, name)
    return Trail(given_outside(root, call) or Origin("other", None, None), call, name)


def _begins(came: Origin, call: Call) -> str:
    """`x` of `x.flatten(1)`, the name that a view or a copy begins with."""
    node: ast.AST | None = came.value if came.kind in ("call", "other") else None
    if isinstance(node, ast.Name):
        return node.id
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) and objects.is_tensor(value(node, call)) else ""


def _in_a_loop(call: Call) -> bool:
    for loop in ast.walk(call.scope) if call.scope is not None else ():
        if isinstance(loop, (ast.For, ast.While)) and loop.lineno <= call.line <= (loop.end_lineno or 0):
            return True
    return False
