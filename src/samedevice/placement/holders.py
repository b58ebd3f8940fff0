"""How a program's modules and optimizers hold a tensor: what `.to()` moves, and what it does not see."""

import functools
from collections import UserDict
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

from samedevice.introspect import classes, objects
from samedevice.placement.places import Place, step
from samedevice.placement.walk import walk

__all__ = ["Holder", "held_by_module", "held_by_optimizer", "kind_of", "step", "stepped"]

_CONTAINERS = (dict, list, tuple, functools.partial, UserDict)


@dataclass(frozen=True, eq=False)
class Holder:
    """Where a tensor is held.

    Attributes:
        root: how the program names the outermost object: "model", "self".
        path: how to reach the tensor from it: ".layers[0].weight".
        kind: "parameter", "buffer", "attribute", "class attribute", "list", "dict" or "partial". A module in one
            of these counts as what it is in.
        name: the attribute that holds it, or the list or dict in which it is.
        module: the object whose attribute that is; kept only while the error is examined.
        inner: the module whose parameter or buffer it is, or None.
    """

    root: str
    path: str
    kind: str
    name: str
    module: Any
    inner: Any = None
    is_named: bool = True  # whether the user's own frames name the root

    @property
    def expression(self) -> str:
        return self.root + self.path

    @property
    def moves(self) -> bool:
        """Whether `root.to(device)` moves it."""
        return self.kind in ("parameter", "buffer")


def held_by_module(
    root: str, module: Any, wanted: Container[int] | None = None, seen: set[int] | None = None
) -> Iterator[tuple[Any, Holder]]:
    """Yield each tensor that a module holds, and how: registered, or in an attribute, a list, a dict or a partial.

    Args:
        root: how the program calls the module.
        wanted: the ids of the parameters and buffers to find; all of them by default.
        seen: the ids of modules that were looked at before; those of this one are added.
    """
    for place in walk(module, seen, wanted=wanted).tensors:
        holder = _holder(root, place) if place.facts.is_tensor else None
        if holder is not None:
            yield place.value, holder


def _holder(root: str, place: Place) -> Holder | None:
    """Return how a module holds a tensor; None if a plain object or a function in the module holds it."""
    owner, loose = place.parent and place.parent.value, place.loose
    if loose is None or loose.parent is None:
        if place.kind == "replica":  # a plain attribute, which replaces the parameter of that name
            return Holder(root, place.path, "attribute", place.key, owner)
        return Holder(root, place.path, place.kind, place.key, owner, owner)
    within = place.line(place.depth - loose.depth + 1)[:-1]
    if not all(map(_is_container, within)):
        return None
    kind = "class attribute" if loose.kind == "class attribute" else kind_of(loose.value)
    return Holder(root, place.path, kind, loose.key, loose.parent.value, owner if place.is_registered else None)


def _is_container(place: Place) -> bool:
    if place.facts.is_module:
        return place is not place.loose  # which would be a module in a plain attribute
    return any(base is kind for base in classes.mro(type(place.value)) for kind in _CONTAINERS)


def kind_of(value: Any) -> str:
    """Say how an attribute holds tensors: itself, or in a list, a dict or a partial function."""
    if objects.is_tensor(value):
        return "attribute"
    kinds = {dict: "dict", functools.partial: "partial"}
    return next((name for kind, name in kinds.items() if objects.is_one_of(value, kind)), "list")


def stepped(optimizer: Any) -> list[Any]:
    """Return the parameters that an optimizer steps."""
    groups = objects.attributes(optimizer).get("param_groups")
    groups = list.copy(groups) if objects.is_one_of(groups, list) else []  # type: ignore[arg-type]
    lists = [objects.item(group, "params") for group in groups]
    return [tensor for params in lists if type(params) is list for tensor in params if objects.is_tensor(tensor)]


def held_by_optimizer(optimizer: Any) -> Iterator[tuple[Any, Any, str]]:
    """Yield each tensor of an optimizer's state: the parameter that it belongs to, the tensor, its name there."""
    state = objects.attributes(optimizer).get("state", {})
    for parameter, kept in dict.items(state) if objects.is_one_of(state, dict) else ():
        if objects.is_tensor(parameter) and objects.is_one_of(kept, dict):
            for name, tensor in dict.items(kept):
                if objects.is_tensor(tensor) and type(name) is str:
                    yield parameter, tensor, name
