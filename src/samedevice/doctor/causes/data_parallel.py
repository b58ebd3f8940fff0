"""Under DataParallel: tensors that all replicas share, and results that cannot be joined on one GPU."""

import ast
import re
import types
from collections.abc import Iterator, Sequence
from typing import Any

from samedevice.doctor.causes.models import moved_as_a_whole
from samedevice.doctor.causes.module_attributes import registered
from samedevice.doctor.causes.moves import moved_to
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import replaced, statement_with, with_argument
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.culprits.quoted_frames import last_quoted_function, nodes_at
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import scope
from samedevice.introspect.namespaces import globals_of
from samedevice.introspect.origins import Origin, called, device_argument, find_origin
from samedevice.introspect.values import Argument, returns, value
from samedevice.placement.holders import held_by_module

shared = cause("data_parallel_unreplicated_state", is_alone=True)
shared.fix(registered)
output_shape = cause("data_parallel_output_shape")
output_on_cpu = cause("data_parallel_output_on_cpu")
root_device = cause("data_parallel_root_device", is_alone=True)
root_device.find(refused_tensors)


@root_device.fix
def begun_where_the_model_is(evidence: Evidence) -> Change | None:
    """Let DataParallel begin with the GPU of the model, if the inputs are there, too; else move the model."""
    failure, there = evidence.failure, evidence.operand.device
    inputs = [call.locals.get("inputs") for call in failure.calls_below if call.function == "forward"]
    passed = {objects.device(tensor) for each in inputs for _, tensor in objects.inside(each)}
    if passed != {there} or not there.startswith("cuda:"):
        return moved_as_a_whole(evidence)
    for call in failure.user_calls:
        for node in ast.walk(call.scope) if call.scope is not None else ():
            is_it = isinstance(node, ast.Call) and called(node) == "DataParallel" and len(node.args) == 1
            if is_it and isinstance(node, ast.Call) and not node.keywords:
                named = [
                    name for name, known in failure.names(call) if objects.is_device(known) and str(known) == there
                ]
                first = f"{named[0]}.index" if named else there.removeprefix("cuda:")
                ids = f"sorted(range(torch.cuda.device_count()), key=lambda gpu: gpu != {first})"
                new = text_of(with_argument(node, "device_ids", ast.parse(ids, mode="eval").body))
                return Change(new, Source.of_call(call).replaced(node, new) if named else ())
    return Change(f"nn.DataParallel(model, device_ids=[{there.removeprefix('cuda:')}, ...])")


@shared.detect
def is_shared_by_replicas(evidence: Evidence) -> bool:
    """Tell whether a module under DataParallel holds it unregistered."""
    return evidence.is_unregistered and evidence.failure.runs_in("data_parallel.py", "parallel_apply.py")


@shared.detect
def is_on_another_gpu_than_its_replica(evidence: Evidence) -> bool:
    """Tell whether it is on another GPU than what a replica, which runs, has on its own."""
    return evidence.is_between_gpus and evidence.failure.runs_in("parallel_apply.py")


