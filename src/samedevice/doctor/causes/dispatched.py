"""A model that accelerate dispatched by a device map: its hooks move the arguments of calls, and nothing else."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import in_line, replaced, with_argument
from samedevice.doctor.causes.sharded import named_with_layers
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.models import root_of
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import Origin
from samedevice.introspect.values import Argument, arguments, value
from samedevice.placement.holders import step

own_tensor = cause("own_tensor_under_device_map")
adapter = cause("adapter_beside_offloaded_layer")
moved_weights = cause("moved_under_hooks")
inputs_on_meta = cause("inputs_moved_to_meta", is_alone=True)
placed = cause("library_placed_model", is_alone=True)


@own_tensor.detect
def is_a_kv_cache(evidence: Evidence) -> bool:
    """Tell whether a cache of transformers holds it, which another model filled: no hook moves a cache."""
    return _is_dispatched(evidence) and _is_of_a_cache(evidence)


@own_tensor.detect
def is_no_argument_of_a_hooked_layer(evidence: Evidence) -> bool:
    """Tell whether the program's own function, which a dispatched model calls, brings a tensor of another GPU."""
    is_own = evidence.holder is None and evidence.origin.kind in ("created", "moved", "call")
    is_elsewhere = evidence.is_between_gpus or _move_in_the_line(evidence) is not None
    return is_own and is_elsewhere and _is_called_by_a_hooked_layer(evidence)


@own_tensor.fix
def moved_in_the_line(evidence: Evidence) -> Change | None:
    """Move it in the failing line, to the tensor that it meets there: layers of one model are on several devices."""
    if _is_of_a_cache(evidence):
        return Change("past_key_values = model(prompt).past_key_values  # by the model that uses it")
    call, move = evidence.failure.user_call, _move_in_the_line(evidence)
    name = text_of(move.func.value) if move is not None else evidence.expression.text
    new = f"{name}.to({device_at(evidence, call, call.line)})"
    return in_line(replace(evidence, call=call), new, text_of(move) if move is not None else name)


@adapter.detect
def is_an_adapter_of_peft(evidence: Evidence) -> bool:
    """Tell whether it is a weight of an adapter, on the CPU beside a base weight whose hook computes on a GPU."""
    holder = evidence.holder
    is_held = holder is not None and holder.moves and (".lora_" in holder.path or "['lora_" in holder.path)
    return is_held and evidence.operand.device == "cpu" and evidence.failure.runs_below_in("peft/tuners/")


@adapter.fix
def loaded_by_peft(evidence: Evidence) -> Change:
    """Load it so that the model is dispatched again: to move it alone helps until the next adapter is loaded."""
    if _is_dispatched(evidence):
        return Change("model = PeftModel.from_pretrained(model, folder)  # instead of model.load_adapter(folder)")
    return Change(f"model.to({device_at(evidence, evidence.call, evidence.call.line)})  # after the adapter was added")


