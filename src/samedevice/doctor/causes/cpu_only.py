"""Tensors on an accelerator that are wanted on the CPU: by NumPy, by an argument of PyTorch's, by pinned memory."""

import ast
import re
import types
from collections.abc import Iterable, Sequence
from dataclasses import replace

from samedevice.doctor.causes.generators import loader_with
from samedevice.doctor.causes.moved import assigned
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import in_line
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import of_the_first_frame, off_the_cpu, tensors_on_accelerators
from samedevice.doctor.culprits.operands import Operand, operands_of
from samedevice.doctor.edits import Change
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import Expression, parsed, text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.objects import MISSING
from samedevice.introspect.values import Argument, arguments, value

numpy = cause("numpy_conversion", is_alone=True)
argument = cause("cpu_only_argument", is_alone=True)
argument.find(tensors_on_accelerators)
rng_state = cause("rng_state_on_gpu", is_alone=True)
rng_state.find(tensors_on_accelerators)
pinned = cause("pin_memory_on_cuda_tensor", is_alone=True)
pinned.find(tensors_on_accelerators)
moved_too_early = cause("pinned_after_the_move", is_alone=True)


@numpy.find
def array_or_tensor(failure: Failure) -> list[Operand]:
    """Find the array that met a tensor, or the tensor that NumPy was given."""
    named = re.search(r"convert (\S+) device type tensor", failure.text)
    device = named[1] if named else ""
    found = of_the_first_frame(failure.calls_below[::-1], lambda call: _array_or_tensors(call, device))
    # Of several that the program passes, a library has converted one.
    converted = {id(operand.tensor) for operand in of_the_first_frame(failure.calls_below, off_the_cpu)}
    return [operand for operand in found if id(operand.tensor) in converted] or found


def _array_or_tensors(call: Call, device: str) -> Iterable[Operand]:
    array = _array_beside_a_tensor(call)
    if array is not None:
        return [Operand(None, "cpu", call, array)]
    tensors = list(off_the_cpu(call))
    match call.node:
        # The message is about the result, whatever tensors it was computed from.
        case ast.Call(func=ast.Attribute(attr="numpy" | "__array__", value=result)) if not objects.is_tensor(
            value(result, call)
        ):
            if device:
                return [Operand(None, device, call, Argument(result, MISSING), is_known=False)]
    return tensors


def _array_beside_a_tensor(call: Call) -> Argument | None:
    """Return the array of `x - array`. Here the array can move, but NumPy would take `x` to the CPU."""
    if not isinstance(call.node, (ast.BinOp, ast.AugAssign, ast.Compare)):
        return None
    if not any(operand.tensor is not None and operand.device != "cpu" for operand in operands_of(call)):
        return None
    sides = arguments(call)
    unknown = [side for side in sides if side.value is MISSING and not isinstance(side.node, ast.Constant)]
    array = next((side for side in sides if objects.is_array(side.value)), None)
    # Only an array on the other side makes NumPy ask for the tensor.
    return array or (unknown[0] if len(sides) == 2 and len(unknown) == 1 else None)


@numpy.fix
def array_there_or_copy(evidence: Evidence) -> Change:
    """Make a tensor of the array where the other tensor is; else give NumPy a copy on the CPU."""
    if evidence.operand.tensor is None and evidence.operand.is_known:
        return _array_there(evidence)
    return copied_to_the_cpu(_where_it_is_converted(evidence))


def _where_it_is_converted(evidence: Evidence) -> Evidence:
    """Look at the program's line that converts the tensor, where a caller passed it: others may call that function."""
    operand = evidence.operand
    node, call = operand.argument.node, operand.call
    if call is evidence.call or call.in_library or not isinstance(node, (ast.Name, ast.Attribute)):
        return evidence
    if operand.tensor is None or value(node, call) is not operand.tensor:
        return evidence
    return replace(evidence, expression=Expression.of(node), call=call)


