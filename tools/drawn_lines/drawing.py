"""Draw the expression that fails: an operation, the culprit in one of its slots, and what is around it."""

import random
from dataclasses import dataclass, field

from drawn_lines import kinds
from drawn_lines.culprits import AROUND, FACTORIES, FORMS
from drawn_lines.innocent import TEMPLATES, UNARY_OF_ANY
from drawn_lines.operations import OPERATIONS, WRITES
from drawn_lines.scope import Scope
from drawn_lines.templates import around, filled, parts, slots, spelled

CULPRIT = "culprit_"  # what stands for the culprit until the line is finished
_PLACES = {"matplace": "mat", "vecplace": "vec", "maskplace": "mask"}
_CAN_BE_WRONG = {*kinds.TENSORS, *kinds.LAYERS, *kinds.CRITERIA, *_PLACES}
_DEEPEST = 2
_WEIGHTS = [
    4 if kinds.CRITERIA.keys() & set(slots(template)) else 3 if kinds.LAYERS.keys() & set(slots(template)) else 1
    for _, template in OPERATIONS
]


@dataclass
class Drawing:
    """One failing expression while it is drawn, and the parts of a program that it needs."""

    rng: random.Random
    scope: Scope
    operand: str = ""
    form: str = ""
    template: str = ""
    is_place: bool = False
    culprits: set[str] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)
    partners: set[str] = field(default_factory=set)

    def operation(self) -> tuple[str, str]:
        """Draw the operation that fails, and return it with the kind of its result; "write" for a statement."""
        is_write = self.rng.random() < 0.12
        kind, self.template = ("write", self.rng.choice(WRITES)) if is_write else self._common_operation()
        needed = slots(self.template)
        able = [at for at, slot in enumerate(needed) if slot in _CAN_BE_WRONG]
        wrong = self.rng.choices(able, [3 if needed[at] in kinds.CRITERIA else 1 for at in able])[0]
        texts = []
        for at, slot in enumerate(needed):
            text = self.culprit(slot) if at == wrong else self.innocent(slot)
            if at != wrong:
                self.partners |= parts(text)
            texts.append(text)
        return filled(self.template, texts), kind

    def _common_operation(self) -> tuple[str, str]:
        """Draw an operation: layers and losses more often, as it is in real programs."""
        return self.rng.choices(OPERATIONS, _WEIGHTS)[0]

    # --- what is where it should be ----------------------------------------------------------------------------------

    def innocent(self, slot: str, depth: int = 0) -> str:
        """Draw an expression without a culprit."""
        if slot in _PLACES:
            return self.scope.innocent(_PLACES[slot], is_written=True)
        special = {
            "dot": self.scope.number_on_cpu,
            "order": self.scope.order_on_cpu,
            "setting": self.scope.setting,
            "function": self.scope.function,
            "flag": self.flag,
            "mats": self.scope.several,
        }
        if slot in special:
            return special[slot]()
        if slot in kinds.WITHOUT_TENSORS:
            return self.scope.without_tensors(slot)
        if slot in kinds.LAYERS:
            return self.scope.layer(slot)
        if slot in kinds.CRITERIA:
            return self.scope.loss(slot)
        is_leaf = depth >= _DEEPEST or self.rng.random() < (0.72, 0.85)[min(depth, 1)]
        if slot == "num":
            simple = [template for template in TEMPLATES["num"] if not slots(template)]
            return self.rng.choice(simple) if is_leaf else self.from_template("num", depth)
        if is_leaf:
            if self.rng.random() < 0.03:
                return self.scope.loop(slot, ", device=device")
            return self.scope.innocent(slot)
        return self.from_template(slot, depth)

    def from_template(self, kind: str, depth: int) -> str:
        """Draw an innocent expression with others in it."""
        template = self.rng.choice(TEMPLATES[kind])
        return filled(template, [self.innocent(slot, depth + 1) for slot in slots(template)])

    def flag(self) -> str:
        """Return a condition that is true."""
        if self.scope.style == "forward" and self.rng.random() < 0.5:
            return "self.training"
        self.scope.globals["use_it"] = "True"
        return self.rng.choice(("use_it", "device is not None"))

    # --- what is not -------------------------------------------------------------------------------------------------

    def culprit(self, slot: str) -> str:
        """Draw the culprit, keep what is known of it, and return what stands for it."""
        if slot in _PLACES:
            self.is_place = True
            self.form = self.rng.choice(("attribute", "name", "item"))
            self.operand = self.scope.culprit(_PLACES[slot], self.form)
            self.culprits = {spelled(self.operand)}
        elif slot in kinds.LAYERS:
            self.form = "layer"
            self.operand = self.wrong_module(self.rng.choice(kinds.LAYERS[slot]), kinds.LAYER_NAMES[slot])
            self.culprits = self.owners = {spelled(self.operand)}
        elif slot in kinds.CRITERIA:
            self.wrong_loss(slot)
        else:
            self.operand, base = self.wrong_tensor(slot)
            self.culprits = around(self.operand, base)
            if base in self.scope.loops:
                self.culprits.add(spelled(self.scope.loops[base]))
        return CULPRIT

    def wrong_module(self, value: str, pool: str) -> str:
        """Return a module that was not moved, or was moved to the second GPU."""
        device = '"cuda:1"' if self.scope.wrong else None
        if self.rng.random() < 0.1:
            text = f"{value}.to({device})" if device else value
        else:
            text = self.scope.module(value, pool, device, is_wrong=True)
        self.scope.candidates[text] = None
        return text

    def wrong_loss(self, slot: str) -> None:
        """Draw a loss whose weight is the culprit."""
        template = self.rng.choice(kinds.CRITERIA[slot][1])
        if self.rng.random() < 0.25:  # the loss is created in the line
            weight, base = self.wrong_tensor("vec")
            self.operand = filled(template, [weight])
            self.culprits = around(self.operand, base)
            self.form = "loss"
            return
        value = filled(template, [self.scope.value("vec", self.scope.wrong)])
        self.operand = self.scope.module(value, kinds.CRITERION_NAMES, None, is_wrong=True)
        self.scope.candidates[self.operand] = None
        self.form = "loss"
        self.culprits = self.owners = {spelled(self.operand)}

    def wrong_tensor(self, kind: str) -> tuple[str, str]:
        """Draw a tensor on the wrong device, and return the operand that it is, or is in, and the tensor itself."""
        sources = [pair[0] for pair in AROUND if pair[1] == kind and pair[0] != kind]
        source = self.rng.choice(sources) if sources and self.rng.random() < 0.15 else kind
        operand = base = self.wrong_base(source)
        if source != kind:
            operand = self.put_around(operand, source, kind)
        for _ in range(self.rng.choices((0, 1, 2), (6, 3, 1))[0]):
            operand = self.put_around(operand, kind, kind)
        return operand, base

    def put_around(self, operand: str, source: str, kind: str) -> str:
        """Put something around a culprit that leaves it on its device."""
        template = self.rng.choice(AROUND[source, kind].strip().splitlines())
        return filled(template, [operand if slot == "c" else self.innocent(slot, 1) for slot in slots(template)])

    def wrong_base(self, kind: str) -> str:
        """Draw a tensor on the wrong device, of one of the forms."""
        self.form = form = self.rng.choice(FORMS)
        if form in ("attribute", "name", "item"):
            return self.scope.culprit(kind, form)
        if form == "loop variable":
            return self.scope.loop(kind, self.scope.wrong)
        if form == "factory":
            templates = [each for each in FACTORIES[kind].strip().splitlines() if "{d}" in each or not self.scope.wrong]
            template = self.rng.choice(templates).replace("{d}", self.scope.wrong)
            text = filled(template, [self.scope.innocent(slot) for slot in slots(template)])
        else:
            needed: tuple[str, ...] = self.rng.choice(((), ("num",), ("mat",)))
            text = self.scope.creator(kind, [self.innocent(slot, 2) for slot in needed])
        self.scope.candidates[text] = None
        return text

    # --- what is around the operation --------------------------------------------------------------------------------

    def in_context(self, text: str, kind: str) -> str:
        """Put an operation into other expressions, which could not fail without the culprit."""
        for _ in range(self.rng.choices((0, 1, 2), (60, 28, 12))[0]):
            if kind == "any" or self.rng.random() < 0.3:
                template = self.rng.choice(UNARY_OF_ANY)
                texts = [text if slot == "any" else self.innocent(slot, 1) for slot in slots(template)]
                return filled(template, texts)
            choices = [(to, each) for to in kinds.TENSORS for each in TEMPLATES[to] if f"{{{kind}}}" in each]
            to, template = self.rng.choice([each for each in choices if each[0] != "num"])
            at = self.rng.choice([at for at, slot in enumerate(slots(template)) if slot == kind])
            texts = [text if n == at else self.innocent(slot, 1) for n, slot in enumerate(slots(template))]
            text, kind = filled(template, texts), to
        return text
