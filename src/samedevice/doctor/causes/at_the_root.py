"""The line to change where a tensor's root is: in a function that has returned, or where a default device was left.

It is the factory or the move itself, if a device is known there; else the call of that function in the next one
outside, and so on, up to the frame that is alive.
"""

import ast
import functools
import operator
from collections.abc import Iterator

from samedevice.doctor.causes.moves import created_on, moved_to, parts_created_on
from samedevice.doctor.causes.rewriting import statement_with, with_argument
from samedevice.doctor.causes.wanted_device import device_in_scope
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.provenance import Provenance, written_call, written_for
from samedevice.doctor.culprits.writes import is_written_in
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import device_argument, find_origin
from samedevice.introspect.returned import Returned


def at_the_root(evidence: Evidence) -> Change | None:
    """Write the lines for all roots of a tensor; None where another line is better, or a device is not known there."""
    if not any(_is_far(root, evidence) for root in evidence.roots):
        return None
    if evidence.is_between_gpus and is_written_in(evidence.call, evidence.expression.text):
        return None  # it is where the program wants it, so what is written to it comes there
    changes = [next(_changes(root, evidence), None) for root in evidence.roots]
    known = [change for change in changes if change is not None and change.parts]
    return functools.reduce(operator.add, known) if len(known) == len(changes) else None


def _is_far(root: Provenance, evidence: Evidence) -> bool:
    """Tell whether a root stands in another function than the one that names the tensor, or names a device."""
    created = root.origin.value
    if created is not None and text_of(created) != evidence.expression.text and not _is_given(created, evidence):
        return True
    return root.call is not evidence.call or (isinstance(created, ast.Call) and device_argument(created) is not None)


def _is_given(created: ast.expr, evidence: Evidence) -> bool:
    """Tell whether a statement gives what a factory creates to the name that failed."""
    found = (
        find_origin(evidence.expression.text, evidence.call.scope, evidence.call.line) if evidence.call.scope else None
    )
    return found is not None and found.kind == "created"


def _changes(root: Provenance, evidence: Evidence) -> Iterator[Change]:
    """Yield the ways to put a root elsewhere, the best first."""
    if root.origin.kind not in ("created", "moved"):
        return
    node, call = root.origin.value, root.call
    asked = device_argument(node) if isinstance(node, ast.Call) else None
    if isinstance(asked, ast.Name):
        yield from _where_it_is_called(asked.id, call, evidence)
    while isinstance(node, ast.expr) and not call.in_library:
        if device := _known_at(call, node, evidence):
            source = Source.of_call(call)
            if node is root.origin.value:
                change = _with(node, parsed(created_on(node, device, call)), call)
                yield Change(change.text, parts_created_on(source, node, device, call))
            else:
                yield Change(_with(node, moved_to(node, device), call).text, source.after(node, f".to({device})"))
        if not isinstance(call, Returned) or call.is_part:
            return
        node, call = call.written, call.caller


def _where_it_is_called(name: str, call: Call, evidence: Evidence) -> Iterator[Change]:
    """Yield the calls of a function outside, with a device in place of the one that decided, or of the default."""
    while call.scope is not None and find_origin(name, call.scope).kind == "argument":
        outer = written_call(call, evidence.failure)
        if outer is None or outer[1].in_library:
            return
        written, caller = outer
        passed = written_for(name, call, written)
        device = _known_at(caller, written, evidence)
        if passed is None and device and not any(keyword.arg is None for keyword in written.keywords):
            change = _with(written, with_argument(written, name, parsed(device)), caller)  # type: ignore[arg-type]
            parts = Source.of_call(caller).with_keyword(written, name, device)
            yield Change(change.text, parts or change.parts)
            return
        if not isinstance(passed, ast.Name):
            if passed is not None and device:
                yield _with(passed, parsed(device), caller)
            return
        name, call = passed.id, caller


def _known_at(call: Call, node: ast.expr, evidence: Evidence) -> str:
    """Return the wanted device as the code there can write it; "" where only its name in quotation marks is known."""
    device = device_in_scope(evidence, call, node.lineno)
    if device.startswith("self.") and call.function == "__init__" and not _is_set_before(device, call, node):
        device = ""
    return device or (next(_by_argument(call, evidence), "") if call.function == "__init__" else "")


def _by_argument(call: Call, evidence: Evidence) -> Iterator[str]:
    """Yield the argument `device` of `__init__`, unless what the object keeps of it is another device."""
    code = call.frame.f_code
    kept = objects.attributes(call.method_of).get("device", evidence.wanted_device)
    is_named = type(kept) is str or objects.is_device(kept)
    is_it = is_named and str(kept) in (evidence.wanted_device, evidence.wanted_device.removesuffix(":0"))
    if is_it and "device" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        yield "device"


def _is_set_before(name: str, call: Call, node: ast.expr) -> bool:
    """Tell whether a method gives an attribute its value above an expression, and not below or in another one."""
    given = find_origin(name, call.scope, node.lineno) if call.scope is not None else None
    return given is not None and isinstance(given.statement, ast.stmt) and given.statement.lineno < node.lineno


def _with(old: ast.expr, new: ast.AST, call: Call) -> Change:
    assert call.scope is not None and isinstance(new, ast.expr)
    return statement_with(Source.of_call(call), call.scope, old, new)
