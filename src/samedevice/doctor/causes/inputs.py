"""Why a tensor is where it is, as a cause of the catalog: the first of the tests below that says so."""

import ast
import re
import types

from samedevice.doctor.causes.buffers import kept_from_a_call, put_in_its_place
from samedevice.doctor.causes.ineffective_moves import moved_in_vain
from samedevice.doctor.causes.moves import not_moved_because
from samedevice.doctor.causes.rewriting import is_code
from samedevice.doctor.causes.running_totals import given_in, grows, is_updated, is_written_to
from samedevice.doctor.culprits.evidence import Suspect, is_of_a_library, made_and_called
from samedevice.doctor.culprits.expected_device import expected_device
from samedevice.doctor.culprits.operands import joins, wants_cpu
from samedevice.introspect import objects, origins
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.origins import kind_of, origin
from samedevice.introspect.values import function_of, returns, value
from samedevice.placement.holders import Holder


def cause(about: Suspect) -> str:
    """The catalog's cause."""
    return next(filter(None, (test(about) for test in _TESTS)), about.likely[0] if about.likely else "library_bug")


def _in(about: Suspect, *parts: str) -> bool:
    return any(part in call.file.replace("\\", "/") for call in about.scene.calls for part in parts)


def _gradient(about: Suspect) -> str:
    return "grad_device" if "grad_device" in about.likely and _in(about, "torch/autograd/") else ""


def _optimizer(about: Suspect) -> str:
    """Whether the optimizer itself failed: a closure that it called is the user's, and lies below it."""
    below = [call.file.replace("\\", "/") for call in about.scene.below]
    return "optimizer_state_device" if any("torch/optim/" in file for file in below) else ""


def _meta(about: Suspect) -> str:
    return "meta_device_leftover" if "meta" in (about.party.device, *about.others) else ""


def _library(about: Suspect) -> str:
    """Whether a library made it, or keeps it where `.to()` does not see it, and nobody gave it from outside."""
    held = about.holder
    if held is not None:
        bug = about.scene.third_party and objects.is_module(held.module) and not held.moves and is_of_a_library(held)
        return "library_bug" if bug and not is_updated(about, held) else ""
    return "library_bug" if about.scope.in_third_party and about.came.kind not in ("loop", "argument") else ""


def _loss_weight(about: Suspect) -> str:
    """The `weight=` of a function such as cross_entropy."""
    is_weight = about.party.role in ("weight", "pos_weight")
    functions = [
        call.function for call in about.scene.below if call.file.replace("\\", "/").endswith("nn/functional.py")
    ]
    is_loss = any("loss" in name or "entropy" in name for name in functions)
    is_loose = (about.holder is None or about.holder.kind == "partial") and not _spans_gpus(about)
    return "loss_weight_not_moved" if is_loose and is_weight and is_loss else ""


def _held(about: Suspect) -> str:
    held = about.holder
    if held is None or held.kind == "state":
        return ""
    if not objects.is_module(held.module):
        return _held_by_an_object(about, held)
    if held.moves:
        if objects.is_a(held.module, "torch.nn.modules.loss", "_Loss"):
            return "loss_weight_not_moved"
        if _made_in_forward(about, held):
            return "submodule_created_in_forward"
        if _spans_gpus(about):
            return "split_model_activation_not_moved"
        if put_in_its_place(about, held) is not None:
            is_total = is_updated(about, held)
            return "metric_or_accumulator_state" if is_total else "tensor_created_in_forward_without_device"
        return not_moved_because(about, held) if about.party.device == "cpu" else ""
    if _in(about, "data_parallel.py", "parallel_apply.py"):
        return "data_parallel_unreplicated_state"
    if _made_here(about):
        return "tensor_created_in_forward_without_device"
    if kept_from_a_call(about, held):
        return "cached_before_move"
    if is_of_a_library(held) and is_updated(about, held):
        return "metric_or_accumulator_state"
    return "unregistered_tensor_attribute"


