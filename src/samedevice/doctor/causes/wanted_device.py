"""The device where a tensor is wanted, as the program itself calls it."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import attributes
from samedevice.doctor.culprits.passed_on import device_passed
from samedevice.introspect import objects
from samedevice.introspect.branches import runs_before
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import find_origin, is_move
from samedevice.introspect.returned import Returned
from samedevice.introspect.values import value, value_in


def device_at(evidence: Evidence, call: Call, line: int) -> str:
    """Write the wanted device as a frame can at one of its lines; its name in quotation marks where nothing has it."""
    wanted = evidence.wanted_device or device_in_text(evidence.failure.text)
    if not wanted:
        return '"cuda"'
    if evidence.failure.runs_below_in("torch/distributed/"):
        wanted = wanted.partition(":")[0]  # each process of a group has a GPU of its own
    return device_in_scope(evidence, call, line) or _as_written_there(wanted, call)


def device_in_scope(evidence: Evidence, call: Call, line: int) -> str:
    """Write the wanted device by what a frame has at one of its lines; "" where nothing there has it.

    That is a variable that holds it, or the `.device` of a tensor or of a module's parameters there.
    """
    wanted = evidence.wanted_device or device_in_text(evidence.failure.text)
    return device_held(evidence, call, line, wanted) if wanted else ""


def device_held(evidence: Evidence, call: Call, line: int, device: str) -> str:
    """Write a device by what a frame has there at one of its lines; "" where nothing has it."""
    return next((text for way in _WAYS for text in way(evidence, call, line, device)), "")


def _as_written_there(wanted: str, call: Call) -> str:
    """Write a device's name as the function does: "cuda" where it says that, which is the first GPU by default."""
    nodes = ast.walk(call.scope) if call.scope is not None else ()
    says_cuda = any(isinstance(node, ast.Constant) and node.value == "cuda" for node in nodes)
    return '"cuda"' if wanted == "cuda:0" and says_cuda else f'"{wanted}"'


