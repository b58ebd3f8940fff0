"""What is known of a tensor in the wrong place: what it is called, who holds it, where it came from."""

import ast
import types
from dataclasses import dataclass, replace
from typing import Any

from samedevice.doctor.culprits.expected_device import expected_device, receiver
from samedevice.doctor.culprits.failure import Scene
from samedevice.doctor.culprits.operands import Party, parties_of
from samedevice.doctor.culprits.provenance import Trail, trail
from samedevice.introspect import classes, objects, origins
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.libraries import is_third_party
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder


@dataclass(frozen=True, eq=False)
class Suspect:
    """A tensor in the wrong place, and what is known of it while the frames are alive.

    Attributes:
        expression: as the source has it; call, the frame whose source that is.
        party: what it did in the failing operation; `rest` are those elsewhere, `others` their devices.
        holder: the module or object that holds it.
        came: where its name got it.
        scope: the frame in which `came` was read, and the name that it has there, "" for none.
        likely: the causes that the text speaks for.
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
        """The device where it is wanted, or "" where only the cause tells."""
        return next((where for where in self.others if where != "cpu"), self.others[0] if self.others else "")


def suspect(party: Party, all_parties: list[Party], scene: Scene, likely: tuple[str, ...]) -> Suspect:
    """Gather what is known of a tensor; `likely` are the causes that the text speaks for."""
    holder = scene.holder(party.tensor) if party.tensor is not None else None
    expression, call = _named(party, holder, scene)
    named = value(parsed(expression), call)
    if holder is None and party.tensor is not None and named is not party.tensor and objects.is_tensor(named):
        # A copy that nobody holds: what the line names is what has to move.
        scene.want(named)
        party, holder = replace(party, tensor=named), scene.holder(named)
    if party.came is not None:
        expression, call = party.operand.expression, party.call
        found = Trail(party.came, call, "")
    elif party.tensor is None and isinstance(party.operand.node, ast.Name) and party.operand.value is not MISSING:
        found = trail(party.operand.value, expression, call, scene)
    elif party.tensor is None:
        found = Trail(Origin(origins.kind_of(party.operand.node), None, party.operand.node), call, expression)
    else:
        found = trail(party.tensor, expression, call, scene)
        if holder is None and (begins := _part_of(found, party, scene)):
            # A view or a copy of what an object holds: that is what has to move.
            node, tensor, holder = begins
            expression, call = text_of(node), found.scope
            party = replace(party, tensor=tensor)
            found = Trail(Origin("other", None, None), call, expression)
        elif holder is None and found.scope is not call and objects.is_tensor(value(parsed(found.name), found.scope)):
            expression, call = found.name, found.scope  # where the program can change it
    rest = tuple(other for other in all_parties if other.device != party.device)
    others = tuple(dict.fromkeys(other.device for other in rest))
    return Suspect(expression, call, party, others, rest, holder, found.came, found.scope, found.name, scene, likely)


def _part_of(found: Trail, party: Party, scene: Scene) -> tuple[ast.expr, Any, Holder] | None:
    if found.came.kind not in ("call", "other") or found.came.value is None or not found.name:
        return None
    for node in ast.walk(found.came.value):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            tensor = value(node, found.scope)
            if objects.is_tensor(tensor) and objects.device(tensor) == party.device:
                holder = scene.holder(tensor)
                if holder is not None and not holder.moves:
                    return node, tensor, holder
    return None


def is_of_a_library(held: Holder) -> bool:
    """Whether the class that made a module's plain attribute is a third library's."""
    for owner in classes.mro(type(held.module)):
        begins = classes.namespace(owner).get("__init__")
        if isinstance(begins, types.FunctionType):
            return is_third_party(begins.__code__.co_filename)
    return False


def _named(party: Party, holder: Holder | None, scene: Scene) -> tuple[str, Call]:
    node = party.operand.node
    if (
        isinstance(node, (ast.Attribute, ast.Subscript))
        and party.call is scene.place
        and scene.expression(party.tensor) is None
    ):
        return party.operand.expression, party.call  # a replica's own words
    if party.tensor is not None:
        if found := scene.expression(party.tensor):
            return found[0], found[1]
        in_a_librarys = scene.third_party and holder and objects.is_module(holder.module) and is_of_a_library(holder)
        if holder and holder.is_named and not in_a_librarys:
            return holder.expression, scene.place
        if found := scene.expression(party.tensor, scene.third_party):
            return found[0], found[1]
        if holder and (made := made_and_called(scene.place)):
            return made, scene.place
    if not party.call.in_library or party.call.in_third_party:
        return party.operand.expression + party.within, party.call
    if loader := _loader(scene.place):
        return loader, scene.place
    # A view or a copy that a library made: of what the user's line passes there.
    passed = [
        one
        for one in _arguments(scene.place)
        if any(objects.device(tensor) == party.device for _, tensor in objects.inside(value(one, scene.place)))
    ]
    if passed:
        return text_of(passed[0]), scene.place
    unnamed = [one for one in _arguments(scene.place) if value(one, scene.place) is MISSING]
    if len(unnamed) == 1 and expected_device(unnamed[0], scene.place) in ("", party.device):
        begins = receiver(unnamed[0], scene.place)
        if begins and objects.device(begins[1]) != party.device:
            begins = None
        return text_of(begins[0] if begins else unnamed[0]), scene.place
    if made := made_and_called(scene.place):
        return made, scene.place
    for here in parties_of(scene.place):
        if here.device == party.device:
            return here.operand.expression + here.within, scene.place
    return party.operand.expression + party.within, party.call


def _loader(call: Call) -> str:
    """The DataLoader that the failing loop goes over."""
    node = call.node.iter if isinstance(call.node, (ast.For, ast.AsyncFor)) else call.node
    if isinstance(node, ast.expr):
        over = value(node, call)
        made = isinstance(node, ast.Call) and origins.called(node) == "DataLoader"
        if made or objects.is_a(over, "torch.utils.data", "DataLoader"):
            return text_of(node)
    return ""


def made_and_called(call: Call) -> str:
    """`nn.LayerNorm(8)` of `nn.LayerNorm(8)(x)`."""
    match call.node:
        case ast.Call(func=ast.Call() as made):
            return text_of(made)
    return ""


def _arguments(call: Call) -> list[ast.expr]:
    found: list[ast.expr] = []
    for node in ast.walk(call.node) if call.node is not None else ():
        if isinstance(node, ast.Call):
            for one in [*node.args, *(keyword.value for keyword in node.keywords)]:
                found += one.elts if isinstance(one, (ast.List, ast.Tuple)) else [one]
            break
    return found
