"""What a line of code does: its operations, with PyTorch's names for their arguments, and where each got its tensors.

docs/assets/doctor/line-operations.js does the same in the browser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from samedevice.catalog import Operation, load
from samedevice.doctor.text.expressions import Node, Statement

_TORCH = ("torch", "th", "pt")
_FUNCTIONAL = ("torch", "th", "pt", "F", "functional", "nn.functional", "torch.nn.functional", "torch.linalg")
_METHODS = {"forward", "__call__", "generate", "predict", "encode", "decode", "sample", "encode_image", "encode_text"}
# The name of an attribute that is a number rather than a tensor: `self.gamma`, `self.hidden_size`, `self.num_heads`.
_A_NUMBER = re.compile(
    r"(?:gamma|discount|lr|eps(?:ilon)?|alpha|beta[12]?|tau|temperature|momentum|threshold|margin|dim|eos|k|n|p"
    r"|(?:num|n|max|min|use|is)_\w+|\w+_(?:coef\w*|rate|size|dim|len|length|steps?|factor|ratio|id|prob|weight_decay))$",
    re.ASCII,
)
ELEMENTWISE = ("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", ">", "<=", ">=", "&", "|", "^")
CLASS = re.compile(r"[A-Z][a-z]", re.ASCII)  # begins the name of a class, but not that of a GAN's `G` and `D`
# Begins the name of a function that is no module: `get_feature(model, x)`, `train_step(batch)`.
_VERB = re.compile(
    r"(?:get|set|compute|calc\w*|make|create|build|load|save|read|write|train|test|eval\w*|validat\w*|run|main|fit"
    r"|predict|infer|inference|process|preprocess|extract|apply|step|update|convert|to|collate|plot|draw|show|sample"
    r"|log|find|check|prepare|init|initialize|print)(?:_\w*)?$",
    re.ASCII,
)
LOSS = re.compile(r"loss|criterion|cross_entropy|crit\b|objective", re.ASCII)
_NO_LAYERS = {
    "print", "len", "range", "int", "float", "str", "list", "dict", "tuple", "zip", "enumerate", "max", "min",
    "sum", "isinstance", "super",
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where an expression got its tensor: a `kind`, and the part of it that says so."""

    kind: str  # "created", "moved", "on the CPU", "attribute", "member", "name", "called", "number" or "other"
    node: Node


@dataclass(frozen=True)
class LineOperation:
    """An operation of the line, with the names that PyTorch has for its arguments."""

    kind: str  # "operator", "function", "layer" or "index"
    node: Node
    arguments: tuple[tuple[str, Node], ...]
    op: str = ""


def operations(statement: Statement) -> Iterator[LineOperation]:
    """Yield the operations of a line, the outermost first."""
    if statement.sign not in ("", "=", "in") and statement.targets:
        target, value = statement.targets[0], statement.value
        whole = Node("operator", target.start, value.end, statement.sign, (target, value))
        yield LineOperation("operator", whole, (("self", target), ("other", value)))
    seen: set[Node] = set()
    for node in (*(inner for target in statement.targets for inner in target.walk()), *statement.value.walk()):
        match node.kind:
            case "operator" if node.name == "@":
                known = load().operations["matmul"]
                yield LineOperation("function", node, _roles(known.arguments, node.parts, ("", "")), known.op)
            case "operator" if node.name in ELEMENTWISE and node not in seen:
                seen.update(inner for inner in node.walk() if inner.kind == "operator")
                yield LineOperation("operator", node, (("self", node.parts[0]), ("other", node.parts[1])), "")
            case "subscript" if len(node.parts) > 1:
                yield LineOperation("index", node, _roles(["self"], node.parts, ("",) * len(node.parts)))
            case "call":
                yield from _called(node, statement)


def _called(node: Node, statement: Statement) -> Iterator[LineOperation]:
    """Yield what a call does: a function or a method of PyTorch, a loss, or a layer."""
    function, given = node.parts[0], node.parts[1:]
    known = _operation(function.name) if function.kind in ("attribute", "name") else None
    owner = statement.text_of(function.parts[0]) if function.kind == "attribute" else ""
    if known and (owner in _FUNCTIONAL or (function.kind == "name" and function.name not in ("add", "where"))):
        yield LineOperation("function", node, _roles(known.arguments, given, node.keywords), known.op)
    elif known and owner not in ("", "self"):
        roles = _roles(known.arguments, (function.parts[0], *given), ("", *node.keywords))
        yield LineOperation("function", node, roles, known.op)
    elif LOSS.search(statement.text_of(function)) and given:
        roles = _roles(["self", "target", "weight"], given, node.keywords)
        yield LineOperation("function", node, roles, r"\w*loss\w*|sub|mul|add|pow")
    elif is_layer(function, statement) and given:
        passed = tuple((keyword or "input", part) for keyword, part in zip(node.keywords, given, strict=True))
        yield LineOperation("layer", node, (("module", module_of(function)), *passed))


def module_of(function: Node) -> Node:
    """Return the module whose method is called: `model` of `model.generate(ids)`; else what is called itself."""
    is_a_method = function.kind == "attribute" and function.name in _METHODS
    return function.parts[0] if is_a_method else function


