"""Where the tensor that a name stands for came from: through the arguments of calls to the frames outside."""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samedevice.doctor.culprits.expected_device import expected_device
from samedevice.doctor.culprits.failure import Failure
from samedevice.introspect import objects
from samedevice.introspect.branches import did_not_run
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin, device_argument, find_origin, gives, kind_of
from samedevice.introspect.outside import given_outside, is_from_outside
from samedevice.introspect.returned import Returned
from samedevice.introspect.values import value

# These files pass their arguments on as they are, between a call and the function that it runs.
_PASS_ON = tuple(
    str(Path("torch", *file))
    for file in (("nn", "modules", "module.py"), ("utils", "_contextlib.py"), ("amp", "autocast_mode.py"))
)
_UNKNOWN = Origin("other", None, None)
_STEPS = 20  # from name to name


@dataclass(frozen=True, eq=False)
class Provenance:
    """Where a tensor came from.

    Attributes:
        origin: what gave it to a name.
        call: the frame in which that was read.
        name: what the tensor is called there; "" for the value of an expression.
    """

    origin: Origin
    call: Call
    name: str


def follow(tensor: Any, name: str, call: Call, failure: Failure) -> Provenance:
    """Follow a name, as a frame has it, to what gave it its value.

    Args:
        tensor: what the name stands for.
        name: such as "x" or "batch[0]".
        call: the frame that has the name.
        failure: the frames to follow it through.
    """
    frames = [frame for frame in reversed(failure.calls) if frame.in_third_party or not frame.in_library]
    if name.isidentifier() and (named := value(ast.Name(name, ast.Load()), call)) is not MISSING:
        tensor = named
    line, failed = call.line, call.statement
    origin = _UNKNOWN
    for _ in range(_STEPS):
        if call.scope is None:
            return Provenance(_UNKNOWN, call, name)
        root = (re.match(r"\w*", name) or [""])[0]
        did_not_give = functools.partial(_did_not_give, name, tensor, call)
        origin = find_origin(name, call.scope, line, failed, did_not_give)
        origin = _as_it_was_reset(origin, name, tensor, call)
        if _is_unknown(origin) and root != "self" and "(" not in name:
            origin = find_origin(root, call.scope, line, failed, functools.partial(did_not_run, call=call))
            if _is_unknown(origin) and is_from_outside(root, call):
                return _from_outside(name, root, call, frames)
        if (before := _before_what_did_not_run(origin, name, tensor, call)) is not None:
            origin, line, failed = before, origin.statement.lineno, origin.statement  # type: ignore[union-attr, assignment]
        if isinstance(origin.statement, ast.stmt) and (earlier := _earlier_name(origin, tensor, call)):
            name, line, failed = earlier, origin.statement.lineno, origin.statement
            continue
        if origin.kind != "argument":
            return Provenance(origin, call, name)
        callers = frames[frames.index(call) + 1 :] if call in frames else []
        passed = _same_object(name, root, tensor, call, callers)
        if passed is None and _is_in_a_loop(call):
            before = find_origin(name, call.scope, line)  # by the failing statement itself, an iteration ago
            if before.value is not None:
                return Provenance(before, call, name)
        passed = passed or _same_argument(root, tensor, call, callers, failure)
        if passed is None:
            return Provenance(origin, call, name)
        node, caller, path = passed
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return Provenance(Origin(kind_of(node), None, node), caller, "")
        name, call = text_of(node) + path, caller
        line, failed = call.line, call.statement
    return Provenance(origin, call, name)


def _did_not_give(name: str, tensor: Any, call: Call, node: ast.AST) -> bool:
    """Tell whether a statement certainly did not give a name its tensor: it did not run, or moves to another device."""
    if did_not_run(node, call):
        return True
    found = gives(node, name)
    if found is None or found.kind != "moved" or found.value is None or not objects.is_tensor(tensor):
        return False
    return expected_device(found.value, call) not in ("", objects.device(tensor))


def _before_what_did_not_run(origin: Origin, name: str, tensor: Any, call: Call) -> Origin | None:
    """Return what had given a name its value before a condition, if the statement in it puts a tensor elsewhere.

    Then the condition did not hold: `if not torch.is_tensor(x): x = torch.tensor(x, device=self.device)`.
    """
    statement, device = origin.statement, objects.device(tensor) if objects.is_tensor(tensor) else ""
    if origin.kind not in ("created", "moved") or not device or origin.value is None or call.scope is None:
        return None
    there = expected_device(origin.value, call)
    conditions = [node for node in ast.walk(call.scope) if isinstance(node, ast.If)]
    is_in_one = any(node is statement for condition in conditions for node in ast.walk(condition))
    if there in ("", device) or not is_in_one or not isinstance(statement, ast.stmt):
        return None
    before = find_origin(name, call.scope, statement.lineno, statement)
    above = getattr(before.statement, "lineno", 0)
    return before if before.kind == "argument" or 0 < above < statement.lineno else None


