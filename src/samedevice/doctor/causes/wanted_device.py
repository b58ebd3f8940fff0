"""The device where a tensor is wanted, as the program itself calls it."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import attributes
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import find_origin
from samedevice.introspect.returned import Returned


def device_at(evidence: Evidence, call: Call, line: int) -> str:
    """Write the wanted device as a frame can at one of its lines.

    That is a variable that holds it, the `.device` of a tensor or of a module's parameters there, or its name in
    quotation marks.
    """
    wanted = evidence.wanted_device or device_in_text(evidence.failure.text)
    if not wanted:
        return '"cuda"'
    ways = (_by_a_variable, _by_a_tensor, _by_an_operand, _by_a_parameter, _by_a_module)
    written = (text for way in ways for text in way(evidence, call, line, wanted))
    # Each process of a group has a GPU of its own.
    number = "" if evidence.failure.runs_below_in("torch/distributed/") else wanted
    return next(written, f'"{number or wanted.partition(":")[0]}"')


def _by_a_variable(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the variables that hold the wanted device."""
    globals_ = [(name, object_) for name, object_ in call.globals.items() if objects.is_device(object_)]
    names = [*evidence.failure.names(call), *globals_] if not evidence.failure.user_call.in_library else []
    for name, object_ in names:
        for variable in _variables(name, object_, wanted):
            if _has_value(name, call, line):
                yield variable


def _by_a_tensor(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of the tensors that the frame names and that are there, those of the failing line first."""
    there = [
        name
        for name, object_ in evidence.failure.names(call)
        if objects.is_tensor(object_) and objects.device(object_) == wanted and _has_value(name, call, line)
    ]
    operands = {id(tensor) for tensor in _other_tensors(evidence)}
    yield from (f"{name}.device" for name in sorted(there, key=lambda name: id(call.locals.get(name)) not in operands))


def _by_an_operand(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of the other operands, as the failing line writes them."""
    for tensor in _other_tensors(evidence) if call is evidence.failure.user_call else ():
        named = evidence.failure.expression(tensor, [call])
        if named and _has_value((re.match(r"\w*", named[0].text) or [""])[0], call, line):
            yield f"{named[0].text}.device"


def _by_a_parameter(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of parameters on a second GPU, whose number may be another one in the next run."""
    for holder in map(evidence.failure.holder, _other_tensors(evidence)) if wanted not in ("cpu", "cuda:0") else ():
        if holder is not None and holder.moves:
            for name, object_ in evidence.failure.names(call):
                if object_ is holder.inner and name != "self" and _has_value(name, call, line):
                    yield f"{name}.{holder.path.rpartition('.')[2]}.device"
            if holder.is_named and _has_value(holder.root, call, line):
                yield f"{holder.expression}.device"


def _by_a_module(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of the modules that a function names and that are there as a whole."""
    names = evidence.failure.names(call) if call.function != "<module>" else []
    for name, object_ in names:
        devices = (
            {objects.device(tensor) for tensor in objects.parameters(object_)} if objects.is_module(object_) else ()
        )
        if devices == {wanted} and _has_value(name, call, line):
            yield f"next({name}.parameters()).device"


def _other_tensors(evidence: Evidence) -> list[Any]:
    """Return the tensors that the culprit met."""
    return [operand.tensor for operand in evidence.other_operands if operand.tensor is not None]


def device_asked_for(evidence: Evidence) -> str:
    """Write the device that the failing `.to(device)` asks for."""
    call = evidence.failure.user_call
    node = call.node
    if isinstance(node, ast.Attribute):
        calls = [inner for inner in ast.walk(call.statement) if isinstance(inner, ast.Call)] if call.statement else []
        node = next((inner for inner in calls if text_of(inner.func) == text_of(node)), node)
    return text_of(node.args[0]) if isinstance(node, ast.Call) and node.args else '"cuda"'


def device_in_text(text: str) -> str:
    """Return the device that the message about a generator says is wanted."""
    match = re.search(r"Expected an? '(\w+(?::\d+)?)' ", text)
    return match[1] if match else ""


def _variables(name: str, object_: Any, wanted: str) -> list[str]:
    """Return the variables that hold the wanted device: the name itself, or attributes of its object."""
    devices = (wanted, wanted.removesuffix(":0"))
    if objects.is_device(object_) or (type(object_) is str and "dev" in name.lower()):
        return [name] if str(object_) in devices else []
    if objects.is_tensor(object_) or (objects.is_module(object_) and name != "self"):
        return []
    return [
        f"{name}.{key}"
        for key, inner in attributes(object_)
        if (objects.is_device(inner) or (type(inner) is str and "dev" in key.lower())) and str(inner) in devices
    ]


def _has_value(name: str, call: Call, line: int) -> bool:
    """Tell whether a name has its value before a line of its frame."""
    if name in call.locals and line < call.frame.f_code.co_firstlineno:
        return False  # the line is above the function, such as a lambda, whose local name it is
    if name == "self":
        return name in call.locals
    if name not in call.locals and isinstance(call, Returned):
        return name in call.globals
    if name not in call.locals or name in call.frame.f_code.co_freevars:
        return True
    if call.scope is None:
        return True
    origin = find_origin(name, call.scope, line)
    if find_origin(name, call.scope, call.line, call.statement).statement is not origin.statement:
        return False  # it stands for something else by now
    if origin.kind == "argument":
        return True
    return origin.statement is not None and (getattr(origin.statement, "lineno", None) or 0) < line
