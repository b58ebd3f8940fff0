"""What PyTorch's own functions, methods and layers do with devices: create, move, meet, or keep them."""

import ast
import sys
import types
from dataclasses import replace

from samedevice.catalog import load
from samedevice.doctor.ahead.meetings import Meetings
from samedevice.doctor.ahead.seen import PLAIN, UNKNOWN, Place, Root, Seen, named_by, of_live
from samedevice.doctor.culprits.expected_device import default_device
from samedevice.introspect import classes, objects
from samedevice.introspect.libraries import is_ours, is_torch
from samedevice.introspect.namespaces import plain
from samedevice.introspect.origins import creates, decided_by
from samedevice.placement.holders import held_by_optimizer

Operands = list[tuple[ast.expr, Seen]]

# The first of these may be on a GPU, the others are wanted on the CPU.
_WANT_THE_CPU = ("pack_padded_sequence",)
_MAY_DIFFER = ("ctc_loss", "copy_", "bincount", "multinomial", "einsum")
_REDUCE = ("sum", "mean", "max", "min", "prod", "norm", "std", "var", "any", "all", "squeeze", "median", "item", "dot")
_WIDEN = ("unsqueeze", "view", "reshape", "expand", "repeat", "flatten")
_SCALARS = ("tensor", "as_tensor", "asarray", "scalar_tensor")
_MAY_BE_MIXED = ("CTCLoss", "DataParallel", "DistributedDataParallel", "EmbeddingBag", "Module")


def is_of_torch(node: ast.expr, function: object, owner: Seen) -> bool:
    """Tell whether a function is one of PyTorch's: of its modules, or imported from them."""
    if objects.is_one_of(owner.value, types.ModuleType):
        name = objects.attributes(owner.value).get("__name__", "")
        return type(name) is str and name.partition(".")[0] == "torch"
    if type(function) is types.FunctionType:
        files = [plain(inner.__code__.co_filename) for inner in classes.wrapped(function)]
        return any(is_torch(file) or is_ours(file) for file in files)  # ours stands in for PyTorch's
    is_builtin = isinstance(node, ast.Name) and type(function) is types.BuiltinFunctionType
    return is_builtin and objects.attributes(sys.modules["torch"]).get(function.__name__) is function  # type: ignore[attr-defined]


def of_function(node: ast.Call, name: str, given: Operands, named: Operands, found: Meetings, at: "At") -> Seen:
    """Return the result of a function of PyTorch, or of a method; then the tensor before the dot is the first given.

    Args:
        node: the call.
        name: the function's name.
        given: what it is given by place.
        named: what it is given by name.
        found: where the meetings are noted.
        at: where the call stands.
    """
    keywords = {keyword.arg: seen for keyword, (_, seen) in zip(node.keywords, named, strict=True)}
    by, first = decided_by(name), given[0][1] if given else UNKNOWN
    if by == "values":
        found.keep(first)
    if by in ("values", "facts"):
        return PLAIN
    if by in ("move", "argument"):
        return _moved(node, name, given, keywords, found, at)
    is_made = creates(node)
    if by == "data" and first.device:
        is_made = False
    if is_made or by == "like":
        return _created(node, name, first, keywords.get("device"), is_made, at)
    operation = load().operations.get(name)
    if name in _WANT_THE_CPU:
        for _, seen in [*given, *named][1:]:
            found.keep(seen)
        return found.meet(given[:1], at.statement, at.place)
    if operation is not None and name not in _MAY_DIFFER:
        return _numbered(found.meet([*given, *named], at.statement, at.place), name, given)
    return _like_the_first(name, [*given, *named], found)


class At:
    """Where an expression stands: the statement and the function."""

    def __init__(self, statement: ast.stmt | None, place: Place) -> None:
        self.statement, self.place = statement, place


def _numbered(result: Seen, name: str, given: Operands) -> Seen:
    is_reduced = name.endswith(("loss", "entropy", "logits")) or (name in _REDUCE and len(given) < 2)
    return replace(result, may_be_number=True) if is_reduced and result.device else result


