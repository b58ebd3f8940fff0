"""Why a tensor is where it is, as a cause of the catalog, and the line to change in the program's own names."""

import ast
import copy
import re
import types
from dataclasses import dataclass
from typing import Any

from samedevice.doctor.live import origins, safely
from samedevice.doctor.live.holders import Holder, held_by_module
from samedevice.doctor.live.origins import Origin, origin
from samedevice.doctor.live.safely import MISSING
from samedevice.doctor.live.scene import Scene
from samedevice.doctor.live.stack import Call, scope
from samedevice.doctor.live.suspects import DEVICE_NAMES, Party, receiver, wants_cpu
from samedevice.doctor.live.values import value


@dataclass(frozen=True, eq=False)
class Suspect:
    """A tensor in the wrong place, and what is known of it while the frames are alive.

    Attributes:
        expression: as the source has it; call, the frame whose source that is.
        party: what it did in the failing operation; `others` are the devices of the rest.
        holder: the module or object that holds it.
        came: where its name got it.
        scope: the frame in which `came` was read, and that name.
    """

    expression: str
    call: Call
    party: Party
    others: tuple[str, ...]
    rest: tuple[Party, ...]
    holder: Holder | None
    came: Origin
    scope: Call
    name: str
    scene: Scene
    likely: tuple[str, ...]

    @property
    def home(self) -> str:
        """The device where it is wanted."""
        return next((where for where in self.others if where != "cpu"), self.others[0] if self.others else "")


def suspect(party: Party, all_parties: list[Party], scene: Scene, likely: tuple[str, ...]) -> Suspect:
    """Gather what is known of a tensor; `likely` are the causes that the text speaks for."""
    holder = scene.holder(party.tensor) if party.tensor is not None else None
    expression, call = _named(party, holder, scene)
    came, scope, name = _came(party, expression, call, scene)
    if holder is None and scope is not call:
        expression, call = name, scope  # where the program can change it
    others = tuple(dict.fromkeys(other.device for other in all_parties if other.device != party.device))
    rest = tuple(other for other in all_parties if other.device != party.device)
    return Suspect(expression, call, party, others, rest, holder, came, scope, name, scene, likely)


def _named(party: Party, holder: Holder | None, scene: Scene) -> tuple[str, Call]:
    written = party.operand.node
    if (
        isinstance(written, (ast.Attribute, ast.Subscript))
        and party.call is scene.place
        and scene.expression(party.tensor) is None
    ):
        return party.operand.expression, party.call  # a replica's own words
    if party.tensor is not None:
        if found := scene.expression(party.tensor):
            return found[0], found[1]
        if holder and holder.is_named:
            return holder.expression, scene.place
        if holder and (made := _made_and_called(scene.place)):
            return made, scene.place
    if not party.call.in_library:
        return party.operand.expression + party.within, party.call
    if loader := _loader(scene.place):
        return loader, scene.place
    # A view or a copy that a library made: of what the user's line passes there.
    passed = [
        one
        for one in _arguments(scene.place)
        if any(safely.device(tensor) == party.device for _, tensor in safely.inside(value(one, scene.place)))
    ]
    if passed:
        return ast.unparse(passed[0]).replace("'", '"'), scene.place
    unnamed = [one for one in _arguments(scene.place) if value(one, scene.place) is MISSING]
    if len(unnamed) == 1:
        begins = receiver(unnamed[0], scene.place)
        if begins and safely.device(begins[1]) != party.device:
            begins = None
        return ast.unparse(begins[0] if begins else unnamed[0]).replace("'", '"'), scene.place
    return party.operand.expression + party.within, party.call


def _loader(call: Call) -> str:
    """The DataLoader that the failing loop goes over."""
    node = call.node.iter if isinstance(call.node, (ast.For, ast.AsyncFor)) else call.node
    if isinstance(node, ast.expr):
        over = value(node, call)
        made = isinstance(node, ast.Call) and origins.called(node) == "DataLoader"
        if made or safely.is_a(over, "torch.utils.data", "DataLoader"):
            return ast.unparse(node).replace("'", '"')
    return ""


def _made_and_called(call: Call) -> str:
    """`nn.LayerNorm(8)` of `nn.LayerNorm(8)(x)`."""
    match call.node:
        case ast.Call(func=ast.Call() as made):
            return ast.unparse(made).replace("'", '"')
    return ""


def _arguments(call: Call) -> list[ast.expr]:
    found: list[ast.expr] = []
    for node in ast.walk(call.node) if call.node is not None else ():
        if isinstance(node, ast.Call):
            found += [*node.args, *(keyword.value for keyword in node.keywords)]
            break
    return found


