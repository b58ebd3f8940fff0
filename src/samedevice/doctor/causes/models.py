"""Parameters and buffers in the wrong place: a model that was not moved, not wholly, or not for good."""

import ast
import copy
from typing import Any

from samedevice.doctor.causes.hooks import beside_its_hooks
from samedevice.doctor.causes.moved import assigned as assigned_to
from samedevice.doctor.causes.moved import moved_there
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import at_the_end_of_init, before_line, in_line, with_argument
from samedevice.doctor.causes.sharded import is_sharded, named_with_layers
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.causes.where_made import device_in_method, module_moved_again, module_moved_once
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.culprits.models import (
    has_others_there,
    is_in_forward,
    is_moved,
    is_moved_in_parts,
    is_taken_back,
    root_of,
)
from samedevice.doctor.culprits.naming import created_and_called
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import Assignment, Origin, find_origin, statements_of
from samedevice.introspect.values import Argument, value
from samedevice.placement.holders import step, stepped

not_moved = cause("model_not_moved")
added_later = cause("registered_after_move")
saved = cause("model_moved_by_saving")
in_forward = cause("submodule_created_in_forward")
meta = cause("meta_device_leftover")

not_moved.find(refused_tensors)


def _is_on_the_cpu(evidence: Evidence) -> bool:
    return evidence.is_registered and evidence.operand.device == "cpu"


@added_later.detect
def others_were_moved(evidence: Evidence) -> bool:
    """Tell whether other parameters of its model are where it is wanted, and not because they were moved alone."""
    if evidence.holder is None or not _is_on_the_cpu(evidence):
        return False
    root, call = root_of(evidence, evidence.holder)
    return has_others_there(evidence, root, call) and (is_moved(root, call) or not is_moved_in_parts(root, call))


@saved.detect
def was_taken_back(evidence: Evidence) -> bool:
    """Tell whether its model was moved, and then moved to the CPU, to be saved."""
    if evidence.holder is None or not _is_on_the_cpu(evidence):
        return False
    root, call = root_of(evidence, evidence.holder)
    return is_moved(root, call) and is_taken_back(root, call)


@not_moved.detect
def is_still_on_the_cpu(evidence: Evidence) -> bool:
    """Tell whether it is on the CPU, for none of the reasons above."""
    return _is_on_the_cpu(evidence)


def moved_as_a_whole(evidence: Evidence) -> Change | None:
    """Move the outermost module that holds it."""
    if evidence.holder is None:
        return None
    root, call = root_of(evidence, evidence.holder)
    instead = _instead_of_a_move(evidence, root, call)
    return instead or before_line(call, f"{root}.to({device_at(evidence, call, call.line)})")


saved.fix(moved_as_a_whole)


@added_later.fix
def moved_again(evidence: Evidence) -> Change | None:
    """Move the outermost module that holds it once more, when it has all its layers and before it runs in a loop."""
    if evidence.holder is None:
        return None
    root, call = root_of(evidence, evidence.holder)
    return _instead_of_a_move(evidence, root, call) or module_moved_again(evidence, root, call)


@not_moved.fix
def moved_once(evidence: Evidence) -> Change | None:
    """Move the outermost module that holds it, where it was made if the failing line runs again and again."""
    if evidence.holder is None:
        return None
    root, call = root_of(evidence, evidence.holder)
    instead = _instead_of_a_move(evidence, root, call) or _moved_after_its_load(evidence, root, call)
    return instead or module_moved_once(evidence, root, call)


def _instead_of_a_move(evidence: Evidence, root: str, call: Call) -> Change | None:
    """Write the change of a model that a move would not help: its hooks place it, or its optimizer steps another."""
    return beside_its_hooks(evidence, root, call) or _loaded_without_assign(evidence, root, call)


