"""`picture`: where the tensors in some objects are, drawn for a notebook. Nothing is moved, and no user code runs.

It asks the same walker as `where`, so both see the same tensors. samedevice.placement.drawing draws them.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from samedevice.placement.drawing import drawn
from samedevice.placement.placements import Placement, Thing, told
from samedevice.placement.places import Place
from samedevice.placement.rows import OptimizerTensors, by_optimizer
from samedevice.placement.walk import walk

PLAIN = "plain attribute"  # of a module: its `to` leaves it where it is
_REGISTERED = ("parameter", "replica", "buffer")  # a replica of DataParallel has no parameters of its own


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

    Args:
        call: code that uses all of the things, such as "model(batch)": it is shown with a verdict, whether all of them
            are on one device. Leave it out for code that moves some of them itself.
        things: any objects, by name. A module shows its parameters, its buffers, and the tensors in its plain
            attributes, which its `to` does not move. See samedevice.where for what is looked into.

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
    return Picture(call, [as_thing(name, thing) for name, thing in things.items()])


def as_thing(name: str, value: Any) -> Thing:
    """Return what a picture shows of an object: the placements of all the tensors in it."""
    return Thing(name, tuple(_placements(value)))


def _placements(thing: Any) -> list[Placement]:
    found = walk(thing)
    placements = list(_of_tensors(found.tensors))
    if found.stopped_at is not None:
        placements.append(Placement("", note=f"not looked into beyond {found.stopped_at:,} objects"))
    placements += [Placement("", _name(place), note=f"not looked into: {why}") for place, why in found.unread]
    return placements or [Placement("", note="no tensor")]


def _of_tensors(tensors: list[Place]) -> Iterator[Placement]:
    """Return a placement for each tensor; an optimizer's tensors are counted where its first one comes."""
    optimizers = {held.optimizer: held for held in by_optimizer(tensors)}
    for _, places in groupby(tensors, key=lambda place: place.module):
        for place in sorted(places, key=_rank):
            if place.optimizer is None:
                note = PLAIN if place.loose else "NumPy array" if place.facts.is_array else ""
                yield Placement(place.device, _name(place), place.shape, note)
            elif place.optimizer in optimizers:
                yield from _of_optimizer(optimizers.pop(place.optimizer))


def _rank(place: Place) -> int:
    """Rank what a module has: its parameters, then its buffers, then what `to` does not move."""
    is_in_module = place.module is not None and place.loose is None
    return _REGISTERED.index(place.kind) if is_in_module else len(_REGISTERED)


def _of_optimizer(held: OptimizerTensors) -> Iterator[Placement]:
    """Count an optimizer's parameters by device, and its state by key if the key is on one device."""
    name, note = _name(held.optimizer), PLAIN if held.optimizer.loose else ""
    params = [("params", place) for place in held.params]
    for group, remark in ((params, "" if held.state else "no state"), (held.state, "")):
        alike = Counter((key, place.device, place.shape == ()) for key, place in group)
        for (key, device, is_number), count in alike.items():
            part = f"{name}.{key}".removeprefix(".") + f" \N{MULTIPLICATION SIGN}{count}"
            aside = group is held.state and is_number and device == "cpu"
            yield Placement(device, part, () if is_number else None, note or remark, aside)
    for place in held.others:
        yield Placement(place.device, _name(place), place.shape, note)


def _name(place: Place) -> str:
    """Name a tensor within the thing that is drawn: PyTorch's name if a module registers it, else the code for it."""
    return place.spelled(_step).removeprefix(".")


def _step(place: Place) -> str:
    if place.is_registered:
        return f".{place.key}"
    return f"[{place.key!r}]" if place.kind == "item" and type(place.key) is str else place.code