@moved_weights.claim
def is_not_where_its_hook_is(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim a mismatch in a layer whose weight is on another GPU than the one where its hook brings the arguments.

    Offloaded weights are skipped: their hook brings them for each call.
    """
    for call in failure.calls_below if is_mismatch else ():
        layer = call.locals.get("self")
        hook = objects.attributes(layer).get("_hf_hook") if objects.is_module(layer) else None
        there = objects.attributes(hook).get("execution_device")
        for name, weight in objects.attributes(layer).get("_parameters", {}).items() if hook is not None else ():
            is_moved = weight is not None and _is_another_device(objects.device(weight), there)
            if is_moved and not objects.attributes(hook).get("offload"):
                return [_as_the_program_names_it(failure, layer, name, weight)]
    return None


def _as_the_program_names_it(failure: Failure, layer: Any, name: str, weight: Any) -> Operand:
    """Return a weight of a layer by the path to it from a model that the user's frames name."""
    paths = (path for path, module in named_with_layers(failure) if module is layer)
    node = ast.parse(next(paths, "model") + step(layer, name), mode="eval").body
    origin = Origin("other", None, None)
    return Operand(weight, objects.device(weight), failure.user_call, Argument(node, weight), origin=origin)


@moved_weights.fix
def hooks_removed_first(evidence: Evidence) -> Change:
    """Remove the hooks before the move."""
    root = root_of(evidence, evidence.holder)[0] if evidence.holder is not None else "model"
    return Change(f"remove_hook_from_submodules({root})  # of accelerate.hooks, above .to(); or leave .to() out")


@moved_weights.say
def is_elsewhere(expression: str, device: str, shape: tuple[int, ...] | None) -> str:
    """Say what else is still as it was."""
    return f"`{expression}` (shape {shape}) was moved to {device}, but its hook still sends its input elsewhere."


@placed.find
def moved_all_the_same(failure: Failure) -> Iterator[Operand]:
    """Find the move of the model that the library refuses, which may be all of the statement."""
    call = failure.user_call
    node = call.node
    if not isinstance(node, ast.Call) or not origins.is_move(origins.called(node)):
        return
    if isinstance(node.func, ast.Attribute):
        model, source = node.func.value, Source.of_call(call)
        match call.statement:
            case ast.Expr(value=moved) if moved is node:
                change = Change(f"remove `{text_of(node)}`", source.replaced(call.statement, "pass"))
            case statement:
                kept = text_of(replaced(statement, node, model)) if statement is not None else text_of(model)
                change = Change(kept, source.replaced(node, text_of(model)))
        known = value(node.args[0], call) if node.args else "cuda"
        device = str(known) if type(known) is str or objects.is_device(known) else "another device"
        yield Operand(None, device, call, Argument(node, None), origin=Origin("other", None, None), change=change)


@placed.say
def is_moved(expression: str, device: str, shape: tuple[int, ...] | None) -> str:
    """Say what is wrong with the move."""
    return f"`{expression}` moves a model that has its devices already."


@inputs_on_meta.claim
def lost_their_values(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim the copy that a hook could not make: `model.device` says meta if the first weight is offloaded."""
    is_copy = failure.runs_below_in("accelerate/hooks.py") and "Cannot copy out of meta tensor" in failure.text
    return list(_on_meta(failure.user_call)) or None if is_copy else None


@inputs_on_meta.fix
def moved_to_the_first_with_values(evidence: Evidence) -> Change:
    """Ask for the first weight that has values, where the program asked for `model.device`."""
    model = _model_called(evidence.failure.user_call)
    device = f"next(p.device for p in {model}.parameters() if not p.is_meta)"
    node, call = evidence.expression.node, evidence.call
    if isinstance(node, ast.Call):
        return in_line(evidence, _moved_to(node, device), text_of(node))
    move, call = evidence.origin.value, evidence.origin_call
    if isinstance(move, ast.Call) and origins.called(move) == "to" and evidence.origin_name:
        new = _moved_to(move, device)
        return Change(f"{evidence.origin_name} = {new}", Source.of_call(call).replaced(move, new))
    return Change(f"device = {device}  # instead of {model}.device")


def _on_meta(call: Call) -> Iterator[Operand]:
    """Yield what the failing line passes and is on meta; a move in that line to where the first weight is, too."""
    for argument in arguments(call):
        node = argument.node
        found = [(path, tensor) for path, tensor in objects.inside(argument.value) if objects.device(tensor) == "meta"]
        for path, tensor in found if not objects.is_module(argument.value) else ():
            yield Operand(tensor, "meta", call, argument, path)
        if isinstance(node, ast.Call) and origins.called(node) == "to" and text_of(node).endswith(".device)"):
            yield Operand(None, "meta", call, argument)


def _moved_to(move: ast.Call, device: str) -> str:
    """Write a move, to another device."""
    moved = with_argument(move, "device", None)
    moved.args[:1] = [ast.Name(device, ast.Load())]  # a generator would get brackets of its own
    return text_of(moved)


def _model_called(call: Call) -> str:
    """Return what the failing line calls the model: `model` of `model(x)` and of `model.generate(x)`."""
    for node in ast.walk(call.node) if call.node is not None else ():
        match node:
            case ast.Call(func=function) if objects.is_module(value(function, call)):
                return text_of(function)
            case ast.Call(func=ast.Attribute(value=model)) if objects.is_module(value(model, call)):
                return text_of(model)
    return "model"


def _is_another_device(device: str, expected: Any) -> bool:
    """Tell whether a device is not the one of a hook, which is a number, a name or a device."""
    if type(expected) is int:
        return device != "meta" and device.partition(":")[2] != str(expected)
    if type(expected) is not str and not objects.is_device(expected):
        return False
    kind, _, number = str(expected).partition(":")
    return device != "meta" and (device.partition(":")[0] != kind or (bool(number) and device != str(expected)))


def _is_dispatched(evidence: Evidence) -> bool:
    return evidence.failure.runs_below_in("accelerate/hooks.py")


def _is_of_a_cache(evidence: Evidence) -> bool:
    is_read_there = evidence.call.file.replace("\\", "/").endswith("transformers/cache_utils.py")
    return is_read_there and evidence.expression.text in ("self.keys", "self.values")


def _is_called_by_a_hooked_layer(evidence: Evidence) -> bool:
    failure = evidence.failure
    around = failure.calls[: failure.calls.index(failure.user_call)]
    return any(call.file.replace("\\", "/").endswith("accelerate/hooks.py") for call in around)


def _move_in_the_line(evidence: Evidence) -> Any:
    """Find the move of the tensor in the failing line: `x.to(model.device)` of `output + x.to(model.device)`."""
    statement = evidence.failure.user_call.statement
    for node in ast.walk(statement) if statement is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=moved, attr="to" | "cuda")):
                if evidence.expression.text in (text_of(moved), text_of(node)):
                    return node
    return None
