"""Which tensor of the failing line is in the wrong place, read from the line and from what the message names.

The message names an argument, such as `index`; the line says what was passed for it: `torch.arange(T)` was created
there without a device, `self.pe` is an attribute, `labels` is a name. Together they have one explanation more often
than each alone. Nothing is looked up: this is a reading, and `rank` weighs it with the other clues.

docs/assets/doctor.js does the same in the browser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from samedevice.catalog import Operation, load
from samedevice.doctor.text.expressions import Node, Statement, read_statement
from samedevice.doctor.text.read import Reading
from samedevice.doctor.text.traceback import Frame

# How sure a reading is, on the scale of the catalog's points.
_CERTAIN, _LIKELY, _POSSIBLE = 6.0, 3.5, 1.5

_FACTORIES = {
    "arange", "bartlett_window", "blackman_window", "empty", "eye", "full", "hamming_window", "hann_window",
    "kaiser_window", "linspace", "logspace", "normal", "ones", "rand", "randint", "randn", "randperm", "tensor",
    "tril_indices", "triu_indices", "zeros", "scalar_tensor", "Tensor", "FloatTensor", "LongTensor",
    "IntTensor", "BoolTensor", "DoubleTensor", "range",
}  # fmt: skip
_TORCH = ("torch", "th", "pt")
_FUNCTIONAL = ("torch", "th", "pt", "F", "functional", "nn.functional", "torch.nn.functional", "torch.linalg")
# These return a view or a copy of the tensor before the dot, where it is.
_KEEPS = {
    "view", "reshape", "unsqueeze", "squeeze", "expand", "expand_as", "repeat", "repeat_interleave", "permute",
    "transpose", "t", "flatten", "contiguous", "detach", "clone", "float", "double", "half", "long", "int", "bool",
    "bfloat16", "type", "type_as", "chunk", "split", "unbind", "narrow", "sum", "mean", "exp", "log", "sqrt", "abs",
    "T", "mT", "H", "mH", "data", "real", "softmax", "log_softmax", "sigmoid", "tanh", "relu", "argmax", "max",
    "min", "clamp", "neg", "pow", "any", "all",
}  # fmt: skip
_ELEMENTWISE = ("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", ">", "<=", ">=", "&", "|", "^")
_OWN = re.compile(r"weight|bias|running_mean|running_var|mat2|weight_\w+", re.ASCII)  # of a layer
_HIDDEN = re.compile(r"hx|cx|hidden\w*|(?:self\.)?(?:h|c|hidden|state|init_hidden|hc|h_?[0t]|c_?[0t])\w{0,2}", re.ASCII)
_LOSS = re.compile(r"loss|criterion|cross_entropy|crit\b|objective", re.ASCII)
_LAYER_OPS = re.compile(
    r"(?:add|b|baddb)?m[mv]|addmm|linear|\w*conv\w*|\w*norm\w*|index_select|embedding\w*|\w*lstm\w*|\w*gru\w*|\w*rnn\w*"
    r"|prelu\w*|\w*attention\w*",
    re.ASCII,
)
# A line of a paste that may be code, without the signs that quote it.
_CODE = re.compile(
    r"^(?:>{1,3} ?|`{1,3})?"
    r"(?P<code>(?:[\w.\[\], ]{1,80} ?[-+*/@]?= ?|return )[^=`][^`]{2,300}|[\w.]{1,80}\([^`]{1,300}\))(?:`|$)",
    re.ASCII,
)
_OF_PROSE = 0.7
_OF_A_LIBRARY = 4.5  # where two tensors of a library's own line met
_INDEXED, _INPUT_AND_WEIGHT = ("SD030",), ("SD020",)  # messages that say which part of the line it is
_MODULE = re.compile(
    r"model|net|module|criterion|loss|encoder|decoder|classifier|metric|pipe", re.ASCII | re.IGNORECASE
)
_LIBRARIES_OF_OPERATIONS = ("torchvision", "torchaudio", "torchmetrics")  # they are given the user's tensors
_RECURRENT = re.compile(r"\w*(?:lstm|gru|rnn)\w*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Suspect:
    """A tensor of the failing line that may be in the wrong place.

    Attributes:
        frame: the frame whose line it is; its file is "" for a line that stood in the paste without a traceback.
        statement: the line.
        node: the tensor in it.
        cause: the id of the cause.
        points: how likely, on the scale of the catalog's points.
        because: why, in one sentence.
        other: what it met, if the line says that: its device is the one to use; else None.
    """

    frame: Frame
    statement: Statement
    node: Node
    cause: str
    points: float
    because: str
    other: Node | None = None

    @property
    def expression(self) -> str:
        return self.statement.text_of(self.node)


@dataclass(frozen=True)
class _Place:
    """Where an expression got its tensor: a `kind`, and the part of it that says so."""

    kind: str  # "created", "moved", "on the CPU", "attribute", "member", "name", "called", "number" or "other"
    node: Node


@dataclass(frozen=True)
class _Done:
    """An operation of the line, with the names that PyTorch has for its arguments."""

    kind: str  # "operator", "function", "layer" or "index"
    node: Node
    arguments: tuple[tuple[str, Node], ...]
    op: str = ""


_Found = tuple[Node, str, float, str, "Node | None"]


def suspects(reading: Reading) -> list[Suspect]:
    """Return what may be in the wrong place in the failing line, in the line's order."""
    if not reading.frames:
        return _of_prose(reading)
    frame = reading.library_frame
    if frame is not None:
        found = _of_line(frame, reading)
        return [_of_a_library(suspect, frame) for suspect in found] or _library_alone(frame, reading)
    frame = reading.place
    return _of_line(frame, reading) if frame is not None and frame.code and not frame.in_library else []


