"""Random generators on another device than the tensors that they fill, and the DataLoader that is given one."""

import ast
import sys
from collections.abc import Iterator

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import in_line, replaced, with_argument
from samedevice.doctor.causes.wanted_device import device_held, device_in_text
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import of_the_first_frame
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.values import arguments, value

generator = cause("generator_device", is_alone=True)


@generator.find
def generator_passed(failure: Failure) -> list[Operand]:
    """Find the generator of the innermost frame that has one."""
    return of_the_first_frame(failure.calls_below, _generators)


def _generators(call: Call) -> Iterator[Operand]:
    for argument in arguments(call):
        if objects.is_generator(argument.value):
            simulated = objects.attributes(argument.value).get("_samedevice_device")
            device = simulated or sys.modules["torch"]._C.Generator.device.__get__(argument.value)
            yield Operand(None, str(device), call, argument)


@generator.fix
def generator_there(evidence: Evidence) -> Change:
    """Draw on the generator's device where the line names none; else write the generator's own statement.

    A generator that is created anew in each call would give the same numbers each time, so no line does that.
    """
    device = (device_in_text(evidence.failure.text) or "cuda").removesuffix(":0")
    there = ast.parse(f'torch.Generator(device="{device}")', mode="eval").body
    if evidence.operand.call.in_library:
        return loader_with(evidence, "generator", there)
    name, drawn = evidence.expression.text, evidence.call.node
    if isinstance(drawn, ast.Call) and origins.creates(drawn) and origins.device_argument(drawn) is None:
        its_own = device_held(evidence, evidence.call, drawn.lineno, _numbered(evidence.operand.device))
        where = its_own or f"{name}.device"
        new = with_argument(drawn, "device", ast.parse(where, mode="eval").body)
        change = in_line(evidence, text_of(new), text_of(drawn))
        if not its_own and _may_be_none(name, evidence.call):
            return Change(change.text)
        parts = Source.of_call(evidence.call).with_keyword(drawn, "device", where)
        return Change(change.text, parts or change.parts)
    base, _, key = name.rpartition(".")
    owner = value(parsed(base), evidence.call) if base else None
    written = [(evidence.origin.value, Source.of_call(evidence.origin_call), True)]
    if assignment := origins.assigned(owner, key):
        written.append((assignment.value, Source.of_method(assignment.method), False))
    for tree, source, is_alive in written:
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and origins.called(node) == "Generator":
                asked = next(iter([*node.args, *filter(None, [origins.device_argument(node)])]), None)
                if not is_alive and asked is not None and not isinstance(asked, ast.Constant):
                    return Change(f"{name} = {text_of(there)}")  # what the object is given decides
                changed = ast.Call(node.func, [], [ast.keyword("device", ast.Constant(device))])
                line = f"{name} = {text_of(replaced(tree, node, changed))}"
                return Change(line, source.replaced(node, text_of(changed)))
    return Change(f"{name} = {text_of(there)}")


def _numbered(device: str) -> str:
    """Return a device as a tensor has it: a generator of "cuda" fills tensors on cuda:0."""
    return "cuda:0" if device == "cuda" else device


def _may_be_none(name: str, call: Call) -> bool:
    """Tell whether a name is an argument that its function need not be given."""
    for node in ast.walk(call.scope) if call.scope is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            positional = [*given.posonlyargs, *given.args]
            optional = positional[len(positional) - len(given.defaults) :]
            keywords = zip(given.kwonlyargs, given.kw_defaults, strict=True)
            return name in {each.arg for each in [*optional, *(each for each, default in keywords if default)]}
    return False


def loader_with(evidence: Evidence, argument: str, new: ast.expr | None) -> Change:
    """Write the statement that creates the failing loop's DataLoader, with another argument, or without it for None."""
    failing = evidence.failure.user_call
    for call in evidence.failure.user_calls:
        for node, statement in _loaders(call):
            changed = text_of(with_argument(node, argument, new))
            edits = Source.of_call(call).replaced(node, changed)
            if statement is not None and (call is failing or _is_passed_on(value(statement.targets[0], call), failing)):
                return Change(f"{text_of(statement.targets[0])} = {changed}", edits)
            if statement is None and call is failing:
                return Change(in_line(evidence, changed, text_of(node)).text, edits)
    if isinstance(evidence.expression.node, ast.Attribute):
        owner = value(evidence.expression.node.value, evidence.call)
        made = origins.assigned(owner, evidence.expression.node.attr)
        if made is not None and isinstance(made.value, ast.Call) and origins.called(made.value) == "DataLoader":
            changed = text_of(with_argument(made.value, argument, new))
            edits = Source.of_method(made.method).replaced(made.value, changed)
            return Change(f"{evidence.expression.text} = {changed}", edits)
    return Change(f"DataLoader(..., {argument}={text_of(new) if new is not None else 'False'})")


def _loaders(call: Call) -> Iterator[tuple[ast.Call, ast.Assign | None]]:
    """Yield the calls of a frame that create a DataLoader, and the statements that give it a name."""
    nodes = list(ast.walk(call.scope)) if call.scope is not None else []
    for node in nodes:
        if isinstance(node, ast.Call) and origins.called(node) == "DataLoader":
            yield node, next((each for each in nodes if isinstance(each, ast.Assign) and each.value is node), None)


def _is_passed_on(loader: object, call: Call) -> bool:
    """Tell whether a frame has a DataLoader that an outer one created."""
    return objects.is_a(loader, "torch.utils.data", "DataLoader") and any(
        held is loader for held in call.locals.values()
    )
