"""An error after a test for a tensor's very class, `type(x) is torch.Tensor`, which a simulated GPU's tensor fails.

It is a difference of the simulation's that is known, and the program is right. The doctor does not import the
simulation: a simulated tensor carries its device, and its class the one that it stands for.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from samedevice.catalog import Other
from samedevice.doctor.diagnosis import Diagnosis
from samedevice.introspect import classes, exceptions, frames, objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.values import value

KNOWN_DIFFERENCE = "simulated_class"

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp)


def known_difference(error: BaseException, diagnosis: Diagnosis) -> Diagnosis:
    """Return what to say of an error that such a test has led to; the diagnosis as it is, of any other."""
    test = _failed_test(error)
    if test is None:
        return diagnosis
    says = (
        f"This is most likely a known difference of the simulation: `{test}` compares with the very class of a tensor. "
        "A tensor on a simulated GPU has a class that equals PyTorch's but is another object. On a real GPU it is the "
        "same one. Your program may be fine: isinstance(), and == in the place of `is`, are right on both."
    )
    known = Other(KNOWN_DIFFERENCE, "A known difference of the simulation", says, [], link="")
    return replace(diagnosis, says=says, other=known)


def _failed_test(error: BaseException) -> str | None:
    """Find the test that led to the `raise` or the `assert` of an error, as it is written, if it tests for a class."""
    calls, last = frames.calls(error), exceptions.traceback(error)
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if not calls or last is None or calls[-1].frame is not last.tb_frame or calls[-1].scope is None:
        return None
    call = calls[-1]
    for test in _tests_before(call):
        for node in ast.walk(test):
            if isinstance(node, ast.Compare) and _compares_a_simulated_class(node, test, call):
                return text_of(node)
    return None


def _tests_before(call: Call) -> Iterator[ast.expr]:
    """Yield what was asked on the way to the statement that raises, in its own function."""
    assert call.scope is not None
    nodes = [node for node in ast.walk(call.scope) if isinstance(node, ast.stmt)]
    here = [node for node in nodes if _spans(node, call.line)]
    raising = next((node for node in reversed(here) if isinstance(node, (ast.Raise, ast.Assert))), None)
    if isinstance(raising, ast.Assert):
        yield raising.test
    if raising is None:
        return
    for node in nodes:
        if isinstance(node, (ast.If, ast.While)):
            left = (node.end_lineno or 0) < raising.lineno and isinstance(node.body[-1], _LEAVES)
            if node in here or left:
                yield node.test


def _spans(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def _compares_a_simulated_class(node: ast.Compare, test: ast.expr, call: Call) -> bool:
    """Tell whether a comparison is `type(x) is C`, or its contrary, with a simulated `x` that stands for a `C`."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return False
    sides = [node.left, node.comparators[0]]
    for asked, named in (sides, sides[::-1]):
        match asked:
            case ast.Call(func=ast.Name(id="type"), args=[argument], keywords=[]):
                kind = value(named, call)
                return any(_stands_for(tensor, kind) for tensor in _meant(argument, test, call))
    return False


def _meant(argument: ast.expr, test: ast.expr, call: Call) -> Iterator[Any]:
    """Yield the tensors that an expression may stand for; in a comprehension, those that it goes through."""
    found = value(argument, call)
    if objects.is_tensor(found):
        yield found
        return
    for comprehension in ast.walk(test):
        if isinstance(comprehension, _COMPREHENSIONS) and argument in ast.walk(comprehension.elt):
            for generator in comprehension.generators:
                for name in ast.walk(generator.iter):
                    if isinstance(name, (ast.Name, ast.Attribute)):
                        yield from (tensor for _, tensor in objects.inside(value(name, call)))


def _stands_for(tensor: Any, kind: Any) -> bool:
    carried = objects.attributes(tensor).get("_samedevice_device")
    return carried is not None and classes.namespace(type(tensor)).get("original") is kind
