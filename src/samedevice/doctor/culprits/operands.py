"""Which tensors met in the failing operation, and which of them is where it should not be."""

import ast
import re
from dataclasses import dataclass
from typing import Any

from samedevice.doctor.culprits.expected_device import expected_device, is_told_by_source, receiver
from samedevice.doctor.culprits.failure import Scene
from samedevice.introspect import objects
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin, origin
from samedevice.introspect.values import Operand, operands, value

DEVICE_NAMES = ("device", "self.device", "args.device", "DEVICE")  # how programs call the device that they chose
# Functions that make one tensor of a list of them.
_JOIN = {"stack", "cat", "concat", "concatenate", "hstack", "vstack", "dstack", "column_stack", "pad_sequence"}


@dataclass(eq=False)
class Party:
    """A tensor that took part; `tensor` is None for the result of an expression that nobody holds.

    Attributes:
        device: where it is, as PyTorch writes it.
        call: the frame that shows it.
        operand: what it is there.
        within: the path from the operand to the tensor: "", "[0]", ".weight".
        came: how it came about, and the line that mends it, where no frame shows that.
        is_known: whether its device was read off the tensor, or off the factory or the move that the line calls.
    """

    tensor: Any
    device: str
    call: Call
    operand: Operand
    within: str = ""
    came: Origin | None = None
    mended: str = ""
    is_known: bool = True

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


def is_told(parties: list[Party]) -> bool:
    """Whether it can be told who is in the wrong place.

    One result that nobody kept is where no other tensor is; of two it cannot be told, so nobody is accused.
    """
    return sum(not party.is_known for party in parties) < 2


def suspects(parties: list[Party], scene: Scene) -> list[Party]:
    """Who is in the wrong place, most suspect first: on meta, else on the CPU, else not where the parameters are."""
    devices = list(dict.fromkeys(party.device for party in parties))
    if "meta" in devices:
        return [party for party in parties if party.device == "meta"]
    if len(devices) < 2:
        return []
    if odd := _odd_ones(parties):
        return odd
    if "cpu" in devices:
        meant = "cpu" if wants_cpu(scene) else ""
        chosen = [party for party in parties if (party.device == "cpu") != (meant == "cpu")]
        # A number on the CPU may join what is on a GPU, so it is seldom at fault.
        return sorted(chosen, key=lambda party: party.tensor is not None and objects.shape(party.tensor) == ())
    holders = [(party, scene.holder(party.tensor) if party.tensor is not None else None) for party in parties]
    if loose := [party for party, holder in holders if holder and not holder.moves]:
        return loose
    # Of two activations the one that is behind: a model over several GPUs begins at the first.
    furthest = max(devices, key=lambda device: int(device.partition(":")[2] or 0))
    home = next((party.device for party, holder in holders if holder), furthest)
    return [party for party in parties if party.device != home]


def joins(party: Party) -> bool:
    """Whether it is in a list that the failing line makes one tensor of."""
    names = [node for node in ast.walk(party.call.node or ast.Pass()) if isinstance(node, (ast.Name, ast.Attribute))]
    is_joined = any((node.id if isinstance(node, ast.Name) else node.attr) in _JOIN for node in names)
    return is_joined and re.match(r"\[\d+\]", party.within) is not None


def _odd_ones(parties: list[Party]) -> list[Party]:
    """Of a list that is joined, those that are elsewhere than most of it."""
    if len({party.operand for party in parties}) > 1 or len({party.device for party in parties}) > 2:
        return []
    least = min(sorted({party.device for party in parties}), key=lambda device: _on(device, parties))
    is_few = 2 * _on(least, parties) < len(parties) and all(joins(party) for party in parties)
    return [party for party in parties if party.device == least] if is_few else []


def _on(device: str, parties: list[Party]) -> int:
    return sum(party.device == device for party in parties)


def wants_cpu(scene: Scene) -> bool:
    """Whether the program says itself that it runs on the CPU, by a variable `device`; by a local one before all.

    `device = idx.device` says where `idx` is, not where the program runs.
    """
    given = [call for call in scene.user if "device" in call.locals and call.function != "<module>"]
    chosen = [call for call in given or scene.user if not _is_read_from_a_tensor("device", call)]
    named = [value(ast.parse(name, mode="eval").body, call) for call in chosen for name in DEVICE_NAMES]
    texts = [str(one) for one in named if type(one) is str or objects.is_device(one)]
    return bool(texts) and set(texts) == {"cpu"}


def _is_read_from_a_tensor(name: str, call: Call) -> bool:
    given = origin(name, call.scope, call.line).value if name in call.locals and call.scope is not None else None
    return isinstance(given, ast.Attribute) and given.attr == "device"


def parties_of(call: Call) -> list[Party]:
    """The tensors that the failing expression of one frame works on."""
    found = []
    for operand in operands(call):
        if operand.role == "index" and _is_free(operand, call):
            continue
        if operand.value is MISSING:
            begins = receiver(operand.node, call)
            where = expected_device(operand.node, call)
            if begins and where == objects.device(begins[1]):
                found.append(Party(begins[1], where, call, Operand(*begins, operand.role)))
            elif where:
                found.append(Party(None, where, call, operand, is_known=is_told_by_source(operand.node, call)))
        elif objects.is_module(operand.value):
            own = objects.attributes(operand.value)
            for name, tensor in [*own.get("_parameters", {}).items(), *own.get("_buffers", {}).items()]:
                if tensor is not None:
                    found.append(Party(tensor, objects.device(tensor), call, operand, f".{name}"))
        else:
            for path, tensor in objects.inside(operand.value):
                found.append(Party(tensor, objects.device(tensor), call, operand, path))
    return found


def _is_free(index: Operand, call: Call) -> bool:
    """Whether it is the index of `x[index]` and on the CPU: PyTorch takes it from there, wherever `x` is."""
    if not isinstance(call.node, (ast.Subscript, ast.Assign)):
        return False
    if index.value is MISSING:
        return expected_device(index.node, call) == "cpu"
    return all(objects.device(tensor) == "cpu" for _, tensor in objects.inside(index.value))
