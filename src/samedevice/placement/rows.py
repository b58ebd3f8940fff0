"""What `where` says of one object: a row for each of its parts that are on one device.

Few tensors have a row each. If there are many, as many parts have rows as fit, those nearest to the object first, and
the tensors in any other part are counted, device by device. So a table has tens of rows and never thousands.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from samedevice.introspect import classes, objects
from samedevice.placement.holders import stepped
from samedevice.placement.places import Place
from samedevice.placement.walk import Walk
from samedevice.plurals import counted

_MOST = 40  # parts of an object that have rows of their own
_FEW = 3  # tensors on one device that are named although the others around them are only counted
_NOT_MOVED = ".to() does not move it"
_CONTAINERS = (dict, list, tuple, set, frozenset, deque)


@dataclass(frozen=True)
class Row:
    """What one name holds on one device.

    Attributes:
        name: as the program would write it: "model.layers[0]", "optimizer", 'batch["labels"]'.
        device: "cpu", "cuda:0"; "" where there is no tensor.
        holds: "4 parameters, 2 buffers", "state of 4 parameters", or a tensor's shape.
        bytes: the size of all its tensors; a tensor that two names share counts once.
        note: what to know of it, such as that `.to()` does not move it.
        shape: the shape, if it is one tensor; None for several.
    """

    name: str
    device: str
    holds: str
    bytes: int
    note: str = ""
    shape: tuple[int, ...] | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        return self.name, self.device, self.holds, _size(self.bytes) if self.bytes else "", self.note


def rows_of(name: str, found: Walk) -> list[Row]:
    """Return the rows for an object, by its name and by what a walk found in it."""
    if not found.tensors:
        return [Row(name, "", "no tensor" if found.is_complete else "no tensor found", 0)]
    rows: list[Row] = []
    for place in _shown(found.root, lambda place: found.parts.get(place, []), _is_whole):
        if place.facts.is_module:
            rows += _of_module(name, place, found)
        elif place.facts.is_optimizer:
            rows += _of_optimizer(name, place, found)
        else:
            rows += _of_part(name, place, found)
    return rows


def _is_whole(place: Place) -> bool:
    return place.facts.is_module or place.facts.is_optimizer


def _shown(root: Place, parts_of: Callable[[Place], Sequence[Place]], is_whole: Callable[[Place], bool]) -> list[Place]:
    """Choose the parts that have rows: those nearest to the root are taken apart first, while there is room."""
    shown, waiting = [root], deque([root])
    while waiting:
        place = waiting.popleft()
        parts = [] if is_whole(place) else parts_of(place)
        if parts and len(shown) - 1 + len(parts) <= _MOST:
            index = shown.index(place)
            shown[index : index + 1] = parts
            waiting += parts
    return shown


# Tensors that no module and no optimizer holds


def _of_part(name: str, part: Place, found: Walk) -> Iterator[Row]:
    """Make a row for a tensor; for a part that is too large to be taken apart, one for each device."""
    groups = _by_device(found.tensors_in(part))
    for (device, is_array), places in groups.items():
        if len(places) == 1 or (len(groups) > 1 and len(places) <= _FEW):
            yield from (_of_tensor(name, place) for place in places)
        else:
            holds, note = (counted(len(places), "array"), "NumPy arrays") if is_array else (_tensors(places), "")
            yield Row(name + part.path, device, holds, _bytes(places), note)


def _of_tensor(name: str, place: Place, kind: str = "") -> Row:
    note = "NumPy array" if place.facts.is_array else ""
    holds = f"{kind} {_shape(place)}" if kind else _shape(place)
    return Row(name + place.path, place.device, holds, _bytes([place]), note, None if kind else place.shape)


def _by_device(places: Iterable[Place]) -> dict[tuple[str, bool], list[Place]]:
    """Group the places of tensors and of arrays by device; one tensor that has two names counts once."""
    groups: dict[tuple[str, bool], list[Place]] = {}
    for place in {id(place.value): place for place in places}.values():
        groups.setdefault((place.device, place.facts.is_array), []).append(place)
    return groups


# Modules


def _of_module(name: str, module: Place, found: Walk) -> Iterator[Row]:
    """Describe what a module registers, folded if it is all on one device, and then what `.to()` does not move."""
    tensors = list(found.tensors_in(module))
    registered = [place for place in tensors if place.loose is None and place.kind != "replica"]
    devices = _devices_below(registered)

    def registered_parts(place: Place) -> list[Place]:
        return [part for part in found.parts.get(place, []) if part.kind in ("parameter", "buffer", "module")]

    for place in _shown(module, registered_parts, lambda place: len(devices.get(place, "")) < 2):
        if place in devices or not place.facts.is_module:
            yield from _of_submodule(name, place, found)
    yield from _not_moved(name, module, [place for place in tensors if place.loose or place.kind == "replica"])


def _devices_below(registered: list[Place]) -> dict[Place, set[str]]:
    """Return the devices of the registered tensors below each module."""
    devices: dict[Place, set[str]] = {}
    for tensor in registered:
        device, place = tensor.device, tensor.parent
        while place is not None and device not in devices.setdefault(place, set()):
            devices[place].add(device)
            place = place.parent
    return devices


def _of_submodule(name: str, part: Place, found: Walk) -> Iterator[Row]:
    """Make a row for a parameter or a buffer; for a module, one for each device."""
    if not part.facts.is_module:
        yield _of_tensor(name, part, part.kind)
    else:
        registered = [place for place in found.tensors_in(part) if place.loose is None and place.kind != "replica"]
        groups = _by_device(registered)
        for (device, _), places in groups.items():
            if len(groups) > 1 and len(places) <= _FEW:
                yield from (_of_tensor(name, place, place.kind) for place in places)
            else:
                yield Row(name + part.path, device, _counted(places), _bytes(places))


def _not_moved(name: str, module: Place, tensors: list[Place]) -> Iterator[Row]:
    """Make rows for each attribute that holds tensors and is not registered, one for each device."""
    groups: dict[tuple[Place, str], list[Place]] = {}
    first_names = {id(place.value): place for place in reversed(tensors)}
    for place in reversed(first_names.values()):
        groups.setdefault((place.loose or place, place.device), []).append(place)
    # Modules in lists come last: there may be many.
    ordered = sorted(groups.items(), key=lambda group: any(place.is_registered for place in group[1]))
    for (attribute, device), places in ordered[:_MOST]:
        note = f"{_described(attribute)}: {_NOT_MOVED}"
        if attribute in places:
            yield Row(name + attribute.path, device, _shape(attribute), _bytes(places), note, attribute.shape)
        else:
            yield Row(name + attribute.path, device, _tensors(places), _bytes(places), note)
    rest = [place for _, places in ordered[_MOST:] for place in places]
    for (device, _), places in _by_device(rest).items():
        note = f"in {len(ordered) - _MOST} more attributes: {_NOT_MOVED}"
        yield Row(name + module.path, device, f"{len(places)} more tensors", _bytes(places), note)


def _described(attribute: Place) -> str:
    """Say what an attribute is that `.to()` does not look into."""
    value, facts = attribute.value, attribute.facts
    if facts.is_tensor:
        return "class attribute" if attribute.kind == "class attribute" else "plain attribute"
    if facts.is_array:
        return "NumPy array"
    if facts.is_module:
        return "module in a plain attribute"
    if objects.is_one_of(value, partial):
        return "functools.partial"
    container = next((kind for kind in _CONTAINERS if objects.is_one_of(value, kind)), None)
    return f"Python {container.__name__}" if container else f"{classes.name(type(value))} object"


# Optimizers


@dataclass
class OptimizerTensors:
    """The tensors of one optimizer.

    Attributes:
        optimizer: its place.
        params: the parameters that it steps.
        state: what it keeps for them, each with the key in the state.
        others: any other tensor, such as a learning rate.
    """

    optimizer: Place
    params: list[Place] = field(default_factory=list)
    state: list[tuple[str, Place]] = field(default_factory=list)
    others: list[Place] = field(default_factory=list)


def by_optimizer(tensors: Iterable[Place]) -> list[OptimizerTensors]:
    """Return what each optimizer holds of these tensors; those outside of an optimizer are passed over."""
    found: dict[Place, OptimizerTensors] = {}
    params: set[int] = set()
    for place in tensors:
        if place.optimizer is not None:
            if place.optimizer not in found:
                params |= set(map(id, stepped(place.optimizer.value)))
            held = found.setdefault(place.optimizer, OptimizerTensors(place.optimizer))
            steps = place.line(place.depth - place.optimizer.depth)
            keys = [step.key if type(step.key) is str else "" for step in steps]
            if keys[:1] == ["state"] and any(keys[2:3]):
                held.state.append((keys[2], place))
            elif id(place.value) in params:
                held.params.append(place)
            else:
                held.others.append(place)
    for held in found.values():
        # The groups repeat the defaults, and LBFGS has its parameters in two places.
        held.params = list({id(place.value): place for place in held.params}.values())
        seen = {id(place.value) for place in held.params}
        ordered = sorted(held.others, key=lambda place: place.parent is not None and place.parent.code == ".defaults")
        others = {id(place.value): place for place in reversed(ordered)}
        held.others = [place for key, place in reversed(others.items()) if key not in seen]
    return list(found.values())


def _of_optimizer(name: str, root: Place, found: Walk) -> Iterator[Row]:
    """Count the parameters of an optimizer by device, then describe its state by name and any other tensor."""
    for held in by_optimizer(found.tensors_in(root)):
        path = name + held.optimizer.path
        for device, count in Counter(place.device for place in held.params).items():
            yield Row(path, device, f"{counted(count, 'parameter')} to step", 0)
        state: dict[tuple[str, str], list[Place]] = {}
        for key, place in held.state:
            state.setdefault((key, place.device), []).append(place)
        for (key, device), tensors in state.items():
            yield Row(f"{path}.state", device, f"{len(tensors)} {key}", _bytes(tensors))
        for place in held.others[:_MOST]:
            yield _of_tensor(name, place)


# Cells


def _shape(place: Place) -> str:
    if place.shape is not None:
        return str(place.shape)
    return "no shape yet" if objects.is_lazy(place.value) else "several shapes"  # a nested tensor's


def _bytes(places: Iterable[Place]) -> int:
    """Sum the bytes of all tensors; one that has two names counts once."""
    return sum(place.bytes for place in {id(place.value): place for place in places}.values())


def _counted(registered: list[Place]) -> str:
    counts = Counter(place.kind for place in registered)
    return ", ".join(counted(counts[kind], kind) for kind in ("parameter", "buffer") if counts[kind])


def _tensors(places: list[Place]) -> str:
    arrays = sum(place.facts.is_array for place in places)
    tensors = len(places) - arrays
    return ", ".join(counted(count, thing) for count, thing in ((tensors, "tensor"), (arrays, "array")) if count)


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