def is_layer(function: Node, statement: Statement) -> bool:
    """Tell whether what is called may be a module: `model`, `self.encoder`, `self.layers[0]`, `nn.Linear(3, 4)`."""
    match function.kind:
        case "name":
            is_a_function = function.name in _NO_LAYERS or _VERB.match(function.name) is not None
            return not is_a_function and not CLASS.match(function.name)
        case "subscript":
            return True
        case "call":
            inner = function.parts[0]
            return inner.kind == "attribute" and inner.name[:1].isupper()
        case "attribute":
            is_known = function.name in _METHODS or LOSS.search(function.name) is not None
            return is_known or is_self(function)
    return False


def _roles(names: list[str], given: tuple[Node, ...], keywords: tuple[str, ...]) -> tuple[tuple[str, Node], ...]:
    """Return each argument after its name: the keyword, else the name at its place, else ""."""
    padded = [*names, *[""] * len(given)]
    return tuple((keyword or name, node) for name, keyword, node in zip(padded, keywords, given, strict=False))


def _operation(function: str) -> Operation | None:
    return load().operations.get(function)


def leaves(node: Node) -> Iterator[Node]:
    """Yield what an operator tree works on."""
    if node.kind == "operator" and node.name in ELEMENTWISE:
        for part in node.parts:
            yield from leaves(part)
    elif node.kind == "unary":
        yield from leaves(node.parts[0])
    else:
        yield node


def place_of(node: Node, statement: Statement) -> Place:
    """Tell where an expression got its tensor."""
    match node.kind:
        case "literal":
            return Place("number", node)
        case "name":
            return Place("name", node)
        case "unary":
            return place_of(node.parts[0], statement)
        case "operator":
            places = [place_of(leaf, statement) for leaf in leaves(node) if leaf is not node]
            for kind in ("created", "on the CPU", "attribute", "member", "name"):
                if found := next((place for place in places if place.kind == kind), None):
                    return found
            return places[0] if places else Place("other", node)
        case "subscript":
            # `batch["image"]`, `batch[0]`
            is_item = len(node.parts) == 2 and node.parts[1].kind == "literal" and node.parts[1].name != "None"
            return Place("member", node) if is_item else place_of(node.parts[0], statement)
        case "attribute":
            attributes = load().devices.attributes
            if attributes.get(node.name) == "view":
                return place_of(node.parts[0], statement)
            names = [part.name for part in node.walk() if part.kind in ("name", "attribute")]
            if any(attributes.get(name) in ("facts", "settings") for name in names):
                return Place("number", node)
            if is_self(node) and _A_NUMBER.match(node.name):
                return Place("number", node)
            return Place("attribute" if is_self(node) else "member", node)
        case "call":
            return _place_of_a_call(node, statement)
    return Place("other", node)


def _place_of_a_call(node: Node, statement: Statement) -> Place:
    function, given = node.parts[0], node.parts[1:]
    decides = decided_by(function)
    if decides == "move" or function.name == "to":
        return Place("on the CPU" if function.name == "cpu" else "moved", node)
    if decides == "argument" or ("device" in node.keywords and (decides == "like" or is_factory(node))):
        return Place("moved", node)
    if decides in ("values", "facts"):
        return Place("number", node)
    if is_factory(node):
        is_moved = decides == "data" and given and place_of(given[0], statement).kind == "moved"
        return Place("moved" if is_moved else "created", node)
    if function.name == "Variable" and given:  # of torch 0.3 and before
        return place_of(given[0], statement)
    if function.kind != "attribute":
        return Place("called", node)
    if _is_torch(function.parts[0], statement):  # torch.triu(torch.ones(3, 3)), torch.sqrt(x)
        inner = place_of(given[0], statement) if given else Place("called", node)
        return inner if inner.kind in ("created", "attribute", "on the CPU", "moved") else Place("called", node)
    inner = place_of(function.parts[0], statement)
    return inner if decides in ("view", "copy", "like") or inner.kind == "created" else Place("called", node)


def decided_by(function: Node) -> str:
    """Return what decides the device of what is called with this name, as factories.toml says; else ""."""
    devices = load().devices
    of_a_method = devices.methods.get(function.name, "") if function.kind == "attribute" else ""
    return of_a_method or devices.functions.get(function.name, "")


def is_factory(node: Node) -> bool:
    """Tell whether a call is one of a factory of torch, which makes a tensor rather than computing one from others."""
    function = node.parts[0]
    match decided_by(function):
        case "size" if node.keywords.count("") < 3 and "size" not in node.keywords:
            return False
        case "default" | "data" | "size" | "cpu":
            if function.kind == "name":
                return function.name.endswith("Tensor")
            owner = function.parts[0]
            return (owner.parts[0] if owner.name == "fft" and owner.parts else owner).name in _TORCH
    return False


def _is_torch(node: Node, statement: Statement) -> bool:
    return statement.text_of(node) in _FUNCTIONAL


def is_self(node: Node) -> bool:
    """Tell whether an attribute is one of `self`, such as `self.pe` or `self.net.scale`."""
    while node.kind in ("attribute", "subscript") and node.parts:
        node = node.parts[0]
    return node.kind == "name" and node.name == "self"