def _came(party: Party, expression: str, call: Call, scene: Scene) -> tuple[Origin, Call, str]:
    """Follow a name to what gave it its value: through arguments to the frames outside."""
    name = expression
    if party.tensor is None:
        return Origin(origins.kind_of(party.operand.node), None, party.operand.node), call, name
    for _ in range(20):
        if call.scope is None:
            return Origin("other", None, None), call, name
        came = origin(name, call.scope, call.line, call.statement)
        first = re.match(r"\w+", name)
        if came.kind == "other" and came.value is None and first and first[0] != "self" and "(" not in name:
            came = origin(first[0], call.scope, call.line, call.statement)
        if came.kind == "other" and isinstance(came.value, ast.Name):
            return came, call, name
        if came.kind != "argument":
            return came, call, name
        outside = scene.user[scene.user.index(call) + 1 :] if call in scene.user else []
        for caller in outside:
            names = [node for node in ast.walk(caller.node) if isinstance(node, ast.expr)] if caller.node else []
            inner = [node for node in names if value(node, caller) is party.tensor]
            if inner:
                name, call = ast.unparse(max(inner, key=lambda node: len(ast.unparse(node)))).replace("'", '"'), caller
                break
            if len(passed := [one for one in _arguments(caller) if value(one, caller) is MISSING]) == 1:
                return Origin(origins.kind_of(passed[0]), None, passed[0]), caller, ast.unparse(passed[0])
        else:
            return came, call, name
    return came, call, name


def cause(about: Suspect) -> str:
    """The catalog's cause."""
    return next(filter(None, (test(about) for test in _TESTS)), about.likely[0] if about.likely else "library_bug")


def returned_on_cpu(whole: Any, likely: list[str]) -> str:
    """Why a replica of DataParallel returned a CPU tensor: its forward moved it there, or made it there."""
    forward = vars(type(safely.attribute(whole, "module"))).get("forward")
    tree = scope(forward.__code__, forward.__globals__) if isinstance(forward, types.FunctionType) else None
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and origins.called(node) == "cpu" and "data_parallel_output_on_cpu" in likely:
            return "data_parallel_output_on_cpu"
    return likely[0] if likely else "library_bug"


def _in(about: Suspect, *parts: str) -> bool:
    return any(part in call.file.replace("\\", "/") for call in about.scene.calls for part in parts)


def _gradient(about: Suspect) -> str:
    return "grad_device" if "grad_device" in about.likely and _in(about, "torch/autograd/") else ""


def _optimizer(about: Suspect) -> str:
    return "optimizer_state_device" if _in(about, "torch/optim/") else ""


def _meta(about: Suspect) -> str:
    return "meta_device_leftover" if "meta" in (about.party.device, *about.others) else ""


def _thrown_away(about: Suspect) -> str:
    if about.scope.scope is not None and origins.discarded_move(about.name, about.scope.scope):
        return "in_place_or_copy"
    if about.came.kind == "other" and isinstance(about.came.value, ast.Name) and about.scope.scope is not None:
        source = origin(about.came.value.id, about.scope.scope, about.scope.line)
        if source.kind == "moved":
            return "in_place_or_copy"
    return ""


def _held(about: Suspect) -> str:
    held = about.holder
    if held is None or held.kind == "state":
        return ""
    if not safely.is_module(held.module):
        return _index(about) or "metric_or_accumulator_state"
    if held.moves:
        if safely.is_a(held.module, "torch.nn.modules.loss", "_Loss"):
            return "loss_weight_not_moved"
        if _made_in_forward(about, held):
            return "submodule_created_in_forward"
        if _spans_gpus(about):
            return "split_model_activation_not_moved"
        if about.party.device == "cpu":
            return "model_not_moved"
        return ""
    if _in(about, "data_parallel.py", "parallel_apply.py"):
        return "data_parallel_unreplicated_state"
    if _made_here(about):
        return "tensor_created_in_forward_without_device"
    return "unregistered_tensor_attribute"


def _made_in_forward(about: Suspect, held: Holder) -> bool:
    call = about.scene.place
    if not held.is_named and _made_and_called(call):
        return True
    if call.scope is None or not held.root.isidentifier() or not safely.is_module(call.method_of):
        return False
    return origin(held.root, call.scope, call.line).kind == "call"