def _like_the_first(name: str, operands: Operands, found: Meetings) -> Seen:
    tensors = [found.now(seen) for _, seen in operands if seen.device]
    if not tensors:
        return next((seen for _, seen in operands if seen.items is not None), UNKNOWN)
    there = next((seen for seen in tensors if seen.device == found.wanted), tensors[0])
    is_reduced = name in _REDUCE and len(operands) < 2
    may_be_number = is_reduced or (there.may_be_number and name not in _WIDEN)
    return Seen(device=there.device, roots=there.roots, may_be_number=may_be_number)


def _created(node: ast.Call, name: str, first: Seen, device: Seen | None, is_made: bool, at: At) -> Seen:
    where = named_by(device) if device is not None else (default_device() if is_made else first.device)
    if device is not None and device.value is None and device.is_plain:
        where = default_device() if is_made else first.device
    if is_made and decided_by(name) == "cpu":
        where = "cpu"
    if not where:
        return UNKNOWN
    match node.args[:1]:
        case [ast.Tuple(elts=[]) | ast.List(elts=[])]:
            may_be_number = True
        case [argument] if name in _SCALARS:
            may_be_number = not (isinstance(argument, (ast.List, ast.Tuple, ast.ListComp)) or _is_list(first))
        case _:
            may_be_number = first.may_be_number if not is_made else False
    return Seen(device=where, roots=(Root(None, node, at.place),), may_be_number=may_be_number)


def _is_list(seen: Seen) -> bool:
    if objects.is_array(seen.value):
        return bool(objects.array_shape(seen.value))
    return seen.items is not None or objects.is_one_of(seen.value, list, tuple)


def _moved(
    node: ast.Call, name: str, given: Operands, keywords: dict[str | None, Seen], found: Meetings, at: At
) -> Seen:
    first = found.now(given[0][1]) if given else UNKNOWN
    asked = [seen for _, seen in given[1:]] + [keywords[key] for key in ("device", "other") if key in keywords]
    where = {"cpu": "cpu", "cuda": "cuda:0"}.get(name, "")
    where = next(filter(None, map(named_by, asked)), where)
    is_dtype = all(classes.name(type(seen.value)) == "dtype" or type(seen.value) is bool for seen in asked)
    if not where and name == "to" and is_dtype:
        return replace(first, value=first.value if objects.is_module(first.value) else UNKNOWN.value)
    if not where or not first.device:
        return UNKNOWN if not objects.is_module(first.value) else first
    if first.device == where:
        return first
    found.keep(first)
    return Seen(device=where, roots=(Root(None, node, at.place),), may_be_number=first.may_be_number)


def of_layer(layer: object, node: ast.Call, given: Operands, found: Meetings, at: At) -> Seen:
    """Return what a layer of PyTorch's makes of what it is given; its parameters meet that."""
    if classes.name(type(layer)) in _MAY_BE_MIXED:
        return UNKNOWN
    own = objects.attributes(layer)
    kept = [*own.get("_parameters", {}).items(), *own.get("_buffers", {}).items()]
    tensors = [(name, tensor) for name, tensor in kept if objects.is_tensor(tensor)]
    nodes = [(ast.Attribute(node.func, name, ast.Load()), tensor) for name, tensor in tensors]
    held: Operands = [(part, of_live(tensor, part, at.place)) for part, tensor in nodes]
    result = found.meet([*given, *held], at.statement, at.place)
    is_loss = objects.is_a(layer, "torch.nn.modules.loss", "_Loss")
    result = replace(result, may_be_number=True) if is_loss and result.device else result
    if objects.is_a(layer, "torch.nn.modules.rnn", "RNNBase"):
        return Seen(items=(result, replace(result, may_be_number=False)))
    return result


def of_step(optimizer: object, node: ast.Call, found: Meetings, at: At) -> None:
    """Note the first tensor of an optimizer's state that is not where its parameter is."""
    for parameter, tensor, name in held_by_optimizer(optimizer):
        is_left = objects.device(tensor) == found.here and name != "step" and objects.shape(tensor) != ()
        if is_left and found.now(of_live(parameter, node, at.place)).device == found.wanted:
            found.note_alone(tensor, node.func, at.statement, at.place)
            return