def _held_by_an_object(about: Suspect, held: Holder) -> str:
    """Of an attribute of an object that is no module: a metric, a buffer of experience, a batch of one's own."""
    if found := _index(about):
        return found
    if is_written_to(about):
        return "metric_or_accumulator_state"
    if about.came.kind in ("loop", "call") or _feeds_a_model(about):
        return ""  # a batch
    if is_updated(about, held):
        return "metric_or_accumulator_state"
    made = origins.assigned(held.module, held.name)
    if made is not None and kind_of(made) == "made" and not _target(about):
        return "" if _spans_gpus(about) else "tensor_created_in_forward_without_device"
    return ""


def _made_in_forward(about: Suspect, held: Holder) -> bool:
    call = about.scene.place
    if not held.is_named and made_and_called(call):
        return True
    if call.scope is None or not _in_forward(about) or call.function == "__init__":
        return False
    module = held.expression.removesuffix(f".{held.name}")
    return origin(module, call.scope, call.line).kind == "call"


def _made_here(about: Suspect) -> bool:
    """Whether the attribute was assigned in the very call that failed."""
    call = about.scene.place
    if call.function == "__init__" or call.scope is None:
        return False
    came = origin(about.expression, call.scope, call.line)
    # Made with a `device=` that says elsewhere, it was kept from a call before the move.
    return came.kind == "made" and came.value is not None and expected_device(came.value, call) not in about.others


def _spans_gpus(about: Suspect) -> bool:
    return "cpu" not in (about.party.device, *about.others)


def _hidden(about: Suspect) -> str:
    named = any(party.role in ("hx", "hidden", "state") or "hx" in party.role for party in (about.party,))
    return "hidden_state_not_moved" if named and _in(about, "torch/nn/modules/rnn.py") else ""


def _target(about: Suspect) -> str:
    return "target_not_moved" if "target" in about.party.role and about.came.kind != "made" else ""


def _two_gpus(about: Suspect) -> str:
    if "cpu" in (about.party.device, *about.others):
        return ""
    came = about.came.value if about.came.kind in ("moved", "made") else None
    if came is None and is_code(about.expression):
        came = ast.parse(about.expression, mode="eval").body
    if came is not None and _bare(came, about.scope):
        return "wrong_default_index"
    return "split_model_activation_not_moved"


def _bare(node: ast.expr, call: Call) -> bool:
    """Whether a call asks for "cuda" without a number."""
    if not isinstance(node, ast.Call):
        return False
    asked = [*node.args[:1], *filter(None, [origins.device_argument(node)])]
    if origins.called(node) == "cuda":
        return not asked
    return any(_is_named(value(one, call), "cuda") for one in asked)


def _is_named(named: object, *devices: str) -> bool:
    return (type(named) is str or objects.is_device(named)) and str(named) in devices


def _accumulator(about: Suspect) -> str:
    if (about.came.kind != "made" and not isinstance(about.came.value, ast.List | ast.Dict)) or _in_forward(about):
        return ""
    node = about.scene.place.node
    if isinstance(node, ast.AugAssign) and about.party.operand.node is node.target:
        return "metric_or_accumulator_state"
    if about.scope.scope is None or about.came.statement is None:
        return ""
    if isinstance(about.came.value, ast.List) and grows(about.scope.scope, re.match(r"\w+", about.name)):
        return "metric_or_accumulator_state"
    for loop in ast.walk(about.scope.scope):
        if (
            isinstance(loop, (ast.For, ast.While))
            and loop.lineno <= about.scope.line <= (loop.end_lineno or 0)
            and about.came.statement not in ast.walk(loop)
            and given_in(loop, about.name)
        ):
            return "metric_or_accumulator_state"
    return ""


def _joined(about: Suspect) -> str:
    return "tensors_of_two_devices_joined" if joins(about.party) else ""


def _written(about: Suspect) -> str:
    """Whether `x[index] = values` writes it, or writes to it what is elsewhere."""
    match about.party.call.node:
        case ast.Assign(targets=[ast.Subscript(slice=index)]) if not isinstance(index, ast.Slice):
            return "written_values_on_wrong_device" if about.came.kind not in ("loop", "argument") else ""
    return ""


def _index(about: Suspect) -> str:
    node = about.scene.place.node
    return "index_on_wrong_device" if isinstance(node, ast.Subscript) and about.party.role != "index" else ""


