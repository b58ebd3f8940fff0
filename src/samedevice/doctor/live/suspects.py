"""Which tensors met in the failing operation, and which of them is where it should not be."""

import ast
import sys
from dataclasses import dataclass
from typing import Any

from samedevice.doctor.live import safely
from samedevice.doctor.live.origins import Origin, device_argument, kind_of
from samedevice.doctor.live.safely import MISSING
from samedevice.doctor.live.scene import Scene
from samedevice.doctor.live.stack import Call
from samedevice.doctor.live.values import Operand, operands, value

DEVICE_NAMES = ("device", "self.device", "args.device", "DEVICE")  # how programs call the device that they chose


@dataclass(eq=False)
class Party:
    """A tensor that took part; `tensor` is None for the result of an expression that nobody holds.

    Attributes:
        device: where it is, as PyTorch writes it.
        call: the frame that shows it.
        operand: what it is there.
        within: the path from the operand to the tensor: "", "[0]", ".weight".
        came: how it came about, and the line that mends it, where no frame shows that.
    """

    tensor: Any
    device: str
    call: Call
    operand: Operand
    within: str = ""
    came: Origin | None = None
    mended: str = ""

    @property
    def role(self) -> str:
        return self.operand.role or self.operand.expression


def parties(scene: Scene) -> list[Party]:
    """Those of the innermost frame that shows tensors on two devices, else of all frames below the user's line."""
    found: list[Party] = []
    for call in scene.below:
        here = parties_of(call)
        if len({party.device for party in here}) > 1:
            return here
        found += here
    return found


def suspects(parties: list[Party], scene: Scene) -> list[Party]:
    """Who is in the wrong place, most suspect first: on meta, else on the CPU, else not where the parameters are."""
    devices = list(dict.fromkeys(party.device for party in parties))
    if "meta" in devices:
        return [party for party in parties if party.device == "meta"]
    if len(devices) < 2:
        return []
    if "cpu" in devices:
        meant = "cpu" if wants_cpu(scene) else ""
        chosen = [party for party in parties if (party.device == "cpu") != (meant == "cpu")]
        # A number on the CPU may join what is on a GPU, so it is seldom at fault.
        return sorted(chosen, key=lambda party: party.tensor is not None and safely.shape(party.tensor) == ())
    holders = [(party, scene.holder(party.tensor) if party.tensor is not None else None) for party in parties]
    if loose := [party for party, holder in holders if holder and not holder.moves]:
        return loose
    # Of two activations the one that is behind: a model over several GPUs begins at the first.
    furthest = max(devices, key=lambda device: int(device.partition(":")[2] or 0))
    home = next((party.device for party, holder in holders if holder), furthest)
    return [party for party in parties if party.device != home]


def wants_cpu(scene: Scene) -> bool:
    """Whether the program says itself that it runs on the CPU, by a variable `device`."""
    named = [value(ast.parse(name, mode="eval").body, call) for call in scene.user for name in DEVICE_NAMES]
    texts = [str(one) for one in named if type(one) is str or safely.is_device(one)]
    return bool(texts) and set(texts) == {"cpu"}


def parties_of(call: Call) -> list[Party]:
    """The tensors that the failing expression of one frame works on."""
    found = []
    for operand in operands(call):
        if operand.value is MISSING:
            begins = receiver(operand.node, call)
            where = expected_device(operand.node, call)
            if begins and where == safely.device(begins[1]):
                found.append(Party(begins[1], where, call, Operand(*begins, operand.role)))
            elif where:
                found.append(Party(None, where, call, operand))
        elif safely.is_module(operand.value):
            own = safely.attributes(operand.value)
            for name, tensor in [*own.get("_parameters", {}).items(), *own.get("_buffers", {}).items()]:
                if tensor is not None:
                    found.append(Party(tensor, safely.device(tensor), call, operand, f".{name}"))
        else:
            for path, tensor in safely.inside(operand.value):
                found.append(Party(tensor, safely.device(tensor), call, operand, path))
    return found


def receiver(node: ast.expr, call: Call) -> tuple[ast.expr, Any] | None:
    """Of `x.float().view(-1)` and the like, whose value nobody holds, the tensor at their beginning."""
    while value(node, call) is MISSING:
        match node:
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                node = inner
            case ast.UnaryOp(operand=inner):
                node = inner
            case ast.BinOp():
                return receiver(node.left, call) or receiver(node.right, call)
            case _:
                return None
    found = value(node, call)
    return (node, found) if safely.is_tensor(found) else None


def expected_device(node: ast.expr, call: Call) -> str:
    """Where the value of an expression that was not kept must be; "" where that cannot be told."""
    held = value(node, call)
    if held is not MISSING:
        return next((safely.device(tensor) for _, tensor in safely.inside(held)), "")
    match node:
        case ast.Call():
            kind = kind_of(node)
            asked = device_argument(node)
            if asked is not None:
                return device_named(asked, call)
            if kind == "made":
                if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
                    return expected_device(node.func.value, call)
                return _default_device()
            if kind == "moved" and isinstance(node.func, ast.Attribute):
                if node.func.attr == "cpu":
                    return "cpu"
                if node.func.attr == "cuda":
                    return device_named(node.args[0], call) if node.args else "cuda:0"
                return device_named(node.args[0], call) if node.args else expected_device(node.func.value, call)
            called = value(node.func, call)
            if safely.is_module(called):
                return next((safely.device(tensor) for tensor in _parameters(called)), "")
            if isinstance(node.func, ast.Attribute) and (where := expected_device(node.func.value, call)):
                return where
            return next(filter(None, (expected_device(argument, call) for argument in node.args)), "")
        case ast.BinOp():
            sides = [expected_device(node.left, call), expected_device(node.right, call)]
            return next((side for side in sides if side not in ("", "cpu")), sides[0] or sides[1])
        case ast.UnaryOp():
            return expected_device(node.operand, call)
        case ast.Subscript() | ast.Attribute():
            return expected_device(node.value, call)
        case ast.Starred():
            return expected_device(node.value, call)
    return ""


def device_named(node: ast.expr, call: Call) -> str:
    """The device that an expression names: text, a number, a torch.device, the `.device` of a tensor."""
    if isinstance(node, ast.Attribute) and node.attr == "device":
        return expected_device(node.value, call)
    named = value(node, call)
    if safely.is_tensor(named):
        return safely.device(named)
    if type(named) is int:
        return f"cuda:{named}"
    text = str(named) if type(named) is str or safely.is_device(named) else ""
    return "cuda:0" if text == "cuda" else text


def _parameters(module: Any) -> list[Any]:
    todo, found = [module], []
    while todo:
        own = safely.attributes(todo.pop())
        found += [tensor for tensor in own.get("_parameters", {}).values() if tensor is not None]
        todo += [child for child in own.get("_modules", {}).values() if child is not None]
    return found


def _default_device() -> str:
    where = str(sys.modules["torch"].get_default_device())
    return "cuda:0" if where == "cuda" else where