def _loaded_without_assign(evidence: Evidence, root: str, call: Call) -> Change | None:
    """Write the load that gave a model other parameters than its optimizer steps, without `assign=True`.

    Moving the model would end the error, but the model would not learn.
    """
    modules = [module for _, module in evidence.failure.modules()]
    steps = [(name, set(map(id, stepped(optimizer)))) for name, optimizer in evidence.failure.optimizers()]
    stale = [name for name, ids in steps if all(ids.isdisjoint(evidence.failure.registered(each)) for each in modules)]
    for frame, node in _loads(evidence, root, call) if stale else ():
        if any(keyword.arg == "assign" for keyword in node.keywords):
            line = text_of(with_argument(node, "assign", None))
            edits = Source.of_call(frame).replaced(node, line)
            return Change(f"{line}  # without assign=True, or create {stale[0]} after it", edits)
    return None


def _moved_after_its_load(evidence: Evidence, root: str, call: Call) -> Change | None:
    """Move a model again where a method loads it with `assign=True`: it has the file's tensors, not those moved."""
    name, _, key = root.rpartition(".")
    owner = value(parsed(name), call) if name else None
    made = origins.assigned_in(owner, key, "__init__")
    if made is None or origins.kind_of(made.value) != "moved":
        return None
    for method, itself, statement in statements_of(owner):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="load_state_dict", value=model), keywords=keywords)):
                is_assigned = any(each.arg == "assign" and text_of(each.value) == "True" for each in keywords)
                if is_assigned and text_of(model) == f"{itself}.{key}":
                    load = Assignment(method, statement, statement.value, itself)
                    device = device_in_method(load, owner, evidence.wanted_device)
                    line = f"{itself}.{key}.to({device or 'device'})"
                    edits = Source.of_method(method).below(statement, line) if device else ()
                    return Change(f"{line}  # below the load with assign=True", edits)
    return None


def _loads(evidence: Evidence, root: str, call: Call) -> list[tuple[Call, ast.Call]]:
    """Return the calls of a model's `load_state_dict`, each after the frame that it stands in."""
    frames = [frame for frame in [call, *evidence.failure.user_calls] if frame.scope is not None]
    nodes = [(frame, node) for frame in frames for node in ast.walk(frame.scope) if isinstance(node, ast.Call)]  # type: ignore[arg-type]
    return [(frame, node) for frame, node in nodes if text_of(node.func) == f"{root}.load_state_dict"]


@in_forward.detect
def is_created_in_forward(evidence: Evidence) -> bool:
    """Tell whether the failing call of a model created the layer."""
    call, holder = evidence.failure.user_call, evidence.holder
    if holder is None or not evidence.is_registered:
        return False
    if not holder.is_named and created_and_called(call) is not None:
        return True
    if call.scope is None or not is_in_forward(evidence) or call.function == "__init__":
        return False
    module = holder.expression.removesuffix(f".{holder.name}")
    return find_origin(module, call.scope, call.line).kind == "call"


@in_forward.fix
def created_once(evidence: Evidence) -> Change | None:
    """Write the statement for `__init__`, with the sizes that its arguments have now."""
    call, holder = evidence.failure.user_call, evidence.holder
    if holder is None:
        return None
    layer: ast.expr | None
    if not holder.is_named and isinstance(layer := created_and_called(call), ast.Call):
        name = (origins.called(layer) or "layer").lower()
    else:
        module = holder.expression.removesuffix(f".{holder.name}")
        is_known = call.scope is not None and holder.is_named
        layer = find_origin(module, call.scope, call.line).value if is_known else None  # type: ignore[arg-type]
        name = module.removeprefix(f"{call.itself}.")
    if layer is None:
        return None
    first = origins.assigned_in(call.method_of, name, "__init__") if holder.is_named else None
    if first is not None and isinstance(first.value, ast.Constant) and first.value.value is None:
        # The first call creates it and later ones keep it: it only has to begin on the right device.
        moved = f"{text_of(layer)}.to({device_at(evidence, call, layer.lineno)})"
        return Change(f"{call.itself}.{name} = {moved}", Source.of_call(call).replaced(layer, moved))
    line = f"{call.itself}.{name} = {text_of(_Sizes(call).visit(copy.deepcopy(layer)))}"
    there = at_the_end_of_init(call, line)
    parts = (*there, *Source.of_call(call).replaced(layer, f"{call.itself}.{name}")) if there else ()
    return Change(f"{line}  # in __init__", parts)