def _made_here(about: Suspect) -> bool:
    """Whether the attribute was assigned in the very call that failed."""
    call = about.scene.place
    return (
        call.function != "__init__"
        and call.scope is not None
        and origin(about.expression, call.scope, call.line).kind == "made"
    )


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
    if about.came.kind in ("moved", "made") and about.came.value is not None and _bare(about.came.value, about.scope):
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
    return (type(named) is str or safely.is_device(named)) and str(named) in devices


def _accumulator(about: Suspect) -> str:
    if (about.came.kind != "made" and not isinstance(about.came.value, ast.List)) or _in_forward(about):
        return ""
    node = about.scene.place.node
    if isinstance(node, ast.AugAssign) and about.party.operand.node is node.target:
        return "metric_or_accumulator_state"
    if about.scope.scope is None or about.came.statement is None:
        return ""
    if isinstance(about.came.value, ast.List) and _grows(about.scope.scope, re.match(r"\w+", about.name)):
        return "metric_or_accumulator_state"
    for loop in ast.walk(about.scope.scope):
        if (
            isinstance(loop, (ast.For, ast.While))
            and loop.lineno <= about.scope.line <= (loop.end_lineno or 0)
            and about.came.statement not in ast.walk(loop)
            and _given_in(loop, about.name)
        ):
            return "metric_or_accumulator_state"
    return ""


def _grows(tree: ast.AST, name: re.Match[str] | None) -> bool:
    """Whether something is appended to a list."""
    return name is not None and any(
        isinstance(node, ast.Attribute) and node.attr in ("append", "extend") and ast.unparse(node.value) == name[0]
        for node in ast.walk(tree)
    )


def _given_in(loop: ast.AST, name: str) -> bool:
    for node in ast.walk(loop):
        match node:
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                if name in ast.unparse(target):
                    return True
            case ast.Call(func=ast.Attribute(attr=method, value=base)) if method.endswith("_"):
                if ast.unparse(base).replace("'", '"') == name:
                    return True
    return False


def _index(about: Suspect) -> str:
    node = about.scene.place.node
    return "index_on_wrong_device" if isinstance(node, ast.Subscript) and about.party.role != "index" else ""


def _made(about: Suspect) -> str:
    if about.came.kind != "made":
        return ""
    if _feeds_a_model(about) and not _in_forward(about):
        return "input_not_moved"
    return "tensor_created_in_forward_without_device"


def _feeds_a_model(about: Suspect) -> bool:
    held = [about.scene.holder(party.tensor) for party in about.rest if party.tensor is not None]
    return about.party.call.in_library and any(one is not None and one.moves for one in held)


def _in_forward(about: Suspect) -> bool:
    return any(safely.is_module(call.method_of) for call in about.scene.user)


def _hard_coded(about: Suspect) -> str:
    return "hardcoded_cuda" if about.party.device != "cpu" and wants_cpu(about.scene) else ""


def _input(about: Suspect) -> str:
    return "input_not_moved" if about.came.kind in ("loop", "argument", "call", "other", "moved") else ""


_TESTS = (
    _gradient, _meta, _hard_coded, _optimizer, _thrown_away, _hidden, _held, _two_gpus, _accumulator, _index, _target,
    _made, _input,
)  # fmt: skip


def owner(about: Suspect) -> str:
    """Who holds the tensor, in a few words."""
    held = about.holder
    if held is not None:
        kinds = {
            "attribute": "plain attribute",
            "list": f"in the Python list {held.name}",
            "dict": f"in the Python dict {held.name}",
            "state": "optimizer state",
        }
        if held.kind == "buffer" and safely.is_a(held.module, "torch.nn.modules.loss", "_Loss"):
            kinds["buffer"] = "loss buffer"
        return f"{kinds.get(held.kind, held.kind)} of {type(held.module).__name__}"
    match about.came.kind:
        case "loop":
            over = value(about.came.value, about.scope) if about.came.value is not None else MISSING
            loader = safely.is_a(over, "torch.utils.data", "DataLoader")
            return "loop variable of a DataLoader" if loader else "loop variable"
        case "made":
            return "created in this call" if about.scope is about.scene.place else f"created in {about.scope.function}"
        case "argument":
            return f"argument of {about.scope.function}"
        case "moved":
            return "result of a move"
        case "call":
            return "result of a call"
    return "local variable"