def _of_line(frame: Frame, reading: Reading) -> list[Suspect]:
    statement = read_statement(frame.code)
    done = list(_operations(statement))
    done = [operation for operation in done if _is_marked(operation.node, frame)] or done
    found = [Suspect(frame, statement, *found) for found in _found(done, statement, reading)]
    if not found and _may_be_created(reading):
        found = [Suspect(frame, statement, *created) for created in _created(statement)]
    return [*found, *(Suspect(frame, statement, *moved) for moved in _discarded_move(statement))]


def _may_be_created(reading: Reading) -> bool:
    return "tensor_created_in_forward_without_device" in {cause.id for cause in reading.message.causes}


def _created(statement: Statement) -> Iterator[_Found]:
    """Yield what a line creates without a device, wherever in the line that is."""
    moved: set[Node] = set()
    for node in statement.value.walk():
        place = place_of(node, statement) if node.kind == "call" and node not in moved else None
        if place is not None and place.kind == "moved":
            moved.update(node.walk())
        if place is not None and place.node is node and place.kind == "created":
            because = f"`{statement.text_of(node)}` is created in this line without a device."
            yield node, "tensor_created_in_forward_without_device", _LIKELY, because, None


def _discarded_move(statement: Statement) -> Iterator[_Found]:
    """Yield the tensor of a line that is `x.to(device)` and nothing else: what it returns is thrown away."""
    node = statement.value
    if not statement.targets and node.kind == "call" and node.parts[0].kind == "attribute":
        moved = node.parts[0].parts[0]
        is_a_move = node.parts[0].name in ("to", "cuda", "cpu") and moved.kind == "name"
        if is_a_move and not _MODULE.search(moved.name):
            because = f"`{statement.text_of(node)}` returns the moved tensor, and the line throws it away."
            yield moved, "in_place_or_copy", _CERTAIN, because, None


def _of_a_library(suspect: Suspect, frame: Frame) -> Suspect:
    """Blame the library for what its own line creates or keeps; what it was given may be the user's."""
    if suspect.cause in ("tensor_created_in_forward_without_device", "unregistered_tensor_attribute"):
        because = f"The line that failed is {frame.package}'s own, and so is `{suspect.expression}`."
        return replace(suspect, cause="library_bug", because=because)
    return suspect