class _Sizes(ast.NodeTransformer):
    """Numbers in place of the names and shapes that stand for them."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def visit(self, node: ast.AST) -> Any:
        match node:
            case ast.Subscript(value=ast.Attribute(attr="shape", value=of), slice=place):
                pass
            case ast.Call(func=ast.Attribute(attr="size", value=of), args=[place]):
                pass
            case ast.Name() if type(number := value(node, self._call)) is int:
                return ast.Constant(number)
            case _:
                return super().visit(node)
        tensor, index = value(of, self._call), value(place, self._call)
        size = objects.shape(tensor) if objects.is_tensor(tensor) else None
        is_known = size is not None and type(index) is int and -len(size) <= index < len(size)
        return ast.Constant(size[index]) if is_known else node  # type: ignore[index]


@meta.find
def without_values(failure: Failure) -> list[Operand]:
    """Find the tensor that was refused; where it is not on meta, the first parameter that is."""
    refused = refused_tensors(failure)
    if any(operand.device == "meta" for operand in refused):
        return refused
    for name, module in named_with_layers(failure):
        own = objects.attributes(module).get("_parameters", {})
        left = next((key for key, tensor in own.items() if tensor is not None and objects.device(tensor) == "meta"), "")
        if left:
            argument = Argument(ast.parse(name + step(module, left), mode="eval").body, own[left])
            return [Operand(own[left], "meta", failure.user_call, argument, origin=Origin("other", None, None))]
    return refused


@meta.detect
def is_on_meta(evidence: Evidence) -> bool:
    """Tell whether a tensor on meta is part of it: it has no values."""
    return "meta" in (evidence.operand.device, *evidence.other_devices)


@meta.fix
def given_values(evidence: Evidence) -> Change:
    """Load a model's weights with assign=True; else make room for them; else create the tensor elsewhere."""
    holder = evidence.holder
    if holder is None:
        return _created_elsewhere(evidence)
    root, call = root_of(evidence, holder)
    if hooked := beside_its_hooks(evidence, root, call):
        return hooked
    for frame, node in _loads(evidence, root, call):
        if all(keyword.arg != "assign" for keyword in node.keywords):
            line = text_of(with_argument(node, "assign", ast.Constant(True)))
            return Change(line, Source.of_call(frame).replaced(node, line))
    device = next((device for device in evidence.other_devices if device != "meta"), "") or "cuda"
    module = holder.expression.removesuffix(f".{holder.name}")  # it alone: the others have their values
    whole = next((found for name, found in evidence.failure.modules() if name == root), None)
    if all(objects.device(parameter) == "meta" for parameter in objects.parameters(whole)):
        module = root
    if is_sharded(evidence.operand.tensor):  # fully_shard's own to_empty notes the new memory
        module, device = root, _of_its_mesh(evidence.operand.tensor) or device
    return before_line(evidence.call, f'{module}.to_empty(device="{device}")  # then load its weights')


def _of_its_mesh(tensor: Any) -> str:
    """Return the kind of device that the parts of a DTensor are to be on."""
    mesh = objects.attribute(objects.attributes(tensor).get("_spec"), "mesh")
    kind = objects.attributes(mesh).get("_device_type", "")
    return kind if type(kind) is str else ""


def _created_elsewhere(evidence: Evidence) -> Change:
    """Create it on another device from the start: what is on meta has no values to move."""
    device = device_at(evidence, evidence.call, evidence.call.line)
    node = evidence.expression.node
    if isinstance(node, ast.Call) and origins.device_argument(node) is not None:
        return in_line(evidence, text_of(with_argument(node, "device", ast.parse(device, mode="eval").body)))
    if evidence.origin.kind == "created":
        return moved_there(evidence)
    return assigned_to(evidence, f"torch.zeros_like({evidence.expression.text}, device={device})")
