"""How a program's modules and optimizers hold a tensor: what `.to()` moves, and what it does not see."""

import functools
import sys
from collections import deque
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

from samedevice.introspect import classes, objects

_PLAIN = (bool, int, float, str, type(None))  # such attributes hold no tensors


@dataclass(frozen=True, eq=False)
class Holder:
    """Where a tensor is held.

    Attributes:
        root: how the program names the outermost object: "model", "self".
        path: how to reach the tensor from it: ".layers[0].weight".
        kind: "parameter", "buffer", "attribute", "class attribute", "list", "dict" or "partial"; of a module in
            one of these, that.
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
    """Each tensor that a module holds, however it does.

    Arguments:
        root: how the program calls the module.
        wanted: the ids of the tensors to find; all of them by default.
        seen: the ids of modules that were looked at before; those of this one are added.
    """
    todo: deque[tuple[str, Any, tuple[str, str, Any] | None]] = deque([("", module, None)])
    seen = set() if seen is None else seen
    asked: set[type] = set()
    while todo:
        path, module, within = todo.popleft()
        if id(module) in seen:
            continue
        seen.add(id(module))
        own = objects.attributes(module)
        for where, kind in (("_parameters", "parameter"), ("_buffers", "buffer")):
            for name, tensor in own.get(where, {}).items():
                if tensor is not None and (wanted is None or id(tensor) in wanted):
                    how, held_as, owner = within or (kind, name, module)
                    yield tensor, Holder(root, path + step(module, name), how, held_as, owner, module)
        for name, child in own.get("_modules", {}).items():
            if child is not None:
                todo.append((path + step(module, name), child, within))
        if type(module) not in asked:
            asked.add(type(module))
            for name, tensor in _of_class(type(module)):
                if name not in own:
                    yield tensor, Holder(root, f"{path}.{name}", *(within or ("class attribute", name, module)))
        for name, value in own.items():
            if name in _constructed() or type(value) in _PLAIN:
                continue
            if objects.is_tensor(value):
                yield value, Holder(root, f"{path}.{name}", *(within or ("attribute", name, module)))
                continue
            kind = kind_of(value)
            for inner, tensor in objects.inside(value):
                yield tensor, Holder(root, f"{path}.{name}{inner}", *(within or (kind, name, module)))
            for inner, child in objects.items(value):
                if objects.is_module(child):
                    todo.append((f"{path}.{name}{inner}", child, within or (kind, name, module)))


def kind_of(value: Any) -> str:
    """How an attribute holds tensors: itself, or in a list, a dict or a partial function."""
    if objects.is_tensor(value):
        return "attribute"
    kinds = {dict: "dict", functools.partial: "partial"}
    return next((name for kind, name in kinds.items() if objects.is_one_of(value, kind)), "list")


def _of_class(kind: type) -> list[tuple[str, Any]]:
    """The tensors that stand in a class of modules, and in those that it inherits from."""
    own = [
        owner
        for owner in classes.mro(kind)
        if str(classes.namespace(owner).get("__module__")).partition(".")[0] not in ("torch", "builtins")
    ]
    return [(name, held) for owner in own for name, held in classes.namespace(owner).items() if objects.is_tensor(held)]


@functools.cache
def _constructed() -> frozenset[str]:
    """What every module keeps for itself."""
    return frozenset(vars(sys.modules["torch.nn"].Module())) | {"_former_parameters", "_flat_weights"}


def step(module: Any, name: str) -> str:
    """From a module to its child, as a program writes it."""
    of_names = any(objects.is_a(module, "torch.nn", kind) for kind in ("ModuleDict", "ParameterDict"))
    if not name.isdecimal() and name.isidentifier() and not of_names:
        return f".{name}"
    return f"[{name}]" if name.isdecimal() else f'["{name}"]'


def stepped(optimizer: Any) -> list[Any]:
    """The parameters that an optimizer steps."""
    groups = objects.attributes(optimizer).get("param_groups", [])
    held = [objects.item(group, "params") for _, group in objects.items(groups)]
    return [one for params in held if type(params) is list for one in params if objects.is_tensor(one)]


def held_by_optimizer(optimizer: Any) -> Iterator[tuple[Any, Any, str]]:
    """Each tensor of an optimizer's state: the parameter that it belongs to, the tensor, its name in the state."""
    state = objects.attributes(optimizer).get("state", {})
    for parameter, kept in dict.items(state) if objects.is_one_of(state, dict) else ():
        if objects.is_tensor(parameter) and objects.is_one_of(kept, dict):
            for name, tensor in dict.items(kept):
                if objects.is_tensor(tensor) and type(name) is str:
                    yield parameter, tensor, name
