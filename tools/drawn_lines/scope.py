"""What a drawn program holds beside its failing line: where each tensor and layer of the line lives.

There are four styles of program: the `forward` of a module, a method of a plain object, a function, and a script.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from drawn_lines import kinds

Style = Literal["forward", "method", "function", "script"]


@dataclass
class Scope:
    """The parts of a program, filled while its failing line is drawn.

    Attributes:
        rng: where all choices come from.
        style: the style of the program.
        wrong: the device of the culprit, as an argument of a factory; "" for the CPU.
        is_wrapped: whether another function of the program calls the one that fails.
    """

    rng: random.Random
    style: Style
    wrong: str
    is_wrapped: bool = False
    arguments: dict[str, str] = field(default_factory=dict)
    globals: dict[str, str] = field(default_factory=dict)
    init: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    locals: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    loops: dict[str, str] = field(default_factory=dict)
    containers: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    known: dict[str, list[str]] = field(default_factory=dict)
    candidates: dict[str, None] = field(default_factory=dict)

    @property
    def has_self(self) -> bool:
        """Whether the failing line stands in a method."""
        return self.style in ("forward", "method")

    def value(self, kind: str, device: str) -> str:
        """Draw the creation of a tensor."""
        return self.rng.choice(kinds.TENSORS[kind]).format(device=device)

    def name(self, pool: str) -> str:
        """Draw a name that the program does not have yet."""
        names = pool.split()
        free = [name for name in names if name not in self.taken()]
        return self.rng.choice(free) if free else f"{names[0]}_{len(self.taken())}"

    def taken(self) -> set[str]:
        """Return the names that the failing line may not have for something else."""
        made = {line.split(" = ")[0] for line in self.locals}
        return {*self.arguments, *self.globals, *self.loops, *self.loops.values(), *self.containers, *made}

    def attribute(self, pool: str) -> str:
        """Draw the name of an attribute that the object does not have yet."""
        free = [name for name in pool.split() if name not in self.attributes]
        name = self.rng.choice(free) if free else f"attribute_{len(self.attributes)}"
        self.attributes.add(name)
        return name

    # --- tensors -----------------------------------------------------------------------------------------------------

    def innocent(self, kind: str, is_written: bool = False) -> str:
        """Return a tensor on cuda:0 that the program keeps somewhere: a new one, or one that the line has already."""
        known = self.known.setdefault(kind, [])
        if known and not is_written and self.rng.random() < 0.4:
            return self.rng.choice(known)
        text = self._tensor(kind, self._place(), ", device=device", is_wrong=False)
        known.append(text)
        self.candidates[text] = None
        return text

    def culprit(self, kind: str, form: str) -> str:
        """Return a new tensor on the wrong device, of a form: "attribute", "name" or "item"."""
        place = {"attribute": "attribute", "item": "item"}.get(form) or self._place_of_name()
        text = self._tensor(kind, place, self.wrong, is_wrong=True)
        self.candidates[text] = None
        return text

    def _place_of_name(self) -> str:
        """Draw what a name is: a reader of a traceback cannot tell."""
        return self.rng.choices(("argument", "local", "global"), (5, 3, 1))[0]

    def _place(self) -> str:
        places = ["argument"] * 5 + ["attribute"] * 3 + ["item"] * 2 + ["local"] * 2 + ["global"]
        return self.rng.choice(places)

    def _tensor(self, kind: str, place: str, device: str, is_wrong: bool) -> str:
        if place == "attribute":
            return self._attribute(kind, device, is_wrong)
        if place == "item":
            return self._item(kind, device)
        name = self.name(kinds.NAMES[kind])
        value = self.value(kind, device)
        if place == "argument":
            self.arguments[name] = value
        elif place == "local":
            self.locals.append(f"{name} = {value}")
        else:
            self.globals[name] = value
        return name

    def _attribute(self, kind: str, device: str, is_wrong: bool) -> str:
        name = self.attribute(kinds.ATTRIBUTES[kind])
        if self.style == "forward" and not is_wrong:
            value = self.value(kind, "")
            self.init.append(f'self.register_buffer("{name}", {value})')
            return f"self.{name}"
        value = self.value(kind, device)
        if self.has_self:
            self.init.append(f"self.{name} = {value}")
            return f"self.{name}"
        self.globals.setdefault("state", "types.SimpleNamespace()")
        self.late.append(f"state.{name} = {value}")
        return f"state.{name}"

    def _item(self, kind: str, device: str) -> str:
        pools = [("batch", True), ("outputs", True), ("xs", False), ("pair", False)]
        container, has_keys = self.rng.choice(pools)
        if self.has_self and self.rng.random() < 0.2:
            container, has_keys = "self.cache", True
        entries = self.containers.setdefault(container, [])
        keys = [key for key, _ in entries]
        free = [key for key in kinds.KEYS[kind].split() if key not in keys]
        key = str(len(entries)) if not has_keys else self.rng.choice(free) if free else f"{kind}_{len(entries)}"
        entries.append((key, self.value(kind, device)))
        quote = self.rng.choice("\"'")
        return f"{container}[{quote}{key}{quote}]" if has_keys else f"{container}[{key}]"

    def number_on_cpu(self) -> str:
        """Return a CPU tensor without dimensions, which PyTorch accepts beside one on a GPU."""
        name = self.name("temperature lam eps_t")
        self.arguments[name] = "torch.tensor(0.5)"
        self.candidates[name] = None
        return name

    def order_on_cpu(self) -> str:
        """Return an index on the CPU, which PyTorch accepts for a tensor on a GPU."""
        name = self.name("order perm chosen")
        self.arguments[name] = self.value("ids", "")
        self.candidates[name] = None
        return name

    def setting(self) -> str:
        """Return a number that the program keeps somewhere."""
        if self.has_self and self.rng.random() < 0.5:
            name = self.attribute("eps momentum factor rate")
            self.init.append(f"self.{name} = 0.5")
            text = f"self.{name}"
        else:
            self.globals["config"] = '{"beta": 0.5, "lr": 0.1}'
            text = self.rng.choice(('config["beta"]', "config['lr']"))
        self.candidates[text] = None
        return text

    def loop(self, kind: str, device: str) -> str:
        """Return the variable of a loop over a list of tensors."""
        name = self.name(kinds.NAMES[kind])
        several = self.name(f"{name}_list all_{name} {name}_seq")
        self.loops[name] = several
        value = self.value(kind, device)
        self.arguments[several] = f"[{value}, {value}]"
        self.candidates[name] = None
        return name

    def several(self) -> str:
        """Return a list of tensors on cuda:0."""
        if "feats_list" not in self.arguments:
            self.arguments["feats_list"] = "[{0}, {0}]".format(self.value("mat", ", device=device"))
            self.candidates["feats_list"] = None
        return "feats_list"

    # --- modules and functions ---------------------------------------------------------------------------------------

    def layer(self, kind: str) -> str:
        """Return a layer on cuda:0: a new one, or one that the line has already."""
        known = self.known.setdefault(kind, [])
        if known and self.rng.random() < 0.4:
            return self.rng.choice(known)
        text = self.module(self.rng.choice(kinds.LAYERS[kind]), kinds.LAYER_NAMES[kind], "device")
        known.append(text)
        self.candidates[text] = None
        return text

    def module(self, value: str, pool: str, device: str | None, is_wrong: bool = False) -> str:
        """Return a module that the program keeps somewhere.

        Args:
            device: where to move it, as an argument of `to`; None for one that stays where it is created.
            is_wrong: whether it has to stay where it is when the model is moved.
        """
        moved = f"{value}.to({device})" if device else value
        if self.has_self and self.rng.random() < 0.7:
            return self._own_module(value, moved, pool, is_wrong)
        name = self.name(pool)
        (self.arguments if self.rng.random() < 0.4 and self.style != "script" else self.globals)[name] = moved
        return name

    def _own_module(self, value: str, moved: str, pool: str, is_wrong: bool) -> str:
        """Keep a module in an attribute, or in a list or a dict that is one."""
        as_entry = self.rng.random() < 0.35
        if self.style == "forward" and not is_wrong:
            name = self.attribute("blocks layers_ stack" if as_entry else pool)
            self.init.append(f"self.{name} = nn.ModuleList([{value}])" if as_entry else f"self.{name} = {value}")
            return f"self.{name}[0]" if as_entry else f"self.{name}"
        if as_entry:
            name = self.attribute("layers heads experts branches")
            if self.rng.random() < 0.5:
                self.init.append(f"self.{name} = [{moved}]")
                return f"self.{name}[0]"
            self.init.append(f'self.{name} = {{"main": {moved}}}')
            return f'self.{name}["main"]'
        name = self.attribute(pool)
        if self.style == "forward":  # a module that is assigned in __init__ moves with the model, so this comes later
            self.late.append(f"net.{name} = {moved}")
        else:
            self.init.append(f"self.{name} = {moved}")
        return f"self.{name}"

    def without_tensors(self, kind: str) -> str:
        """Return a module that holds no tensor."""
        known = self.known.setdefault(kind, [])
        if not known:
            known.append(self.module(kinds.WITHOUT_TENSORS[kind], kind, None))
            self.candidates[f"{known[0]}()"] = None  # a reader does not know that it holds none
        return known[0]

    def loss(self, kind: str) -> str:
        """Return a loss that holds no tensor, which its call does not show."""
        text = self.module(self.rng.choice(kinds.CRITERIA[kind][0]), kinds.CRITERION_NAMES, None)
        self.candidates[text] = None
        return text

    def function(self) -> str:
        """Return a function that keeps a tensor where it is."""
        name = self.rng.choice(("normalize", "standardize", "scale_down"))
        if name not in self.globals:
            self.functions.append(f"def {name}(t):\n    return t / 2")
            self.globals[name] = ""
        self.candidates[f"{name}()"] = None  # a reader does not know what it returns
        return name

    def creator(self, kind: str, arguments: Iterable[str]) -> str:
        """Return the call of a function, or of a method, that creates a tensor on the wrong device."""
        name = self.name(kinds.FUNCTIONS[kind])
        arguments = list(arguments)
        parameters = ["n", "like"][: len(arguments)]
        value = self.value(kind, self.wrong)
        if self.has_self and self.rng.random() < 0.5:
            self.methods.append(f"def {name}({', '.join(['self', *parameters])}):\n    return {value}")
            self.attributes.add(name)
            return f"self.{name}({', '.join(arguments)})"
        self.functions.append(f"def {name}({', '.join(parameters)}):\n    return {value}")
        self.globals[name] = ""
        return f"{name}({', '.join(arguments)})"