def _made(about: Suspect) -> str:
    """Created without a device; data that somebody made up for a model are a batch that was not moved."""
    made = about.came.value
    if about.came.kind == "call" and isinstance(made, ast.Call):
        helper = function_of(made.func, about.scope)
        sized = _sized(made, about) and not _has_a_tensor(made, about)
        if not sized and not (helper is not None and _makes(helper)) and not _of_factories(made, about):
            return ""
    elif about.came.kind != "made" and not (about.name and _of_factories(made, about)):
        return ""
    if made is not None and _sized(made, about):
        return "tensor_created_in_forward_without_device"
    # A model's own code made it, or it met the model's tensors outside of any model.
    if _in_forward(about, about.scope) or not (_feeds_a_model(about) or _in_forward(about)):
        return "tensor_created_in_forward_without_device"
    return "input_not_moved"


def _of_factories(value_: ast.expr | None, about: Suspect, depth: int = 4) -> bool:
    """Whether all the tensors in an expression that are where its result is come of factories, some lines above."""
    tree = about.scope.scope
    nodes = [node for node in ast.walk(value_) if isinstance(node, ast.Name)] if value_ is not None and tree else []
    held = [(node, value(node, about.scope)) for node in nodes]
    mine = [node.id for node, one in held if objects.is_tensor(one) and objects.device(one) == about.party.device]
    came = [origin(name, tree, about.scope.line) for name in mine if name != about.name]  # type: ignore[arg-type]
    return bool(came) and all(
        one.kind == "made"
        or (one.kind in ("call", "other") and depth > 0 and _of_factories(one.value, about, depth - 1))
        for one in came
    )


def _makes(helper: types.FunctionType) -> bool:
    """Whether a function returns what a factory of torch makes in it."""
    tree = scope(helper.__code__, helper.__globals__)
    for returned in returns(helper):
        came = origin(returned.id, tree, 10**9) if isinstance(returned, ast.Name) and tree is not None else None
        if (came.kind if came else kind_of(returned)) == "made":
            return True
    return False


def _has_a_tensor(made: ast.expr, about: Suspect) -> bool:
    """Whether a call is given a tensor that is where its result is."""
    names = [value(node, about.scope) for node in ast.walk(made) if isinstance(node, (ast.Name, ast.Attribute))]
    return any(objects.device(one) == about.party.device for one in names if objects.is_tensor(one))


def _sized(made: ast.expr, about: Suspect) -> bool:
    """Whether its size is that of another tensor: what depends on the batch is made for each."""
    names = [node for node in ast.walk(made) if isinstance(node, (ast.Name, ast.Attribute))]
    given = [
        origin(node.id, about.scope.scope, about.scope.line).value
        for node in names
        if isinstance(node, ast.Name) and about.scope.scope is not None and node.id != about.name
    ]
    return any(
        node.attr in ("shape", "size") if isinstance(node, ast.Attribute) else node.id == "len"
        for whole in [made, *filter(None, given)]
        for node in ast.walk(whole)
        if isinstance(node, (ast.Attribute, ast.Name))
    )


def _feeds_a_model(about: Suspect) -> bool:
    held = [about.scene.holder(party.tensor) for party in about.rest if party.tensor is not None]
    return about.party.call.in_library and any(one is not None and one.moves for one in held)


def _in_forward(about: Suspect, within: Call | None = None) -> bool:
    """Whether a module's own code is running, or calls the frame `within`."""
    frames = about.scene.user
    if within is not None:
        frames = frames[frames.index(within) :] if within in frames else []
    return any(objects.is_module(call.method_of) for call in frames)


def _hard_coded(about: Suspect) -> str:
    return "hardcoded_cuda" if about.party.device != "cpu" and wants_cpu(about.scene) else ""


def _input(about: Suspect) -> str:
    return "input_not_moved" if about.came.kind in ("loop", "argument", "call", "other", "moved") else ""


_TESTS = (
    _gradient, _meta, _library, _hard_coded, _optimizer, moved_in_vain, _loss_weight, _hidden, _held, _two_gpus,
    _written, _accumulator, _joined, _index, _target, _made, _input,
)  # fmt: skip