def _library_alone(frame: Frame, reading: Reading) -> list[Suspect]:
    """Blame a library where two tensors met in its own line, and the message names neither."""
    statement = read_statement(frame.code)
    is_mixed = reading.reads.get("between") == "cpu and accelerator" and not reading.reads.get("argument")
    if not is_mixed or frame.package in _LIBRARIES_OF_OPERATIONS:
        return []
    is_an_operator = any(operation.kind == "operator" for operation in _operations(statement))
    points = _OF_A_LIBRARY if is_an_operator else _LIKELY
    because = f"The line that failed is {frame.package}'s own."
    return [Suspect(frame, statement, statement.value, "library_bug", points, because)]


def _of_prose(reading: Reading) -> list[Suspect]:
    """Read the lines of code that stand in a paste without a traceback: what they create or keep themselves."""
    found = []
    for line in reading.trace.split("\n"):
        if code := _CODE.match(line):
            frame = Frame("", 0, "", code["code"])
            found += [suspect for suspect in _of_line(frame, reading) if suspect.points >= _LIKELY]
    return [replace(suspect, points=suspect.points * _OF_PROSE) for suspect in found]


def _found(done: list[_Done], statement: Statement, reading: Reading) -> Iterator[_Found]:
    reads, message = reading.reads, reading.message.id
    argument, op = reads.get("argument", ""), reads.get("op", "")
    is_on_cpu = reads.get("device_kind") == "cpu"
    layers = [operation for operation in done if operation.kind == "layer"]
    if message in _INDEXED:
        for operation in done:
            if operation.kind == "index":
                yield from _indexed(operation, statement)
    elif reads.get("between") != "cpu and accelerator":
        return
    elif message in _INPUT_AND_WEIGHT:
        for operation in layers:
            yield from _accused(operation, "input", "", is_on_cpu, statement)
    elif argument:
        fitting = [operation for operation in done if operation.op and op and re.fullmatch(operation.op, op, re.ASCII)]
        if not fitting and (not op or _LAYER_OPS.fullmatch(op)):
            fitting = layers
        for operation in fitting:
            yield from _accused(operation, argument, op, is_on_cpu, statement)
    else:
        for operation in done:
            yield from _mixed(operation, statement)


def _accused(operation: _Done, argument: str, op: str, is_on_cpu: bool, statement: Statement) -> Iterator[_Found]:
    """Yield what an operation was given for the argument that a message names; for a layer its input or its own."""
    if operation.kind == "layer":
        layer, given = operation.arguments[0][1], operation.arguments[1:]
        is_own = _OWN.fullmatch(argument) is not None
        if is_own == is_on_cpu:
            yield from _layer(layer, given, statement)
            return
        is_hidden = _RECURRENT.search(op) is not None and _HIDDEN.fullmatch(argument) is not None
        for number, (_, node) in enumerate(given):
            if is_hidden == (number > 0) or len(given) == 1:
                yield from _passed(node, operation, "hidden" if is_hidden else "input", statement, layer)
        return
    named = [node for role, node in operation.arguments if _is_same(role, argument)]
    others = [node for role, node in operation.arguments if not _is_same(role, argument)]
    role = argument
    if not is_on_cpu:
        named, others = others, named
        role = ""
    other = next(iter(others), None)
    for node in named:
        for item in node.parts if argument == "tensors" and node.kind == "group" else (node,):
            yield from _passed(item, operation, role, statement, other)


def _is_same(role: str, argument: str) -> bool:
    return role == argument or {role, argument} in ({"self", "input"}, {"index", "indices"}, {"values", "value"})


