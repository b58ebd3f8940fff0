"""Where a tensor was that a function was given which has returned: by the code that called it, as far as that tells."""

import ast

from samedevice.doctor.culprits.expected_device import device_named, expected_device
from samedevice.introspect import objects
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import called, decided_by, device_argument, find_origin, kind_of
from samedevice.introspect.returned import Returned, statement_with
from samedevice.introspect.values import value

_STEPS = 8  # from name to name
_KEEP = ("copy", "view", "like")


def device_passed(name: str, call: Returned) -> str:
    """Return the device of what a caller passed for an argument; "" where its code does not tell."""
    passed = call.passed.get(name)
    return _device_of(passed, call.caller, statement_with(call), _STEPS) if passed is not None else ""


def _device_of(node: ast.expr, call: Call, statement: ast.stmt | None, steps: int) -> str:
    """Return the device of an expression in the code of a call, at a statement of it."""
    known = value(node, call)
    if known is not MISSING:
        return objects.device(known) if objects.is_tensor(known) else ""
    if steps == 0 or call.scope is None:
        return ""
    match node:
        case ast.Name(id=name):
            line = statement.lineno if statement is not None else call.line
            origin = find_origin(name, call.scope, line, statement)
            if origin.kind == "argument":
                passed = call.passed.get(name) if isinstance(call, Returned) else None
                above = statement_with(call) if isinstance(call, Returned) else None
                return _device_of(passed, call.caller, above, steps - 1) if passed is not None else ""  # type: ignore[attr-defined]
            if origin.value is not None and isinstance(origin.statement, ast.Assign):
                return _device_of(origin.value, call, origin.statement, steps - 1)
        case ast.Call():
            return _of_a_call(node, call, statement, steps)
    return ""


def _of_a_call(node: ast.Call, call: Call, statement: ast.stmt | None, steps: int) -> str:
    """Return the device of a factory, of a move, and of what PyTorch computes of one tensor."""
    asked = device_argument(node)
    if kind_of(node) == "moved" and asked is None and node.args:
        asked = node.args[0]
    if asked is not None:
        if isinstance(asked, ast.Attribute) and asked.attr == "device":
            return _device_of(asked.value, call, statement, steps - 1)
        return device_named(asked, call)
    if kind_of(node) in ("created", "moved"):
        return expected_device(node, call)
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    if base is not None and decided_by(called(node)) in _KEEP:
        return _device_of(base, call, statement, steps - 1)
    return ""