def _is_unknown(origin: Origin) -> bool:
    return origin.kind == "other" and origin.value is None


def _earlier_name(origin: Origin, tensor: Any, call: Call) -> str:
    """Return the name in the same function from which a name got its tensor, or ""."""
    if call.in_third_party and (start := _start(origin, call)):
        return start
    ways = (_alias, _created_before, _computed_from)
    return next(filter(None, (way(origin, tensor, call) for way in ways)), "")


def _same_object(
    name: str, root: str, tensor: Any, call: Call, callers: list[Call]
) -> tuple[ast.expr, Call, str] | None:
    """Find the very object in a caller: the expression there, its frame, and the path from it to the tensor."""
    whole = value(ast.Name(root, ast.Load()), call)
    for caller in callers:
        nodes = [node for node in ast.walk(caller.node) if isinstance(node, ast.expr)] if caller.node else []
        nodes = [node for node in nodes if not isinstance(node, ast.Starred)]
        for wanted, path in ((tensor, ""), (whole, name[len(root) :])):
            if objects.is_one_of(wanted, str, int, float, type(None)):
                continue  # many names may have these
            if same := [node for node in nodes if value(node, caller) is wanted]:
                return max(same, key=lambda node: len(ast.unparse(node))), caller, path
        if unpacked := _unpacked(tensor, caller):
            return unpacked[0], caller, unpacked[1]
    return None


def _same_argument(
    root: str, tensor: Any, call: Call, callers: list[Call], failure: Failure
) -> tuple[ast.expr, Call, str] | None:
    """Find the expression that a caller passes for an argument, in the call that ran its function."""
    for caller in callers:
        written = caller.node
        if not isinstance(written, ast.Call) or not _passes_on(call, caller, failure):
            continue
        if (node := written_for(root, call, written)) is not None:
            passed = value(node, caller)
            both = objects.is_tensor(passed) and objects.is_tensor(tensor)
            if not (both and objects.device(passed) != objects.device(tensor)):
                return node, caller, ""
    return None


def _unpacked(tensor: Any, caller: Call) -> tuple[ast.expr, str] | None:
    """Find a tensor in `pair` of `f(*pair)`, or in `batch` of `f(**batch)`, unless the caller was given those whole."""
    if not isinstance(caller.node, ast.Call):
        return None
    packed = [node.value for node in caller.node.args if isinstance(node, ast.Starred)]
    packed += [keyword.value for keyword in caller.node.keywords if keyword.arg is None]
    code = caller.frame.f_code
    own = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :] if code.co_flags & 0x0C else ()
    for node in packed:
        if isinstance(node, ast.Name) and node.id in own[:2]:
            continue
        for path, inner in objects.inside(value(node, caller)):
            if inner is tensor:
                return node, path
    return None


def _passes_on(call: Call, caller: Call, failure: Failure) -> bool:
    """Tell whether what the caller passes is what the callee was given."""
    between = failure.calls[failure.calls.index(caller) + 1 : failure.calls.index(call)]
    return all(frame.file.endswith(_PASS_ON) for frame in between)


def written_call(call: Call, failure: Failure) -> tuple[ast.Call, Call] | None:
    """Find how a call was written, and the call whose code that is; None where it is not known."""
    if isinstance(call, Returned):
        return (call.written, call.caller) if call.written is not None else None
    frames = failure.calls[: failure.calls.index(call)] if call in failure.calls else []
    caller = next((frame for frame in reversed(frames) if not frame.file.endswith(_PASS_ON)), None)
    return (caller.node, caller) if caller is not None and isinstance(caller.node, ast.Call) else None


def written_for(name: str, call: Call, written: ast.Call) -> ast.expr | None:
    """Return the expression that stands for the argument `name` in how a call was written."""
    for keyword in written.keywords:
        if keyword.arg == name:
            return keyword.value
    code = call.frame.f_code
    arguments = list(code.co_varnames[: code.co_argcount])
    if name not in arguments or any(isinstance(node, ast.Starred) for node in written.args):
        return None
    position = arguments.index(name) - (call.method_of is not None)
    return written.args[position] if 0 <= position < len(written.args) else None


