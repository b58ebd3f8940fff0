"""Gradients in the wrong place: what a hook or a Function returned, or what was left behind by a move of `.data`."""

import ast
import re
import types
from collections.abc import Iterator, Sequence
from typing import Any

from samedevice.doctor.causes.moves import moved_to
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import before_line, replaced, statement_with
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change, Source, statement_of
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import scope
from samedevice.introspect.libraries import is_ours
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.origins import Origin, find_origin
from samedevice.introspect.values import Argument, returns, value
from samedevice.placement.holders import stepped

gradient = cause("grad_device")

_OF_A_FUNCTION = re.compile(r"Function (\w+)Backward returned an invalid gradient at index (\d+).*but got (\S+)")


@gradient.detect
def is_in_a_backward(evidence: Evidence) -> bool:
    """Tell whether the text suggests it, and autograd is running."""
    return gradient.id in evidence.likely_causes and evidence.failure.runs_in("torch/autograd/")


@gradient.claim
def left_behind(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim what `.grad` was given; and a mismatch in a backward or in an optimizer, if gradients stayed behind.

    Those of `w` do in `w.data = w.data.to(device)`.
    """
    if list(likely[:1]) == [gradient.id] and (given := list(_given_to_grad(failure))):
        return given
    if not is_mismatch or not failure.runs_below_in("torch/autograd/", "torch/optim/"):
        return None
    return list(_left_behind(failure)) or None


def _left_behind(failure: Failure) -> Iterator[Operand]:
    for tensor in _leaves(failure):
        grad = objects.tensor_attribute(tensor, "grad")
        if not objects.is_tensor(grad) or objects.device(grad) == objects.device(tensor):
            continue
        failure.want(tensor)
        holder, named = failure.holder(tensor), failure.expression(tensor)
        if holder is not None and holder.moves and holder.is_named:
            name, line = holder.expression, f"{holder.root}.zero_grad()"
        else:
            name = named[0].text if named else ""
            line = f"{name}.grad = None"
        node = parsed(f"{name}.grad")
        if isinstance(node, ast.expr):
            argument, origin = Argument(node, grad), Origin("other", None, None)
            change = before_line(failure.user_call, line)
            yield Operand(grad, objects.device(grad), failure.user_call, argument, origin=origin, change=change)


@gradient.find
def returned_gradients(failure: Failure) -> list[Operand]:
    """Find what a Function's backward or a hook returned; else the tensor that was refused."""
    return [*_returned_by_a_function(failure), *_returned_by_a_hook(failure)] or refused_tensors(failure)


def _given_to_grad(failure: Failure) -> Iterator[Operand]:
    """Find `other.grad` of `x.grad = other.grad`, and move it to where `x` is: a copy of `other` has no gradient."""
    call = failure.user_call
    match statement_of(call):
        case ast.Assign(
            targets=[ast.Attribute(attr="grad", value=tensor)], value=ast.Attribute(attr="grad", value=other) as given
        ):
            gradient = objects.tensor_attribute(value(other, call), "grad")
            if objects.is_tensor(gradient):
                moved = text_of(moved_to(given, f"{text_of(tensor)}.device"))
                parts = Source.of_call(call).replaced(given, moved)
                change = Change(f"{text_of(tensor)}.grad = {moved}", parts)
                origin = Origin("other", None, given)
                argument = Argument(given, gradient)
                yield Operand(gradient, objects.device(gradient), call, argument, origin=origin, change=change)


def _returned_by_a_function(failure: Failure) -> Iterator[Operand]:
    """Find what the backward of the Function returned that the message names, and move it to its first argument."""
    match = _OF_A_FUNCTION.search(failure.text)
    namespaces = (names for call in failure.user_calls for names in (call.locals, call.globals))
    function = next((names[match[1]] for names in namespaces if match[1] in names), None) if match else None
    backward = _method(function, "backward")
    if match is None or backward is None:
        return
    tree = scope(backward.__code__, globals_of(backward))
    for returned in returns(backward)[-1:]:
        index = int(match[2])
        is_one_of_several = isinstance(returned, ast.Tuple) and index < len(returned.elts)
        node = returned.elts[index] if is_one_of_several else returned  # type: ignore[attr-defined]
        origin = find_origin(node.id, tree) if isinstance(node, ast.Name) and tree is not None else None
        arguments = backward.__code__.co_varnames[1 : backward.__code__.co_argcount]
        moved = moved_to(node, f"{arguments[0]}.device") if arguments else None
        change = None
        if moved is not None:
            line = text_of(ast.Return(replaced(returned, node, moved)))
            change = Change(line, Source.of_method(backward).replaced(node, text_of(moved)))
        origin = origin or Origin("created", None, node)
        yield Operand(None, match[3], failure.user_call, Argument(node, None), origin=origin, change=change)


def _returned_by_a_hook(failure: Failure) -> Iterator[Operand]:
    """Find what the hook of the message returned, and move it to where the tensor is."""
    match = re.search(r"hook '([^']+)' has changed the type of value \(was (\S+) got (\S+)\)", failure.text)
    hook, tensor = _hook(match[1], failure) if match else (None, None)
    tree = scope(hook.__code__, globals_of(hook)) if hook is not None else None
    returned = _returned(hook, tree) if hook is not None and tree is not None else None
    if match is None or hook is None or tree is None or returned is None:
        return
    origin = find_origin(returned.id, tree) if isinstance(returned, ast.Name) else None
    origin = origin if origin is not None and origin.value is not None else Origin("other", None, returned)
    wanted = objects.device(tensor) if tensor is not None else _device(match[2])
    arguments = hook.__code__.co_varnames[: hook.__code__.co_argcount][-1:]
    is_reassigned = not arguments or find_origin(arguments[0], tree).kind != "argument"
    device = f'"{wanted}"' if is_reassigned else f"{arguments[0]}.device"
    change = statement_with(Source.of_method(hook), tree, returned, moved_to(returned, device))
    yield Operand(None, _device(match[3]), failure.user_call, Argument(returned, None), origin=origin, change=change)


def _leaves(failure: Failure) -> list[Any]:
    """Return the tensors that the program's names, modules and optimizers have, each once."""
    values = [value for call in failure.user_calls for _, value in failure.names(call)]
    tensors = [tensor for value in values for _, tensor in objects.inside(value)]
    tensors += [tensor for _, optimizer in failure.optimizers() for tensor in stepped(optimizer)]
    tensors += [tensor for _, module in failure.modules() for tensor in objects.parameters(module)]
    return list({id(tensor): tensor for tensor in tensors}.values())


def _hook(name: str, failure: Failure) -> tuple[types.FunctionType | None, Any]:
    """Find the function of a hook, and the tensor that has it where one is known."""
    for tensor in _leaves(failure):
        for hook in objects.hooks(tensor):
            function = _function_of(hook)
            if function is not None and function.__name__ == name:
                return function, tensor
    values = [value for call in failure.user_calls for _, value in failure.names(call)]
    functions = (value for value in values if type(value) is types.FunctionType and value.__name__ == name)
    methods = (objects.method(value, name) for value in values)
    return next(filter(None, (*functions, *methods)), None), None


def _function_of(hook: Any) -> types.FunctionType | None:
    if type(hook) is types.MethodType:
        hook = hook.__func__
    if type(hook) is not types.FunctionType:
        return None
    code = hook.__code__
    if is_ours(code.co_filename) and "hook" in code.co_freevars:
        # On a simulated GPU a function of the simulation stands around it.
        return _function_of(hook.__closure__[code.co_freevars.index("hook")].cell_contents)  # type: ignore[index]
    return hook


def _returned(hook: types.FunctionType, tree: ast.AST) -> ast.expr | None:
    """Return what a hook returns at its end; of a lambda its body, where the line has only one lambda."""
    if hook.__name__ != "<lambda>":
        returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
        return returned[-1] if returned else None
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    return bodies[0] if len(bodies) == 1 else None


def _method(owner: Any, name: str) -> types.FunctionType | None:
    method = classes.namespace(owner).get(name) if objects.is_one_of(owner, type) else None
    method = method.__func__ if type(method) is staticmethod else method
    return method if type(method) is types.FunctionType else None


def _device(type_name: str) -> str:
    """Return the device of a tensor's type as PyTorch writes it: "cuda" of `torch.cuda.FloatTensor`."""
    parts = type_name.split(".")
    return parts[1] if len(parts) == 3 else "cpu"