def fix(about: Suspect, cause: str) -> str:
    """The line to change, in the program's names."""
    name, device = about.expression, _device(about)
    held = about.holder
    match cause:
        case "unregistered_tensor_attribute" | "data_parallel_unreplicated_state" if held is not None:
            return _register(held)
        case "model_not_moved" if held is not None:
            return f"{_root(about, held)}.to({device})"
        case "loss_weight_not_moved" if held is not None:
            return f"{held.expression.rpartition('.')[0]}.to({device})"
        case "optimizer_state_device":
            root = held.root if held is not None and held.kind == "state" else _optimizer_name(about)
            return f"{root}.load_state_dict({root}.state_dict())"
        case "submodule_created_in_forward" if held is not None:
            made = _statement(about.scene.place, held.root)
            return f"self.{made} in __init__" if made else f"create {held.root} in __init__"
        case "tensor_created_in_forward_without_device":
            if about.came.kind == "made" and about.came.value is not None:
                mended = _with_device(about.came.value, device)
                return f"{name} = {mended}" if re.fullmatch(r"[\w.]+", name) else mended
        case "numpy_conversion" | "cpu_only_argument":
            return f"{name}.cpu()"
        case "pin_memory_on_cuda_tensor":
            return "DataLoader(..., pin_memory=False)"
        case "generator_device" if about.party.call.in_library:
            return "DataLoader(..., generator=torch.Generator(device=device))"
        case "generator_device":
            return f"{name} = torch.Generator(device={device})"
        case "container_not_moved":
            if safely.is_one_of(about.party.operand.value, dict):
                return f"{name} = {{key: value.to({device}) for key, value in {name}.items()}}"
            return f"{name} = [value.to({device}) for value in {name}]"
        case "data_parallel_root_device" if held is not None:
            return f"{_root(about, held)}.to({device})"
        case "meta_device_leftover" if held is not None:
            return f"{_root(about, held)}.load_state_dict(state, assign=True)"
        case "device_ordinal_unavailable":
            return 'device = "cuda"'
        case "no_cuda_build_or_driver" | "hardcoded_cuda":
            return 'device = "cuda" if torch.cuda.is_available() else "cpu"'
        case "checkpoint_map_location":
            return f'torch.load({name}, map_location="cpu")'
    return f"{name} = {name}.to({device})" if re.fullmatch(r'[\w.\[\]"]+', name) else f"{name}.to({device})"


def _with_device(value: ast.expr, device: str) -> str:
    """The expression, with `device=` in the calls that make its tensors."""
    tree = copy.deepcopy(value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and origins.called(node) in origins.FACTORIES:
            node.keywords = [one for one in node.keywords if one.arg != "device"]
            node.keywords.append(ast.keyword("device", ast.parse(device, mode="eval").body))
    return ast.unparse(tree).replace("'", '"')


def _optimizer_name(about: Suspect) -> str:
    return next((name for name, _ in about.scene.optimizers()), "optimizer")


def _statement(call: Call, name: str) -> str:
    if call.scope is None:
        return ""
    came = origin(name, call.scope, call.line)
    return ast.unparse(came.statement) if isinstance(came.statement, ast.Assign) else ""


def _root(about: Suspect, held: Holder) -> str:
    """The outermost module that holds it, by the name that the outermost user frame has for it."""
    best = held.root
    for name, module in about.scene.modules():
        if name != "self" and any(one.moves for _, one in held_by_module("", module, {id(about.party.tensor)})):
            best = name
    return best


def _register(held: Holder) -> str:
    built = _assigned(held)
    if held.kind == "attribute":
        return f'self.register_buffer("{held.name}", {built or held.name})'
    if held.kind == "dict":
        return f"self.{held.name} = nn.ModuleDict({built or 'self.' + held.name})"
    return f"self.{held.name} = nn.ModuleList({built or 'self.' + held.name})"


def _assigned(held: Holder) -> str:
    """What the module's __init__ assigns to the attribute."""
    begins = vars(type(held.module)).get("__init__")
    tree = scope(begins.__code__, begins.__globals__) if isinstance(begins, types.FunctionType) else None
    came = origin(f"self.{held.name}", tree, 10**9) if tree else None
    return ast.unparse(came.value).replace("'", '"') if came and came.value is not None else ""


def _device(about: Suspect) -> str:
    """How the program calls the wanted device: its variable `device`, else the `.device` of what is there."""
    for call in about.scene.user:
        for name in DEVICE_NAMES:
            node = ast.parse(name, mode="eval").body
            named = value(node, call)
            if _is_named(named, about.home, about.home.removesuffix(":0")):
                return name
    for party in about.rest:
        if party.tensor is not None and (found := about.scene.expression(party.tensor)):
            return f"{found[0]}.device"
    return f'"{about.home}"' if about.home else "device"
