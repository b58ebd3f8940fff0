"""`picture`: where tensors, modules and optimizers are, drawn for a notebook. Nothing is moved, and no user code runs.

What is read of an object is in its `__dict__`, in PyTorch's own names. samedevice.placement.drawing draws it.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from samedevice.placement.drawing import drawn
from samedevice.placement.model import Placement, Thing, told

PLAIN = "plain attribute"  # of a module: its `to` leaves it where it is
# What a module's `to` moves. A replica of DataParallel has no parameters; what were the model's are in the second.
_REGISTERED = ("_parameters", "_former_parameters", "_buffers")


class Picture:
    """What `picture` returns: a notebook shows the SVG, anything else the same facts as text."""

    def __init__(self, call: str, things: list[Thing]) -> None:
        self._call, self._things = call, things

    def _repr_html_(self) -> str:
        return drawn(self._call, self._things)

    def __repr__(self) -> str:
        return told(self._call, self._things)


def picture(call: str = "", /, **things: Any) -> Picture:
    """Draw on which device each thing is; as the last line of a cell, it shows.

    Arguments:
        call: code that uses all of the things, such as "model(batch)": it is shown with a verdict, whether all of them
            are on one device. Leave it out for code that moves some of them itself.
        things: tensors, modules, optimizers, NumPy arrays, and lists, tuples and dicts of them, by name. Of a module
            its parameters, its buffers, and the tensors in its plain attributes, which its `to` does not move.

    Example:
        >>> import torch
        >>> picture("model(batch)", model=torch.nn.Linear(3, 1), batch=torch.ones(16, 3))
        model.weight  (1, 3)   cpu
        model.bias    (1,)     cpu
        batch         (16, 3)  cpu
        model(batch): all on cpu

    Raises:
        TypeError: there is nothing to draw, or something is given without its name.
    """
    if type(call) is not str or not things:
        raise TypeError('picture takes things by their names, as in picture("model(batch)", model=model, batch=batch)')
    return Picture(call, [Thing(name, tuple(_placements(thing))) for name, thing in things.items()])


def _placements(thing: Any) -> list[Placement]:
    return list(_found(thing, "", set())) or [Placement("", note="no tensor")]


def _found(thing: Any, name: str, seen: set[int], note: str = "") -> Iterator[Placement]:
    """The tensors in a thing. `seen`: the ids of what was met before, such as a weight that two layers share."""
    import torch  # here, so that `import lessons` stays light

    kind = type(thing)
    if id(thing) in seen:
        return
    if issubclass(kind, torch.Tensor):
        yield Placement(str(thing.device), name, _shape(thing), note)
    elif issubclass(kind, torch.nn.Module):
        modules = list(_modules(thing, name, seen))
        for registered in _REGISTERED:
            for prefix, own in modules:
                for key, value in own.get(registered, {}).items():
                    yield from _found(value, _dotted(prefix, key), seen, note)
                    seen.add(id(value))
        for prefix, own in modules:
            for key, value in own.items():
                if key not in (*_REGISTERED, "_modules"):
                    yield from _found(value, _dotted(prefix, key), seen, PLAIN)
    elif issubclass(kind, torch.optim.Optimizer):
        yield from _of_optimizer(object.__getattribute__(thing, "__dict__"), name, note)
    elif issubclass(kind, dict):
        seen.add(id(thing))
        for key, value in dict.items(thing):
            yield from _found(value, f"{name}[{key!r}]" if type(key) in (str, int) else f"{name}[...]", seen, note)
    elif issubclass(kind, (list, tuple)):
        seen.add(id(thing))
        fields = getattr(kind, "_fields", ())  # of a named tuple
        for index, value in enumerate(list.__iter__(thing) if issubclass(kind, list) else tuple.__iter__(thing)):
            part = _dotted(name, fields[index]) if fields else f"{name}[{index}]"
            yield from _found(value, part, seen, note)
    elif "numpy" in sys.modules and issubclass(kind, sys.modules["numpy"].ndarray):
        yield Placement("cpu", name, tuple(thing.shape), note or "NumPy array")


def _modules(module: Any, name: str, seen: set[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name and attributes of a module and of each one that is registered in it."""
    if module is None or id(module) in seen:
        return
    seen.add(id(module))
    attributes = object.__getattribute__(module, "__dict__")
    yield name, attributes
    for key, child in attributes.get("_modules", {}).items():
        yield from _modules(child, _dotted(name, key), seen)


def _of_optimizer(optimizer: dict[str, Any], name: str, note: str) -> Iterator[Placement]:
    """How many parameters it has on each device, and its state, of each key as one where the device is one."""
    import torch

    params = [("params", tensor) for group in optimizer["param_groups"] for tensor in group["params"]]
    entries = [entry for of_parameter in optimizer["state"].values() for entry in of_parameter.items()]
    state = [(key, value) for key, value in entries if issubclass(type(value), torch.Tensor)]
    for tensors, remark in ((params, "" if state else "no state"), (state, "")):
        alike = Counter((key, str(tensor.device), _shape(tensor) == ()) for key, tensor in tensors)
        for (key, device, number), count in alike.items():
            part = _dotted(name, f"{key} \N{MULTIPLICATION SIGN}{count}")
            aside = tensors is state and number and device == "cpu"
            yield Placement(device, part, () if number else None, note or remark, aside)


def _dotted(name: str, part: str) -> str:
    return f"{name}.{part}" if name else str(part)


def _shape(tensor: Any) -> tuple[int, ...] | None:
    try:
        return tuple(tensor.shape)
    except RuntimeError:  # a lazy layer's parameter before the first batch, or a nested tensor
        return None