@rng_state.fix
@argument.fix
def copied_to_the_cpu(evidence: Evidence) -> Change:
    """Write the failing line with a copy on the CPU: of the tensor, or of each one in the list that the line names."""
    name = evidence.expression.text
    of_a_list = re.fullmatch(r"(.+)\[\d+\]", name)
    if of_a_list and name not in text_of(evidence.call.statement or ast.Pass()):
        tensors = [tensor for _, tensor in objects.inside(value(parsed(of_a_list[1]), evidence.call))]
        detached = ".detach()" * any(objects.requires_grad(tensor) for tensor in tensors)
        return in_line(evidence, f"[value{detached}.cpu() for value in {of_a_list[1]}]", of_a_list[1])
    return in_line(evidence, f"{name}{'.detach()' * _has_a_gradient(evidence)}.cpu()")


@moved_too_early.claim
def was_moved_in_a_collate_fn(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim what a DataLoader cannot pin, if its `collate_fn` is the program's and its dataset is on the CPU."""
    if pinned.id not in likely[:1]:
        return None
    for call in failure.calls_below:
        held = objects.attributes(call.locals.get("self"))
        collate = held.get("_collate_fn")
        if isinstance(collate, types.FunctionType) and not is_library(collate.__code__.co_filename):
            moves = [node for node in ast.walk(_tree(collate)) if isinstance(node, ast.Call)]
            if any(origins.is_move(origins.called(node)) for node in moves):
                return tensors_on_accelerators(failure)
    return None


def _tree(function: types.FunctionType) -> ast.AST:
    return scope(function.__code__, globals_of(function)) or ast.Pass()


@moved_too_early.fix
@pinned.fix
def pinned_on_the_cpu(evidence: Evidence) -> Change:
    """Leave the pinning out: what is on the GPU has crossed already. Where a DataLoader pins, let it not."""
    call = evidence.operand.call
    if call.in_library:
        return loader_with(evidence, "pin_memory", None)
    pins = call.node
    if isinstance(pins, ast.Call) and isinstance(pins.func, ast.Attribute) and pins.func.attr == "pin_memory":
        return in_line(evidence, text_of(pins.func.value), text_of(pins))
    return in_line(evidence, f"{evidence.expression.text}.cpu()")


def _array_there(evidence: Evidence) -> Change:
    """Write the failing line with a tensor in place of the array, of the other one's dtype and on its device."""
    beside = (operand for operand in operands_of(evidence.operand.call) if operand.device != "cpu")
    other = next(operand for operand in beside if operand.tensor is not None)
    name = other.argument.expression.text
    # Whole numbers would lose the array's fractions.
    dtype = f", dtype={name}.dtype" if objects.is_floating(other.tensor) else ""
    new = f"torch.as_tensor({evidence.expression.text}{dtype}, device={name}.device)"
    line = in_line(evidence, new)
    return line if line.parts or line.text != new else assigned(evidence, new)


def _has_a_gradient(evidence: Evidence) -> bool:
    """Tell whether NumPy would refuse the copy as well, because it needs a gradient; `.detach()` is right anyway."""
    call, node = evidence.call, evidence.expression.node
    failing = call.node if call is evidence.operand.call else None
    if any(
        isinstance(part, ast.Attribute) and part.attr in ("detach", "data") for part in ast.walk(failing or ast.Pass())
    ):
        return False
    if evidence.operand.tensor is not None and value(node, call) is evidence.operand.tensor:
        return objects.requires_grad(evidence.operand.tensor)
    if isinstance(node, ast.Call) and origins.called(node).startswith("arg"):
        return False  # argmax and argmin return places, whole numbers
    values = [value(part, call) for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
    modules = [module for module in values if objects.is_module(module)]
    tensors = [tensor for tensor in values if objects.is_tensor(tensor)]
    tensors += [parameter for module in modules for parameter in objects.parameters(module)]
    return any(map(objects.requires_grad, tensors))
