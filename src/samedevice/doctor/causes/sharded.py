"""A plain tensor met a DTensor, which FSDP2 and tensor parallelism make of a parameter: no device is wrong."""

import ast
import math
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.causes.moved import assigned
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand, operands_of
from samedevice.doctor.edits import Change
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.placement.holders import step

plain = cause("plain_tensor_met_dtensor", is_alone=True)


@plain.find
def plain_beside_sharded(failure: Failure) -> list[Operand]:
    """Find the plain tensors of the innermost frame that has a DTensor, too; a single number may join one."""
    for call in failure.calls_below:
        operands = [operand for operand in operands_of(call) if operand.tensor is not None]
        if any(is_sharded(operand.tensor) for operand in operands):
            return [one for one in operands if not is_sharded(one.tensor) and math.prod(_shape(one.tensor)) != 1]
    return []


@plain.fix
def spread_or_gathered(evidence: Evidence) -> Change | None:
    """Let FSDP gather the weights for a method that it does not know; else spread the tensor as the other one is."""
    if (method := _unknown_method(evidence.failure)) is not None:
        root, name = method
        return Change(f'register_fsdp_forward_method({root}, "{name}")  # once, after fully_shard')
    layer = next(iter(_layers(evidence.failure)), "")
    if layer:
        return Change(f"fully_shard({layer})  # or call the module that you sharded, not a layer of it")
    other = next((text for text in _sharded_names(evidence)), "weight")
    name = evidence.expression.text
    if (loop := _loop_over(evidence)) is not None:  # a new tensor of that name would not come into the list
        each = f"distribute_tensor({name}, {other}.device_mesh, {other}.placements)"
        return Change(f"{loop[0]} = [{each} for {loop[1]}]  # once, before the loop")
    return assigned(evidence, f"distribute_tensor({name}, {other}.device_mesh, {other}.placements)")


@plain.say
def is_plain(expression: str, device: str, shape: tuple[int, ...] | None) -> str:
    """Say what is wrong with it, which is not its device."""
    return f"`{expression}` (shape {shape}) is a plain tensor."


def is_sharded(tensor: Any) -> bool:
    """Tell whether it is a DTensor."""
    return objects.is_a(tensor, "torch.distributed.tensor", "DTensor")


def _shape(tensor: Any) -> tuple[int, ...]:
    return objects.shape(tensor) or ()


def _unknown_method(failure: Failure) -> tuple[str, str] | None:
    """Return the module that was sharded and its method that computes, where that is not `forward`."""
    for call in failure.user_calls:
        module = call.locals.get("self")
        if call.function not in ("forward", "__init__") and gathers(module):
            names = [name for name, named in failure.modules() if named is module]
            return next((name for name in names if name != "self"), "model"), call.function
    return None


def gathers(module: Any) -> bool:
    """Tell whether `fully_shard` was called with this module: it has another class since."""
    kinds = classes.mro(type(module)) if objects.is_module(module) else ()
    return any(classes.name(kind) == "FSDPModule" for kind in kinds)


def _layers(failure: Failure) -> Iterator[str]:
    """Yield the names of the layers that were called and whose weights are DTensors."""
    names = {id(module): name for name, module in named_with_layers(failure)[::-1]}
    for call in failure.calls_below:
        module = call.locals.get("self")
        own = objects.attributes(module).get("_parameters", {}) if _is_layer(call, module) else {}
        if any(is_sharded(parameter) for parameter in own.values()) and id(module) in names:
            yield names[id(module)]


def named_with_layers(failure: Failure) -> list[tuple[str, Any]]:
    """Return the modules that the user's frames name, each with all that are in it."""
    found, known = failure.modules(), set()
    for name, module in found:  # grows on the way
        if id(module) not in known:
            known.add(id(module))
            inner = objects.attributes(module).get("_modules", {}).items()
            found += [(name + step(module, key), layer) for key, layer in inner if objects.is_module(layer)]
    return found


def _is_layer(call: Call, module: Any) -> bool:
    return call.function == "forward" and call.in_library and objects.is_module(module)


def _loop_over(evidence: Evidence) -> tuple[str, str] | None:
    """Return the list that the loop around the failing line takes it from, and that loop: `a, p in zip(x, y)`."""
    name, scope = evidence.expression.text, evidence.call.scope
    for loop in ast.walk(scope) if scope is not None else ():
        if isinstance(loop, ast.For) and loop.lineno <= evidence.call.line <= (loop.end_lineno or 0):
            match loop.target, loop.iter:
                case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=lists):
                    pairs = list(zip(map(text_of, targets), map(text_of, lists), strict=False))
                case target, source:
                    pairs = [(text_of(target), text_of(source))]
            if name in dict(pairs):
                return dict(pairs)[name], f"{text_of(loop.target).strip('()')} in {text_of(loop.iter)}"
    return None


def _sharded_names(evidence: Evidence) -> Iterator[str]:
    for operand in operands_of(evidence.operand.call):
        is_named = isinstance(operand.argument.node, (ast.Name, ast.Attribute, ast.Subscript))
        if is_named and not operand.within and operand.tensor is not None and is_sharded(operand.tensor):
            yield operand.argument.expression.text