@shared.claim
def runs_what_the_original_has(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim a call of a method that is bound to the original, in the line of a replica, which runs."""
    node, call = failure.user_call.node, failure.user_call
    if not is_mismatch or not failure.runs_in("parallel_apply.py") or not isinstance(node, ast.Call):
        return None
    kept = value(node.func, call)
    is_bound = type(kept) is types.MethodType and objects.is_module(kept.__self__)
    return [_of_the_original(failure, node.func, kept)] if is_bound and isinstance(node.func, ast.Name) else None


@shared.claim
def failed_in_a_replica(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim an error of a replica: its frames are gone, because PyTorch raises a new error from their text."""
    is_of_a_replica = "in replica" in failure.text and _wrapper(failure) is not None
    return list(shared_tensors(failure)) if is_of_a_replica else None


@shared.find
def shared_tensors(failure: Failure) -> list[Operand]:
    """Find what the failing line of a replica names: a plain tensor of the module, else what it created itself."""
    tensors = list(_unregistered(failure))
    named = [tensor for tensor in tensors if tensor.argument.expression.text.partition("[")[0] in failure.text]
    return named or list(_bound_to_the_original(failure)) or list(_created_in_a_replica(failure)) or tensors


def _unregistered(failure: Failure) -> Iterator[Operand]:
    """Yield the plain tensors of the module, which its replicas share: those of the failing line first."""
    wrapper = _wrapper(failure)
    if wrapper is None:
        return
    tensors = [(tensor, holder) for tensor, holder in held_by_module("", wrapper) if not holder.moves]
    for tensor, holder in sorted(tensors, key=lambda pair: f"self.{pair[1].name}" not in failure.text):
        # As the module's own code has it, which ran in the replica.
        path = holder.path[holder.path.index(f".{holder.name}") :]
        node = ast.parse(f"self{path}", mode="eval").body
        yield Operand(tensor, objects.device(tensor), failure.user_call, Argument(node, tensor))


def _bound_to_the_original(failure: Failure) -> Iterator[Operand]:
    """Yield the method that a function in the place of a layer's `forward` calls, bound to the layer of the first GPU.

    A replica has the attributes of the original, so it runs that function, and with it the original's method.
    """
    quoted, wrapper = last_quoted_function(failure.quoted), _wrapper(failure)
    waiting = [wrapper] if quoted is not None else []
    while waiting:
        own = objects.attributes(waiting.pop())
        waiting += [layer for layer in own.get("_modules", {}).values() if objects.is_module(layer)]
        forward = own.get("forward")
        if type(forward) is not types.FunctionType or quoted is None or forward.__code__.co_name != quoted[0].name:
            continue
        for name, cell in zip(forward.__code__.co_freevars, forward.__closure__ or (), strict=True):
            kept = cell.cell_contents
            if type(kept) is types.MethodType and objects.is_module(kept.__self__):
                yield _of_the_original(failure, ast.Name(name, ast.Load()), kept)


def _of_the_original(failure: Failure, node: ast.expr, kept: Any) -> Operand:
    change = Change("layer.register_forward_pre_hook(hook)  # in place of another forward")
    origin = Origin("other", None, None)
    device = next(iter(failure.devices(kept.__self__)), "cuda:0")
    return Operand(None, device, failure.user_call, Argument(node, kept), origin=origin, change=change)


def _created_in_a_replica(failure: Failure) -> Iterator[Operand]:
    """Yield what the failing line of a replica created on the first GPU, or was given some lines above."""
    quoted = last_quoted_function(failure.text)
    replica = re.search(r"in replica (\d+) on device (\d+)", failure.text)
    if quoted is None or replica is None:
        return
    function, line, source = quoted
    others = (device for device in re.findall(r"cuda:\d+", failure.text) if device != f"cuda:{replica[2]}")
    elsewhere = next(others, "cuda:0")
    inputs = [argument.arg for argument in function.args.args if argument.arg != "self"]
    for node in nodes_at(function, line):
        if isinstance(node, ast.Name) and objects.is_tensor(tensor := _global(node.id, function, failure)):
            moved = moved_to(node, f"{inputs[0]}.device") if inputs else node
            origin, change = Origin("other", None, None), statement_with(source, function, node, moved)
            argument = Argument(node, tensor)
            yield Operand(tensor, objects.device(tensor), failure.user_call, argument, origin=origin, change=change)
            continue
        is_name = isinstance(node, ast.Name)
        origin = find_origin(node.id, function, line) if is_name else Origin("created", None, node)  # type: ignore[union-attr]
        if isinstance(origin.value, ast.Call) and (there := _on_the_replicas_gpu(origin.value, inputs)):
            change = Change(f"{text_of(node)} = {there}" if is_name else there, source.replaced(origin.value, there))
            if is_name and there == text_of(node) and isinstance(origin.statement, ast.Assign):
                change = Change(f"remove `{text_of(origin.statement)}`", source.replaced(origin.statement, ""))
            yield Operand(None, elsewhere, failure.user_call, Argument(node, None), origin=origin, change=change)


def _on_the_replicas_gpu(node: ast.Call, inputs: list[str]) -> str:
    """Write a factory or a move with the device of the replica's first input; "" for another call."""
    if device_argument(node) is not None:
        device = ast.parse(f"{inputs[0]}.device", mode="eval").body if inputs else None
        return text_of(with_argument(node, "device", device))
    if called(node) not in ("to", "cuda") or not isinstance(node.func, ast.Attribute) or not inputs:
        return ""
    moved = node.func.value
    # An input is on the replica's GPU before the line that moves it away.
    return inputs[0] if text_of(moved) == inputs[0] else text_of(moved_to(moved, f"{inputs[0]}.device"))


def _global(name: str, function: ast.FunctionDef, failure: Failure) -> Any:
    if find_origin(name, function) != Origin("other", None, None):
        return None
    return next((call.globals[name] for call in failure.user_calls if name in call.globals), None)


@output_shape.claim
def returned_in_other_shapes(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim an error about shapes while DataParallel joined what the replicas returned."""
    result = _result(failure) if output_shape.id in likely[:1] else None
    if result is None:
        return None
    node, origin, _ = result
    change = Change(f"pad {text_of(node)} to one shape in every replica")
    return [Operand(None, "cuda:0", failure.user_call, Argument(node, None), origin=origin, change=change)]


@output_on_cpu.claim
def returned_on_the_cpu(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim any other error while DataParallel joined what the replicas returned: it was on the CPU."""
    result = _result(failure)
    if result is None:
        return None
    node, origin, forward = result
    source = Source.of_method(forward)
    moved = text_of(moved_to(node, f"{forward.__code__.co_varnames[1]}.device"))
    change = Change(f"return {moved}", source.replaced(node, moved))
    for move in ast.walk(origin.value) if origin.value is not None else ():
        if isinstance(move, ast.Call) and called(move) == "cpu" and isinstance(move.func, ast.Attribute):
            kept = text_of(replaced(origin.value, move, move.func.value))
            line = f"{text_of(node)} = {kept}" if origin.statement else f"return {kept}"
            change = Change(line, source.replaced(move, text_of(move.func.value)))
    return [Operand(None, "cpu", failure.user_call, Argument(node, None), origin=origin, change=change)]


def _result(failure: Failure) -> tuple[ast.expr, Origin, types.FunctionType] | None:
    """Return what the wrapped module's forward returned, the origin of that, and the forward itself."""
    wrapper = _wrapper(failure)
    if wrapper is None or not failure.runs_below_in("scatter_gather"):
        return None
    forward = objects.method(objects.attribute(wrapper, "module"), "forward")
    returned = returns(forward) if forward is not None else []
    if forward is None or not returned:
        return None
    tree, node = scope(forward.__code__, globals_of(forward)), returned[-1]
    origin = find_origin(node.id, tree) if isinstance(node, ast.Name) and tree is not None else None
    origin = origin if origin is not None and origin.value is not None else Origin("other", None, node)
    return node, origin, forward


def _wrapper(failure: Failure) -> Any:
    """Return the DataParallel whose method is among the frames, or None."""
    selves = (call.locals.get("self") for call in failure.calls_below)
    return next((module for module in selves if objects.is_a(module, "torch.nn", "DataParallel")), None)