def _by_a_variable(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the variables of a frame's own that hold the wanted device."""
    names = [(name, object_) for name, object_ in evidence.failure.names(call) if name in call.locals]
    return _variables_of(names, evidence, call, line, wanted)


def _by_an_argument(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of the tensors that a function was given: they are right wherever its caller computes."""
    for name in _tensors_there(evidence, call, line, wanted):
        if call.scope is not None and find_origin(name, call.scope, line).kind == "argument":
            yield f"{name}.device"


def _by_what_was_passed(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of what a function was given that has returned, where the calling code tells them."""
    if not isinstance(call, Returned):
        return
    for name in call.passed:
        is_its_own = call.scope is not None and find_origin(name, call.scope, line).kind == "argument"
        if is_its_own and name not in call.locals and device_passed(name, call) == wanted:
            yield f"{name}.device"


def _by_a_global(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the variables outside of the function that hold the wanted device."""
    used = [(name, object_) for name, object_ in evidence.failure.names(call) if name not in call.locals]
    devices = [(name, object_) for name, object_ in call.globals.items() if objects.is_device(object_)]
    return _variables_of([*used, *devices], evidence, call, line, wanted)


def _variables_of(
    names: list[tuple[str, Any]], evidence: Evidence, call: Call, line: int, wanted: str
) -> Iterator[str]:
    for name, object_ in names if not evidence.failure.user_call.in_library else ():
        for variable in variables(name, object_, wanted, is_itself=name == call.itself):
            if is_public(variable, call) and _has_value(name, call, line):
                yield variable


def _by_a_tensor(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of the tensors that the frame names and that are there, those of the failing line first."""
    yield from (f"{name}.device" for name in _tensors_there(evidence, call, line, wanted))


def _tensors_there(evidence: Evidence, call: Call, line: int, wanted: str) -> list[str]:
    """Return the names of the tensors that a frame has there, those of the failing line first."""
    there = [
        name
        for name, object_ in evidence.failure.names(call)
        if objects.is_tensor(object_) and objects.device(object_) == wanted and _has_value(name, call, line)
    ]
    operands = {id(tensor) for tensor in _other_tensors(evidence)}
    return sorted(there, key=lambda name: id(call.locals.get(name)) not in operands)


def _by_an_operand(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of the other operands, as the failing line writes them."""
    for tensor in _other_tensors(evidence) if call is evidence.failure.user_call else ():
        named = evidence.failure.expression(tensor, [call])
        if named and _has_value(_root(named[0].text), call, line):
            yield f"{named[0].text}.device"


def _by_a_parameter(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of parameters on a second GPU, whose number may be another one in the next run."""
    for tensor in _other_tensors(evidence) if wanted not in ("cpu", "cuda:0") else ():
        holder = evidence.failure.holder(tensor)
        if holder is not None and holder.moves:
            for name, object_ in evidence.failure.names(call):
                if object_ is holder.inner and name != call.itself and _has_value(name, call, line):
                    yield f"{name}.{holder.path.rpartition('.')[2]}.device"
            yield from _by_a_called_module(tensor, holder.inner, evidence, call, line)
            if holder.is_named and _has_value(holder.root, call, line):
                yield f"{holder.expression}.device"


def _by_a_called_module(tensor: Any, layer: Any, evidence: Evidence, call: Call, line: int) -> Iterator[str]:
    """Yield the device of the module that the failing line calls, if the tensor is in it and all of it is there."""
    for node in ast.walk(call.statement) if call.statement is not None else ():
        name, module = (text_of(node.func), value(node.func, call)) if isinstance(node, ast.Call) else ("", None)
        is_around = objects.is_module(module) and module is not layer
        is_there = is_around and tuple(evidence.failure.devices(module)) == (objects.device(tensor),)
        if is_there and id(tensor) in evidence.failure.registered(module) and _has_value(_root(name), call, line):
            yield f"next({name}.parameters()).device"


def _by_a_module(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of the modules that a function names and that are there as a whole."""
    names = evidence.failure.names(call) if call.function != "<module>" else []
    for name, object_ in names:
        devices = evidence.failure.devices(object_) if objects.is_module(object_) else frozenset()
        if devices == {wanted} and _has_value(name, call, line):
            yield f"next({name}.parameters()).device"


def _by_a_part(evidence: Evidence, call: Call, line: int, wanted: str) -> Iterator[str]:
    """Yield the devices of what is part of something there: a model that an object has, a tensor in a batch."""
    if call.function == "<module>":
        return
    for name, module in evidence.failure.named_modules(call):
        devices = evidence.failure.devices(module)
        if "." in name and devices == {wanted} and is_public(name, call) and _has_value(_root(name), call, line):
            yield f"next({name}.parameters()).device"
    for name, object_ in evidence.failure.names(call):
        if objects.is_module(object_):
            own = objects.attributes(object_)
            parts = [
                (f".{key}", tensor) for kind in ("_parameters", "_buffers") for key, tensor in own.get(kind, {}).items()
            ]
        else:
            parts = list(objects.inside(object_)) if name in call.locals else []
            parts += [(f".{key}", kept) for key, kept in attributes(object_)] if name == call.itself else []
        for path, tensor in parts:
            there = objects.is_tensor(tensor) and objects.device(tensor) == wanted
            if path and there and is_public(name + path, call) and _has_value(name, call, line):
                yield f"{name}{path}.device"


# What a frame has of its own comes first, and what is right wherever the caller computes.
_WAYS = (
    _by_a_variable,
    _by_an_argument,
    _by_what_was_passed,
    _by_a_global,
    _by_a_tensor,
    _by_an_operand,
    _by_a_parameter,
    _by_a_module,
    _by_a_part,
)


def is_public(text: str, call: Call) -> bool:
    """Tell whether an expression reads no private attribute, but for those of the object whose method runs."""
    return not re.search(r"\._", text.removeprefix(f"{call.itself}._") if call.itself else text)


def _root(name: str) -> str:
    return (re.match(r"\w*", name) or [""])[0]


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


def variables(name: str, object_: Any, wanted: str, depth: int = 2, *, is_itself: bool = True) -> list[str]:
    """Return what holds a device: a name itself, an attribute or a property of its object, or one of an attribute.

    Args:
        name: such as "device", "args" or "self".
        object_: what it stands for.
        wanted: the device, as PyTorch writes it.
        depth: how many attributes deep to look.
        is_itself: whether a method of this object runs: only then the attributes of a module are looked at.
    """
    if objects.is_device(object_) or (type(object_) is str and "dev" in name.rpartition(".")[2].lower()):
        return [name] if str(object_) in (wanted, wanted.removesuffix(":0")) else []
    if depth == 0 or objects.is_tensor(object_) or (objects.is_module(object_) and not is_itself):
        return []
    # accelerate's hook is no name of the program's, and is not there where the model was not dispatched.
    parts = [(key, inner) for key, inner in attributes(object_) if type(key) is str and key != "_hf_hook"]
    if objects.getter(object_, "device") is not None:
        parts.append(("device", value_in(ast.parse("self.device", mode="eval").body, object_)))
    return [
        text for key, inner in parts for text in variables(f"{name}.{key}", inner, wanted, depth - 1, is_itself=False)
    ]


def _moves(name: str, scope: ast.AST) -> list[ast.Call]:
    """Return the calls that move a module of this name, or a part of it."""
    calls = [node for node in ast.walk(scope) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    moves = [node for node in calls if is_move(node.func.attr)]  # type: ignore[attr-defined]
    return [node for node in moves if _root(text_of(node.func.value)) == name]  # type: ignore[attr-defined]


def _has_value(name: str, call: Call, line: int) -> bool:
    """Tell whether a name has its value before a line of its frame."""
    if name in call.locals and line < call.frame.f_code.co_firstlineno:
        return False  # the line is above the function, such as a lambda, whose local name it is
    if name == call.itself:
        return True
    if name not in call.locals:
        return name in call.globals
    if name in call.frame.f_code.co_freevars:
        return True
    if call.scope is None:
        return True
    origin = find_origin(name, call.scope, line, call.statement if line == call.line else None)
    if origin.kind == "other" and origin.statement is None:
        return _is_bound_above(name, call, line)
    if find_origin(name, call.scope, call.line, call.statement).statement is not origin.statement:
        return False  # it stands for something else by now
    if origin.kind == "argument":
        return True
    given = origin.statement
    if given is None or (getattr(given, "lineno", None) or 0) >= line:
        return False
    if any(move.lineno >= line for move in _moves(name, call.scope)):
        return False  # it is where it is since a later line
    # A loop gives its variable within it alone.
    is_around = not isinstance(given, (ast.For, ast.AsyncFor)) or line <= (given.end_lineno or 0)
    code = call.frame.f_code
    is_given = name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]  # whatever a branch makes of it
    return is_around and (is_given or runs_before(given, line, call.scope))


def _is_bound_above(name: str, call: Call, line: int) -> bool:
    """Tell whether a name that no assignment gives has its value at a line: an import gave it, or another cell.

    Of what other cells gave, only a device counts, and what this cell uses, too.
    """
    bound: list[ast.stmt] = []
    scope = call.scope or ast.Pass()
    for node in ast.walk(scope):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found = any((each.asname or each.name.partition(".")[0]) == name for each in names)
            case ast.FunctionDef(name=given) | ast.ClassDef(name=given):
                found = given == name
            case ast.With(items=items):
                given_by = [each.optional_vars for each in items if each.optional_vars is not None]
                found = any(text_of(part) == name for each in given_by for part in ast.walk(each))
            case _:
                continue
        bound += [node] * found
    is_of_a_cell = call.function == "<module>" or call.function.startswith("<cell line")
    is_meant = name in call.frame.f_code.co_names or objects.is_device(call.locals.get(name))
    if not bound:
        return is_of_a_cell and is_meant
    return any(node.lineno < line and runs_before(node, line, scope) for node in bound)