def _from_outside(name: str, root: str, call: Call, frames: list[Call]) -> Provenance:
    """Follow a global, or a name of the function around: in the frame that has it, else in the lines of the file."""
    for frame in frames[frames.index(call) + 1 :] if call in frames else []:
        if frame.file == call.file and frame.scope is not None and root in frame.locals:
            origin = find_origin(root, frame.scope, frame.line)
            if origin.value is not None and value(ast.Name(root, ast.Load()), frame) is not MISSING:
                return Provenance(origin, frame, name)
    return Provenance(given_outside(root, call) or _UNKNOWN, call, name)


def _start(origin: Origin, call: Call) -> str:
    """Return the name that a view or a copy starts with: `x` of `x.flatten(1)`."""
    node: ast.AST | None = origin.value if origin.kind in ("call", "other") else None
    if isinstance(node, ast.Name):
        return node.id
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) and objects.is_tensor(value(node, call)) else ""


def _alias(origin: Origin, tensor: Any, call: Call) -> str:
    """Return `y0` of `y = y0`, if that is an argument and still the same tensor."""
    if origin.kind != "other" or not isinstance(origin.value, ast.Name) or not isinstance(origin.statement, ast.Assign):
        return ""
    if value(origin.value, call) is not tensor:
        return ""
    before = find_origin(origin.value.id, call.scope, origin.statement.lineno)  # type: ignore[arg-type]
    return origin.value.id if before.kind == "argument" else ""


def _created_before(origin: Origin, tensor: Any, call: Call) -> str:
    """Return `x` of `y = x.view(-1)`, if a factory created it in the same function, and it was not moved since."""
    if not isinstance(origin.statement, ast.Assign) or not (name := _start(origin, call)):
        return ""
    now = value(ast.Name(name, ast.Load()), call)
    if not (objects.is_tensor(now) and objects.is_tensor(tensor) and objects.device(now) == objects.device(tensor)):
        return ""
    before = find_origin(name, call.scope, origin.statement.lineno, origin.statement)  # type: ignore[arg-type]
    return name if before.kind == "created" else ""


def _computed_from(origin: Origin, tensor: Any, call: Call) -> str:
    """Return `boxes` of `size = boxes[:, 2:] - boxes[:, :2]`: the one tensor in it, if that is an argument."""
    if origin.kind != "other" or not isinstance(origin.statement, ast.Assign) or origin.value is None:
        return ""
    if not objects.is_tensor(tensor) or not isinstance(origin.value, ast.BinOp | ast.UnaryOp | ast.Subscript):
        return ""
    names = {node.id for node in ast.walk(origin.value) if isinstance(node, ast.Name)}
    tensors = [name for name in names if objects.is_tensor(value(ast.Name(name, ast.Load()), call))]
    if len(tensors) != 1 or objects.device(value(ast.Name(tensors[0], ast.Load()), call)) != objects.device(tensor):
        return ""
    before = find_origin(tensors[0], call.scope, origin.statement.lineno, origin.statement)  # type: ignore[arg-type]
    return tensors[0] if before.kind == "argument" else ""


def _as_it_was_reset(origin: Origin, name: str, tensor: Any, call: Call) -> Origin:
    """Return what gave the name its value further down in a loop, if the origin names another device than it has."""
    asked = device_argument(origin.value) if origin.kind == "created" and isinstance(origin.value, ast.Call) else None
    device = value(asked, call) if asked is not None else MISSING
    if not objects.is_tensor(tensor) or not (objects.is_one_of(device, str) or objects.is_device(device)):
        return origin
    if str(device).partition(":")[0] == objects.device(tensor).partition(":")[0]:
        return origin
    below = [gives(node, name) for loop in _loops(call) for node in ast.walk(loop) if node is not origin.statement]
    resets = (found for found in below if found is not None and found.kind == "created")
    return next((found for found in resets if getattr(found.statement, "lineno", 0) > call.line), origin)


def _is_in_a_loop(call: Call) -> bool:
    return any(_loops(call))


def _loops(call: Call) -> Iterator[ast.For | ast.While]:
    """Yield the loops around the line of a call."""
    for loop in ast.walk(call.scope) if call.scope is not None else ():
        if isinstance(loop, (ast.For, ast.While)) and loop.lineno <= call.line <= (loop.end_lineno or 0):
            yield loop
