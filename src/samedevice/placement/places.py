"""A place: an object that a walk met, what holds it, and the code that reaches it."""

import functools
import sys
from collections.abc import Callable
from typing import Any

from samedevice.introspect import classes, contents, objects
from samedevice.introspect.contents import Parts

REGISTRIES = {"_parameters": "parameter", "_former_parameters": "replica", "_buffers": "buffer"}
_REGISTERED = (*REGISTRIES.values(), "module")
_STEPS = 25  # of a long path that are shown at its start and at its end


class Place:
    """An object, and where the walk found it.

    It knows what holds it and not what it holds, so nothing is kept alive once the walk is over.

    Attributes:
        value: the object.
        facts: what is known of its class.
        parent: the place of the object that holds it; None for the value that was asked about.
        kind: how the parent holds it. A module holds a "parameter", a "buffer", a "module", or, as a replica of
            DataParallel does, a "replica" of a parameter. Anything else is one of samedevice.introspect.contents.Kind.
        key: the name, the index or the key in its parent.
        module: the outermost module that it is in, or None.
        depth: how many steps lead to it.
        head: the place where the first steps of a long path end; None for itself.
        loose: in that module, the attribute that `.to()` does not look into and that leads here, or None.
        optimizer: the innermost optimizer that it is in, or None.
    """

    __slots__ = (
        "_device",
        "depth",
        "facts",
        "head",
        "key",
        "kind",
        "loose",
        "module",
        "optimizer",
        "parent",
        "value",
    )

    def __init__(
        self, value: Any, facts: "ClassFacts", parent: "Place | None" = None, kind: str = "", key: Any = ""
    ) -> None:
        self.value, self.facts, self.parent, self.kind, self.key = value, facts, parent, kind, key
        self.module: Place | None = None
        self.loose: Place | None = None
        self.optimizer: Place | None = None
        self.depth = 0
        self.head: Place | None = None
        self._device = ""
        if parent is not None:
            self.module = parent.module or (parent if parent.facts.is_module else None)
            self.optimizer = parent if parent.facts.is_optimizer else parent.optimizer
            self.depth = parent.depth + 1
            self.head = (parent.head or parent) if parent.depth >= _STEPS else None
            self.loose = parent.loose or (self if self.module and kind not in _REGISTERED else None)

    @property
    def device(self) -> str:
        """The device of a tensor or of a NumPy array."""
        if not self._device:
            self._device = "cpu" if self.facts.is_array else objects.device(self.value)
        return self._device

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of a tensor or of a NumPy array; None for a tensor that has none yet."""
        return objects.array_shape(self.value) if self.facts.is_array else objects.shape(self.value)

    @property
    def bytes(self) -> int:
        """What the elements of a tensor or of a NumPy array take."""
        return objects.array_bytes(self.value) if self.facts.is_array else objects.bytes_of(self.value)

    @property
    def is_registered(self) -> bool:
        """Whether a module registered it."""
        return self.kind in _REGISTERED

    @property
    def code(self) -> str:
        """The last step to it, as Python code would write it: `.weight`, `[0]`, `["labels"]`."""
        match self.kind:
            case "parameter" | "buffer" | "module" if self.parent is not None:
                return step(self.parent.value, self.key)
            case "attribute" | "class attribute" | "replica":
                is_name = type(self.key) is str and self.key.isidentifier()
                return f".{self.key}" if is_name else f".__dict__[{_written(self.key)}]"
            case "item":
                return f"[{_written(self.key)}]"
            case "element":
                return "[...]"
            case "key":
                return ".keys()[...]"
        return ""

    @property
    def path(self) -> str:
        """The code that leads to it from the value that was asked about, without the middle if it is very long."""
        return self.spelled(lambda place: place.code)

    def spelled(self, step: "Callable[[Place], str]") -> str:
        """Return the path with each step spelled by a function."""
        if self.depth <= 2 * _STEPS:
            return "".join(map(step, self.line(self.depth)))
        start, end = (self.head or self).line(_STEPS), self.line(_STEPS)
        return f"{''.join(map(step, start))} ... {''.join(map(step, end))}"

    def line(self, steps: int) -> "list[Place]":
        """Return the places of the last steps that lead to it, the outermost first."""
        places: list[Place] = []
        place: Place | None = self
        while place is not None and len(places) < steps:
            places.append(place)
            place = place.parent
        return places[::-1]


class ClassFacts:
    """What the walk needs to know of a class: asked once, for all its instances."""

    def __init__(self, kind: type) -> None:
        bases = classes.mro(kind)
        self.kind = kind  # kept, so that no other class gets its id
        self.is_tensor = _is_any(bases, "torch", "Tensor")
        self.is_module = _is_any(bases, "torch.nn", "Module")
        self.is_optimizer = _is_any(bases, "torch.optim", "Optimizer")
        self.is_array = _is_any(bases, "numpy", "ndarray")
        self.is_class = issubclass(kind, type)
        self.reading = contents.reading(kind)
        self.readers: list[contents.Reader] = [*self.reading.readers]
        if self.is_module:
            self.readers = [_loose_attributes if read is contents.attributes else read for read in self.readers]
        self.was_read = False  # what the class itself holds

    @property
    def is_atom(self) -> bool:
        """Whether its instances hold nothing."""
        is_special = self.is_tensor or self.is_array or self.is_class
        return not (is_special or self.reading.readers or self.reading.unread or self.reading.in_c)


def step(module: Any, name: str) -> str:
    """Return the code that leads from a module to what it registered under a name."""
    of_names = any(objects.is_a(module, "torch.nn", kind) for kind in ("ModuleDict", "ParameterDict"))
    if not name.isdecimal() and name.isidentifier() and not of_names:
        return f".{name}"
    return f"[{name}]" if name.isdecimal() else f"[{objects.quoted(name)}]"


@functools.cache
def constructed() -> frozenset[str]:
    """Return the names of the attributes that every module keeps for itself."""
    return frozenset(vars(sys.modules["torch.nn"].Module())) | {"_former_parameters", "_flat_weights"}


def _loose_attributes(module: Any) -> Parts:
    """Return what the program made attributes of a module without registering it."""
    own, passed = objects.attributes(module), constructed()
    names = [name for name in own if type(name) is str and name not in passed]
    return Parts("attribute", names, [own[name] for name in names])


def hooks_of(module: Any) -> dict[str, Any]:
    """Return the dicts of a module that have hooks in them, by the names of the attributes."""
    own = objects.attributes(module)
    names = [name for name in constructed() if name.endswith("_hooks")]
    return {name: own[name] for name in names if objects.is_one_of(own.get(name), dict) and dict.__len__(own[name])}


def _is_any(bases: tuple[type, ...], module: str, name: str) -> bool:
    wanted = getattr(sys.modules.get(module), name, None)
    return any(base is wanted for base in bases)


def _written(key: Any) -> str:
    """Write the code for a key, or "..." if it has none."""
    if type(key) in (int, str):
        return objects.quoted(key)
    if type(key) in (bool, float, bytes, type(None)):
        return repr(key)
    if type(key) is tuple and key and all(type(part) in (int, str, bool, float, type(None)) for part in key):
        return ", ".join(map(_written, key)) + "," * (len(key) == 1)
    return "..."