def _layer(layer: Node, given: tuple[tuple[str, Node], ...], statement: Statement) -> Iterator[_Found]:
    """Yield a layer whose own tensors are on the CPU."""
    other = given[0][1] if given else None
    name = statement.text_of(layer)
    if layer.kind == "call":
        yield layer, "submodule_created_in_forward", _CERTAIN, f"`{name}` is created in the line that calls it.", other
    elif _LOSS.search(name):
        yield layer, "loss_weight_not_moved", _LIKELY, f"`{name}` is a loss with weights of its own.", other
    else:
        yield layer, "model_not_moved", _LIKELY, f"The weights of `{name}` are on the CPU.", other


def _passed(node: Node, operation: _Done, role: str, statement: Statement, other: Node | None) -> Iterator[_Found]:
    """Yield what was passed from the CPU, by what the line says of it."""
    place = place_of(node, statement)
    text = statement.text_of(place.node)
    function = statement.text_of(operation.node.parts[0]) if operation.kind in ("layer", "function") else ""
    is_loss = _LOSS.search(function) is not None or operation.op.find("loss") >= 0
    if place.kind == "created":
        because = f"`{text}` is created in this line without a device."
        if role == "weight" and is_loss:
            yield place.node, "loss_weight_not_moved", _CERTAIN, because, other
        yield place.node, "tensor_created_in_forward_without_device", _CERTAIN, because, other
    elif place.kind == "attribute":
        if role == "weight" and is_loss:
            yield place.node, "loss_weight_not_moved", _LIKELY, f"`{text}` holds the weights of the loss.", other
        else:
            because = f"`{text}` is an attribute: `.to(device)` moves it only if it is a parameter or a buffer."
            yield place.node, "unregistered_tensor_attribute", _LIKELY, because, other
    elif role == "target" or (is_loss and role == ""):
        yield place.node, "target_not_moved", _LIKELY, f"`{text}` is passed as the target of the loss.", other
    elif role == "weight" and is_loss:
        yield place.node, "loss_weight_not_moved", _CERTAIN, f"`{text}` is passed as the weights of the loss.", other
    elif role == "hidden" or (operation.kind == "layer" and _HIDDEN.fullmatch(text)):
        yield place.node, "hidden_state_not_moved", _LIKELY, f"`{text}` is passed as the hidden state.", other
    elif place.kind in ("name", "member", "on the CPU") and role != "tensors":
        points = 2.5 if role else _POSSIBLE
        yield place.node, "input_not_moved", points, f"`{text}` is passed from the CPU.", other


def _mixed(operation: _Done, statement: Statement) -> Iterator[_Found]:
    """Yield what may be on the CPU in an operation that works element by element, where the message names nothing."""
    if operation.kind in ("layer", "index"):
        return
    nodes = [leaf for _, node in operation.arguments for leaf in _leaves(node)]
    places = [place_of(node, statement) for node in nodes]
    tensors = [place for place in places if place.kind != "number"]
    if operation.kind == "operator" and operation.node.name.endswith("=") and operation.node.name not in _ELEMENTWISE:
        total = places[0]
        if total.kind in ("name", "attribute"):
            because = f"`{statement.text_of(total.node)}` is added to in place, and so stays where it was created."
            other = tensors[1].node if len(tensors) > 1 else None
            yield total.node, "metric_or_accumulator_state", _LIKELY, because, other
    elsewhere = [place for place in tensors if place.kind not in ("created", "attribute", "on the CPU")]
    for place in tensors:
        text = statement.text_of(place.node)
        other = next((known.node for known in elsewhere if known.node is not place.node), None)
        if place.kind == "created":
            because = f"`{text}` is created in this line without a device."
            yield place.node, "tensor_created_in_forward_without_device", _CERTAIN, because, other
        elif place.kind == "attribute" and elsewhere:
            because = f"`{text}` is an attribute: `.to(device)` moves it only if it is a parameter or a buffer."
            yield place.node, "unregistered_tensor_attribute", _LIKELY, because, other
    for node in [node for role, node in operation.arguments if role == "target"]:
        if (place := place_of(node, statement)).kind in ("name", "member"):
            because = f"`{statement.text_of(place.node)}` is passed as the target of the loss."
            yield place.node, "target_not_moved", 2.0, because, operation.arguments[0][1]


