"""Random generators on another device than the tensors that they fill, and the DataLoader that is given one."""

import ast
import copy
import sys
from collections.abc import Iterator

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import in_line, with_argument
from samedevice.doctor.causes.wanted_device import device_in_text
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import of_the_first_frame
from samedevice.doctor.culprits.operands import Operand
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
        if objects.is_a(argument.value, "torch._C", "Generator"):
            simulated = objects.attributes(argument.value).get("_samedevice_device")
            device = simulated or sys.modules["torch"]._C.Generator.device.__get__(argument.value)
            yield Operand(None, str(device), call, argument)


@generator.fix
def generator_there(evidence: Evidence) -> str:
    """Write the generator's own statement, on the device of what it fills."""
    device = (device_in_text(evidence.failure.text) or "cuda").removesuffix(":0")
    there = ast.parse(f'torch.Generator(device="{device}")', mode="eval").body
    if evidence.operand.call.in_library:
        return loader_with(evidence, "generator", there)
    name = evidence.expression.text
    base, _, key = name.rpartition(".")
    owner = value(parsed(base), evidence.call) if base else None
    tree = copy.deepcopy(evidence.origin.value or origins.assigned(owner, key))
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and origins.called(node) == "Generator":
            node.args, node.keywords = [], [ast.keyword("device", ast.Constant(device))]
            return f"{name} = {text_of(tree)}"  # type: ignore[arg-type]
    return f"{name} = {text_of(there)}"


def loader_with(evidence: Evidence, argument: str, new: ast.expr | None) -> str:
    """Write the statement that creates the failing loop's DataLoader, with another argument, or without it for None."""
    scope = evidence.failure.user_call.scope
    for node in ast.walk(scope) if scope is not None else ():
        if isinstance(node, ast.Call) and origins.called(node) == "DataLoader":
            changed = text_of(with_argument(node, argument, new))
            for statement in ast.walk(scope):  # type: ignore[arg-type]
                if isinstance(statement, ast.Assign) and statement.value is node:
                    return f"{text_of(statement.targets[0])} = {changed}"
            return in_line(evidence, changed, text_of(node))
    return f"DataLoader(..., {argument}={text_of(new) if new is not None else 'False'})"
