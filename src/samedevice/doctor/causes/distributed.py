"""DistributedDataParallel still waits for parameters that had no part in the loss."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import before_line
from samedevice.doctor.causes.used_in_forward import Layer, layer_of
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import Origin, find_origin
from samedevice.introspect.values import Argument, function_of, value
from samedevice.placement.holders import step

unused = cause("ddp_unused_parameters", is_alone=True)
left_out = cause("ddp_output_left_out_of_loss", is_alone=True)


@unused.find
def waited_for(failure: Failure) -> Iterator[Operand]:
    """Find the parameters whose indices the message names.

    They count, from 0, what requires a gradient, in the order of `named_parameters()`.
    """
    match = re.search(r"Parameter indices which did not receive grad for rank \d+:((?: \d+)+)", failure.text)
    wrapped = _wrapped(failure)
    root = _root(wrapped, failure) or f"{_named(failure, _wrapper(failure)) or 'model'}.module"
    parameters = {
        id(parameter): (path, parameter)
        for path, parameter in _parameters(root, wrapped)
        if objects.requires_grad(parameter)
    }
    for index in map(int, match[1].split() if match else ()):
        if index < len(parameters):
            path, parameter = list(parameters.values())[index]
            argument = Argument(ast.parse(path, mode="eval").body, parameter)
            origin = Origin("other", None, None)
            yield Operand(parameter, objects.device(parameter), failure.user_call, argument, origin=origin)


@left_out.claim
def are_used_in_forward(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim it where `forward` uses all of them in each call, so that only the loss can have left them out."""
    operands = list(waited_for(failure)) if list(likely[:1]) == [unused.id] else []
    layers = [_layer(operand.tensor, failure) for operand in operands]
    return operands if operands and all(layer.use == "always" for layer in layers) else None


@unused.fix
def frozen(evidence: Evidence) -> Change:
    """Freeze the layer that `forward` does not use, before the wrapper looks at what requires a gradient.

    A layer that it uses must not be frozen: it would no longer learn.
    """
    failure = evidence.failure
    layer = _layer(evidence.operand.tensor, failure)
    if layer.use == "always":
        return in_the_loss(evidence)
    if layer.use == "sometimes":
        path = evidence.expression.text.rpartition(".")[0]
        return Change(f"let the loss of every step use {path}, or set find_unused_parameters=True")
    wrapped = _wrapped(failure)
    root = _root(wrapped, failure)
    for call in failure.user_calls if root else ():
        statement = _wraps(wrapped, call)
        if statement is not None:
            return before_line(call, f"{root}{layer.path}.requires_grad_(False)", statement)
    if not root:  # it has no name but that of the wrapper, which is made too late for this
        name = layer.path.removeprefix(".")
        return Change(f"freeze {name} with requires_grad_(False) before DistributedDataParallel wraps the model")
    return Change(f"{root}{layer.path}.requires_grad_(False)  # before DistributedDataParallel wraps it")


@left_out.fix
def in_the_loss(evidence: Evidence) -> Change:
    """Say what is missing in the loss, and which loss that is: nobody but the program's author knows the term."""
    path = evidence.expression.text.rpartition(".")[0]
    loss = _loss(evidence.failure.user_call)
    return Change(f"compute the loss{f' in {loss}' if loss else ''} from what {path} returns, too")


@unused.say
def had_no_part(expression: str, device: str, shape: tuple[int, ...] | None) -> str:
    """Say what is wrong with it, which is not its device."""
    return f"`{expression}` (shape {shape}) had no part in the loss."


@left_out.say
def was_left_out(expression: str, device: str, shape: tuple[int, ...] | None) -> str:
    """Say that the loss is what lacks it."""
    return f"`{expression}` (shape {shape}) had no part in the loss, though `forward` uses it."


def _layer(parameter: Any, failure: Failure) -> Layer:
    return layer_of(parameter, _wrapped(failure))


def _loss(call: Call) -> str:
    """Return the function that computes the loss of the failing frame, or its expression where it is no function."""
    for node in ast.walk(call.scope) if call.scope is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(attr="backward", value=ast.Name(id=name))):
                found = find_origin(name, call.scope, node.lineno).value  # type: ignore[arg-type]
            case ast.Call(func=ast.Attribute(attr="backward", value=ast.Call() as found)):
                pass
            case _:
                continue
        if isinstance(found, ast.Call):
            function = function_of(found.func, call)
            return function.__name__ if function is not None and not call.in_library else text_of(found.func)
    return ""


def _wraps(wrapped: Any, call: Call) -> ast.stmt | None:
    """Return the statement of a frame that wraps a model in DistributedDataParallel."""
    for node in ast.walk(call.scope) if call.scope is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
            is_wrapper = _is_wrapper(value(node.targets[0], call))
            if is_wrapper and value(node.value.args[0], call) is wrapped:
                return node
    return None


def _wrapper(failure: Failure) -> Any:
    """Return the DistributedDataParallel whose method is among the frames, or None."""
    selves = (call.locals.get("self") for call in failure.calls_below)
    return next((module for module in selves if _is_wrapper(module)), None)


def _wrapped(failure: Failure) -> Any:
    return objects.attributes(_wrapper(failure)).get("_modules", {}).get("module")


def _root(wrapped: Any, failure: Failure) -> str:
    """Return what the program calls the wrapped model; "" where it has no name but that of the wrapper."""
    return _named(failure, wrapped) if wrapped is not None else ""


def _named(failure: Failure, module: Any) -> str:
    return next((name for name, held in failure.modules() if held is module), "")


def _parameters(path: str, module: Any) -> Iterator[tuple[str, Any]]:
    own = objects.attributes(module)
    for name, parameter in own.get("_parameters", {}).items():
        if parameter is not None:
            yield path + step(module, name), parameter
    for name, child in own.get("_modules", {}).items():
        yield from _parameters(path + step(module, name), child)


def _is_wrapper(module: Any) -> bool:
    return objects.is_a(module, "torch.nn.parallel", "DistributedDataParallel")
