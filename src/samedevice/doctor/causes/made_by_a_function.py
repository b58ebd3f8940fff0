"""Tensors that a function or a module of the program's creates without a device and returns: it is changed there.

A move where it is called would copy the tensor in each call.
"""

import ast
import types
from collections.abc import Iterator

from samedevice.doctor.causes.moves import created_on
from samedevice.doctor.causes.rewriting import statement_with_each
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.origins import END, find_origin
from samedevice.introspect.values import function_of, returns, value


def created_in_its_function(evidence: Evidence) -> Change | None:
    """Write the factories whose tensors the function returned, with the device of a tensor that it was given."""
    call = _returned_by(evidence)
    function = _function(call, evidence)
    returned = returns(function) if function is not None else []
    tree = scope(function.__code__, globals_of(function)) if function is not None else None
    if call is None or function is None or tree is None or len(returned) != 1 or _keeps_some(tree, call, evidence):
        return None
    made = {id(node): node for node in _made(returned[0], None, tree)}
    given = _given(call, function, evidence)
    if not made or not given or find_origin(given, tree).kind != "argument":
        return None
    pairs = [(node, ast.parse(created_on(node, f"{given}.device"), mode="eval").body) for node in made.values()]
    change = statement_with_each(Source.of_method(function), tree, pairs)
    return change if change.parts else None


def _keeps_some(tree: ast.AST, call: ast.Call, evidence: Evidence) -> bool:
    """Tell whether the function's object keeps tensors where the returned one is: they would meet what was changed."""
    owner = value(call.func, evidence.origin_call)
    if not objects.is_module(owner) and isinstance(call.func, ast.Attribute):
        owner = value(call.func.value, evidence.origin_call)
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and text_of(node.value) == "self"}
    kept = [objects.attribute(owner, name) for name in names]
    return any(objects.is_tensor(held) and objects.device(held) == evidence.operand.device for held in kept)


def is_made_by_a_module(evidence: Evidence) -> bool:
    """Tell whether a module of the program's returned it, which was given what is where it is wanted."""
    node = _returned_by(evidence)
    is_a_module = node is not None and objects.is_module(value(node.func, evidence.origin_call))
    return is_a_module and created_in_its_function(evidence) is not None


def _returned_by(evidence: Evidence) -> ast.Call | None:
    """Return the call that gave the tensor, in the statement that named it or in the failing line."""
    is_unnamed = evidence.origin.value is None and evidence.call is evidence.origin_call
    node = evidence.expression.node if is_unnamed else evidence.origin.value
    return node if isinstance(node, ast.Call) and evidence.origin.kind in ("call", "other") else None


def _function(node: ast.Call | None, evidence: Evidence) -> types.FunctionType | None:
    """Return the function that a call runs; of a module, its `forward`."""
    if node is None:
        return None
    called = value(node.func, evidence.origin_call)
    if objects.is_module(called):
        return objects.method(called, "forward")
    return function_of(node.func, evidence.origin_call)


def _given(node: ast.Call, function: types.FunctionType, evidence: Evidence) -> str:
    """Return the argument for which the call passed a tensor that is where the other one is wanted.

    It is "" where the call passed one that is elsewhere, too: then that one may be the culprit.
    """
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    positional = names[1:] if names[:1] == ("self",) else names
    passed = [*zip(positional, node.args, strict=False), *((word.arg, word.value) for word in node.keywords)]
    tensors = [(name, value(part, evidence.origin_call)) for name, part in passed if name]
    devices = [(name, objects.device(tensor)) for name, tensor in tensors if objects.is_tensor(tensor)]
    if any(device == evidence.operand.device for _, device in devices):
        return ""
    return next((name for name, device in devices if device == evidence.wanted_device), "")


def _made(
    node: ast.expr, failed: ast.stmt | None, tree: ast.AST, line: int = END, depth: int = 4
) -> Iterator[ast.Call]:
    """Yield the factories without a device that an expression is made of."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and origins.creates(inner) and origins.device_argument(inner) is None:
            if origins.decided_by(origins.called(inner)) != "cpu":
                yield inner
        elif isinstance(inner, ast.Name) and depth > 0:
            origin = find_origin(inner.id, tree, line, failed)
            if origin.value is not None and isinstance(origin.statement, ast.stmt):
                yield from _made(origin.value, origin.statement, tree, origin.statement.lineno, depth - 1)