def _indexed(operation: _Done, statement: Statement) -> Iterator[_Found]:
    """Yield the tensor that is indexed: it is on the CPU, and its index on an accelerator."""
    base, index = operation.arguments[0][1], operation.arguments[-1][1]
    leaf = base
    while leaf.kind == "call" and leaf.parts[0].kind == "attribute" and leaf.parts[0].name in _KEEPS:
        leaf = leaf.parts[0].parts[0]
    text = statement.text_of(leaf)
    if leaf.kind == "attribute" and _is_self(leaf):
        because = f"`{text}` is an attribute: `.to(device)` moves it only if it is a parameter or a buffer."
        yield leaf, "unregistered_tensor_attribute", _CERTAIN, because, index
    elif leaf.kind == "call" and _is_factory(leaf):
        because = f"`{text}` is created in this line without a device."
        yield leaf, "tensor_created_in_forward_without_device", _CERTAIN, because, index
    else:
        because = f"`{statement.text_of(base)}` is on the CPU, and its index is not."
        yield base, "index_on_wrong_device", _LIKELY, because, index


def _operations(statement: Statement) -> Iterator[_Done]:
    """Yield the operations of a line, the outermost first."""
    if statement.sign not in ("", "=", "in") and statement.targets:
        target, value = statement.targets[0], statement.value
        whole = Node("operator", target.start, value.end, statement.sign, (target, value))
        yield _Done("operator", whole, (("self", target), ("other", value)), statement.sign)
    seen: set[Node] = set()
    for node in (*(inner for target in statement.targets for inner in target.walk()), *statement.value.walk()):
        match node.kind:
            case "operator" if node.name == "@":
                yield _Done("function", node, _roles("matmul", node.parts), _operation("matmul").op)
            case "operator" if node.name in _ELEMENTWISE and node not in seen:
                seen.update(inner for inner in node.walk() if inner.kind == "operator")
                yield _Done("operator", node, (("self", node.parts[0]), ("other", node.parts[1])), "")
            case "subscript" if len(node.parts) > 1:
                yield _Done("index", node, tuple(("index" if n else "self", p) for n, p in enumerate(node.parts)))
            case "call":
                yield from _called(node, statement)


def _called(node: Node, statement: Statement) -> Iterator[_Done]:
    function, given = node.parts[0], node.parts[1:]
    known = _operation(function.name) if function.kind in ("attribute", "name") else None
    owner = statement.text_of(function.parts[0]) if function.kind == "attribute" else ""
    if known and (owner in _FUNCTIONAL or (function.kind == "name" and function.name not in ("add", "where"))):
        yield _Done("function", node, _roles(function.name, given, node.keywords), known.op)
    elif (known and function.kind == "attribute" and not owner.startswith("self.") and owner != "self") or (
        known and function.kind == "attribute" and len(given) > 0
    ):
        roles = _roles(function.name, (function.parts[0], *given), ("", *node.keywords))
        yield _Done("function", node, roles, known.op)
    elif is_layer(function, statement) and given:
        arguments = tuple((keyword or "input", part) for keyword, part in zip(node.keywords, given, strict=True))
        name = statement.text_of(function)
        if _LOSS.search(name):
            names = ["self", "target", "weight"]
            arguments = tuple(
                (keyword or (names[number] if number < 3 else ""), part)
                for number, (keyword, part) in enumerate(zip(node.keywords, given, strict=True))
            )
            yield _Done("function", node, arguments, r"\w*loss\w*|sub|mul|add|pow")
        else:
            yield _Done("layer", node, (("module", function), *arguments))


def is_layer(function: Node, statement: Statement) -> bool:
    """Tell whether what is called may be a module: `model`, `self.encoder`, `self.layers[0]`, `nn.Linear(3, 4)`."""
    match function.kind:
        case "name":
            return function.name not in _NO_LAYERS
        case "subscript":
            return True
        case "call":
            inner = function.parts[0]
            return inner.kind == "attribute" and inner.name[:1].isupper()
        case "attribute":
            return _is_self(function) or function.name == "forward" or _LOSS.search(function.name) is not None
    return False


_NO_LAYERS = {
    "print", "len", "range", "int", "float", "str", "list", "dict", "tuple", "zip", "enumerate", "max", "min",
    "sum", "isinstance", "super",
}  # fmt: skip


def _roles(function: str, given: tuple[Node, ...], keywords: tuple[str, ...] = ()) -> tuple[tuple[str, Node], ...]:
    names = _operation(function).arguments
    keywords = keywords or ("",) * len(given)
    return tuple(
        (keyword or (names[number] if number < len(names) else ""), node)
        for number, (keyword, node) in enumerate(zip(keywords, given, strict=True))
    )


def _operation(function: str) -> Operation:
    return load().operations.get(function, _UNKNOWN)


_UNKNOWN = Operation([], [], "")


def _leaves(node: Node) -> Iterator[Node]:
    """Yield what an operator tree works on."""
    if node.kind == "operator" and node.name in _ELEMENTWISE:
        for part in node.parts:
            yield from _leaves(part)
    elif node.kind == "unary":
        yield from _leaves(node.parts[0])
    else:
        yield node


def place_of(node: Node, statement: Statement) -> _Place:
    """Tell where an expression got its tensor."""
    match node.kind:
        case "literal":
            return _Place("number", node)
        case "name":
            return _Place("name", node)
        case "unary":
            return place_of(node.parts[0], statement)
        case "operator":
            places = [place_of(leaf, statement) for leaf in _leaves(node) if leaf is not node]
            for kind in ("created", "on the CPU", "attribute", "member", "name"):
                if found := next((place for place in places if place.kind == kind), None):
                    return found
            return places[0] if places else _Place("other", node)
        case "subscript":
            return place_of(node.parts[0], statement)
        case "attribute":
            if node.name in _KEEPS:
                return place_of(node.parts[0], statement)
            return _Place("attribute" if _is_self(node) else "member", node)
        case "call":
            return _place_of_a_call(node, statement)
    return _Place("other", node)


def _place_of_a_call(node: Node, statement: Statement) -> _Place:
    function = node.parts[0]
    if function.name == "to" or (function.name == "cuda" and function.kind == "attribute"):
        return _Place("moved", node)
    if function.name in ("cpu", "numpy") and function.kind == "attribute":
        return _Place("on the CPU", node)
    if _is_factory(node):
        is_given = "device" in node.keywords or function.name.endswith("_like")
        return _Place("moved" if is_given else "created", node)
    if function.kind == "attribute" and function.name in _KEEPS and not _is_torch(function.parts[0], statement):
        return place_of(function.parts[0], statement)
    if function.kind == "attribute" and _is_torch(function.parts[0], statement) and len(node.parts) > 1:
        inner = place_of(node.parts[1], statement)  # torch.triu(torch.ones(3, 3)), torch.sqrt(x)
        return inner if inner.kind in ("created", "attribute", "on the CPU", "moved") else _Place("called", node)
    return _Place("called", node)


def _is_factory(node: Node) -> bool:
    function = node.parts[0]
    is_of_torch = function.kind == "attribute" and function.parts[0].name in _TORCH and function.name in _FACTORIES
    return is_of_torch or (function.kind == "name" and function.name in ("FloatTensor", "LongTensor"))


def _is_torch(node: Node, statement: Statement) -> bool:
    return statement.text_of(node) in _FUNCTIONAL


def _is_self(node: Node) -> bool:
    """Tell whether an attribute is one of `self`, such as `self.pe` or `self.net.scale`."""
    while node.kind in ("attribute", "subscript") and node.parts:
        node = node.parts[0]
    return node.kind == "name" and node.name == "self"


def _is_marked(node: Node, frame: Frame) -> bool:
    """Tell whether the traceback underlined this operation, or a part of it."""
    if not frame.marked:
        return False
    start, end = frame.marked
    return start <= node.start and node.end <= end
