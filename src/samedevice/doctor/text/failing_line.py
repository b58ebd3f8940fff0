"""Which tensor of the failing line is in the wrong place, read from the line and from what the message names.

The message names an argument, such as `index`; the line says what was passed for it: `torch.arange(T)` was created
there without a device, `self.pe` is an attribute, `labels` is a name. Together they have one explanation more often
than each alone. Nothing is looked up: this is a reading, and `rank` weighs it with the other clues.

docs/assets/doctor/failing-line.js does the same in the browser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from samedevice.doctor.text.expressions import Node, Statement, read_statement
from samedevice.doctor.text.line_operations import (
    ELEMENTWISE,
    LOSS,
    LineOperation,
    decided_by,
    is_factory,
    is_self,
    leaves,
    operations,
    place_of,
)
from samedevice.doctor.text.read import Reading
from samedevice.doctor.text.traceback import Frame

# How sure a reading is, on the scale of the catalog's points.
_CERTAIN, _LIKELY, _POSSIBLE = 6.5, 3.5, 1.5

_OWN = re.compile(r"weight|bias|running_mean|running_var|mat2|weight_\w+", re.ASCII)  # of a layer
_OF_A_LAYER = re.compile(r"weight|bias|running_mean|running_var|mat[12]|input|index|indices|hx|cx|hidden", re.ASCII)
_INPUTS = ("input", "index", "indices", "mat1", "self", "src")  # what a batch is passed for
_HIDDEN = re.compile(r"hx|cx|hidden\w*|(?:self\.)?(?:h|c|hidden|state|init_hidden|hc|h_?[0t]|c_?[0t])\w{0,2}", re.ASCII)
_LAYER_OPS = re.compile(
    r"(?:add|b|baddb)?m[mv]|addmm|linear|\w*conv\w*|\w*norm\w*|index_select|embedding\w*|\w*lstm\w*|\w*gru\w*|\w*rnn\w*"
    r"|prelu\w*|\w*attention\w*",
    re.ASCII,
)
# A line of a paste that may be code, without the signs that quote it.
_CODE = re.compile(
    r"^(?:>{1,3} ?|`{1,3}|-{1,8}> ?\d{1,6} )?"
    r"(?P<code>(?:[\w.\[\], ]{1,80} ?[-+*/@]?= ?|return )[^=`][^`]{2,300}|[\w.]{1,80}\([^`]{1,300}\))(?:`|$)",
    re.ASCII,
)
_OF_PROSE = 0.95
_OF_A_LIBRARY, _IN_A_LIBRARY = 5.5, 4.0  # where two tensors met in a library's own line; in what that line calls
_INDEXED, _INPUT_AND_WEIGHT = ("SD030",), ("SD020",)  # messages that say which part of the line it is
_MODULE = re.compile(
    r"model|net|module|criterion|loss|encoder|decoder|classifier|metric|pipe", re.ASCII | re.IGNORECASE
)
_LIBRARIES_OF_OPERATIONS = ("torchvision", "torchaudio", "torchmetrics")  # they are given the user's tensors
_WITHOUT_WEIGHTS = re.compile(
    r"pool|relu|gelu|sigmoid|tanh|softmax|dropout|flatten|upsample|^act|^pad", re.ASCII | re.IGNORECASE
)
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
    found = _of_line(frame, reading) if frame is not None and frame.code and not frame.in_library else []
    # A move that was thrown away stands above the line that fails.
    above = [each for each in reading.frames if each.code and not each.in_library and each is not frame]
    statements = [(each, read_statement(each.code)) for each in above]
    return found + [Suspect(each, line, *moved) for each, line in statements for moved in _discarded_move(line)]


def _of_line(frame: Frame, reading: Reading) -> list[Suspect]:
    statement = read_statement(frame.code)
    done = list(operations(statement))
    done = [operation for operation in done if _is_marked(operation.node, frame)] or done
    found = [Suspect(frame, statement, *found) for found in _found(done, statement, frame, reading)]
    if not found and _may_be_created(reading):
        found = [Suspect(frame, statement, *created) for created in _created(statement)]
    return [*found, *(Suspect(frame, statement, *moved) for moved in _discarded_move(statement))]


def _may_be_created(reading: Reading) -> bool:
    return "tensor_created_in_forward_without_device" in {cause.id for cause in reading.message.causes}


def _created(statement: Statement) -> Iterator[_Found]:
    """Yield what a line creates without a device, wherever in the line that is."""
    moved: set[Node] = set()
    is_kept = any(target.kind == "attribute" for target in statement.targets)  # `self.steps = torch.linspace(0, 1, 8)`
    for node in statement.value.walk() if not is_kept else ():
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
        is_a_move = decided_by(node.parts[0]) == "move" and moved.kind == "name"
        if is_a_move and not _MODULE.search(moved.name):
            because = f"`{statement.text_of(node)}` returns the moved tensor, and the line throws it away."
            yield moved, "in_place_or_copy", _CERTAIN, because, None


def _of_a_library(suspect: Suspect, frame: Frame) -> Suspect:
    """Blame the library for what its own line creates or keeps; what it was given may be the user's."""
    if suspect.cause in ("tensor_created_in_forward_without_device", "unregistered_tensor_attribute"):
        because = f"The line that failed is {frame.package}'s own, and so is `{suspect.expression}`."
        return replace(suspect, cause="library_bug", because=because)
    return replace(suspect, because="")


def _library_alone(frame: Frame, reading: Reading) -> list[Suspect]:
    """Blame a library where two tensors met in its own line, and the message names neither."""
    statement = read_statement(frame.code)
    argument = reading.reads.get("argument", "")
    is_mixed = reading.reads.get("between") == "cpu and accelerator" and not _OF_A_LAYER.fullmatch(argument)
    if not is_mixed or frame.package in _LIBRARIES_OF_OPERATIONS:
        return []
    is_an_operator = any(operation.kind in ("operator", "function") for operation in operations(statement))
    points = _OF_A_LIBRARY if is_an_operator else _IN_A_LIBRARY
    because = f"The line that failed is {frame.package}'s own."
    return [Suspect(frame, statement, statement.value, "library_bug", points, because)]


def _of_prose(reading: Reading) -> list[Suspect]:
    """Read the lines of code that stand in a paste without a traceback: what they create or keep themselves."""
    found = []
    for line in reading.trace.split("\n"):
        if code := _CODE.match(line):
            frame = Frame("", 0, "", code["code"])
            suspects_here = [suspect for suspect in _of_line(frame, reading) if suspect.points >= _LIKELY]
            found += [suspect for suspect in suspects_here if not _is_moved_later(suspect, reading)]
    return [replace(suspect, points=suspect.points * _OF_PROSE) for suspect in found]


def _is_moved_later(suspect: Suspect, reading: Reading) -> bool:
    """Tell whether a line creates a tensor that another line of the paste moves."""
    names = [target.name for target in suspect.statement.targets if target.kind == "name"]
    return any(f"{name}{move}" in reading.trace for name in names for move in (".to(", ".cuda("))


def calls_a_module(frame: Frame, reading: Reading) -> bool:
    """Tell whether the line of a frame called a module, by the frame inside it; True where none is shown."""
    following = next((inner for outer, inner in pairwise(reading.frames) if outer is frame), None)
    if following is None:
        return True
    if following.in_library:
        return following.package == "" and "torch/nn/" in following.file
    return following.function.rpartition(".")[2] in ("forward", "__call__", "")


def _found(done: list[LineOperation], statement: Statement, frame: Frame, reading: Reading) -> Iterator[_Found]:
    reads, message = reading.reads, reading.message.id
    argument, op = reads.get("argument", ""), reads.get("op", "")
    is_on_cpu = reads.get("device_kind") == "cpu"
    layers = [operation for operation in done if operation.kind == "layer"] if calls_a_module(frame, reading) else []
    if message in _INDEXED:
        indexed = [operation for operation in done if operation.kind == "index"]
        for operation in indexed:
            yield from _indexed(operation, statement, is_alone=len(indexed) == 1)
    elif reads.get("between") != "cpu and accelerator":
        return
    elif message in _INPUT_AND_WEIGHT:
        for operation in layers:
            yield from _accused(operation, "input", "", is_on_cpu, statement)
    elif argument:
        fitting = [operation for operation in done if operation.op and op and re.fullmatch(operation.op, op, re.ASCII)]
        if not fitting and (_LAYER_OPS.fullmatch(op) if op else _OF_A_LAYER.fullmatch(argument)):
            fitting = layers
        for operation in fitting:
            yield from _accused(operation, argument, op, is_on_cpu, statement)
    else:
        for operation in done:
            yield from _mixed(operation, statement)


def _accused(
    operation: LineOperation, argument: str, op: str, is_on_cpu: bool, statement: Statement
) -> Iterator[_Found]:
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
    if is_on_cpu and not named and argument in ("weight", "pos_weight") and operation.kind == "function":
        loss = operation.node.parts[0]
        if loss.kind in ("name", "attribute") and LOSS.search(statement.text_of(loss)) and others:
            because = f"`{statement.text_of(loss)}` holds the weights of the loss."
            yield loss, "loss_weight_not_moved", _LIKELY, because, others[-1]
    if not is_on_cpu:
        named, others = others, named
        role = ""
    for node in named:
        items = node.parts if argument == "tensors" and node.kind == "group" else (node,)
        kept = [item for item in items if place_of(item, statement).kind not in ("created", "attribute")]
        met = [node for node in [*others, *kept] if place_of(node, statement).kind != "number"]
        other = next(iter(met), None)
        for item in items:
            yield from _passed(item, operation, role, statement, other)


def _is_same(role: str, argument: str) -> bool:
    return role == argument or {role, argument} in ({"self", "input"}, {"index", "indices"}, {"values", "value"})


def _has_weights(layer: str) -> bool:
    """Tell whether a layer of this name may have tensors of its own: a pooling or an activation has none."""
    return not _WITHOUT_WEIGHTS.search(layer.rpartition(".")[2])


def _layer(layer: Node, given: tuple[tuple[str, Node], ...], statement: Statement) -> Iterator[_Found]:
    """Yield a layer whose own tensors are on the CPU."""
    other = given[0][1] if given else None
    name = statement.text_of(layer)
    if layer.kind == "call":
        yield layer, "submodule_created_in_forward", _CERTAIN, f"`{name}` is created in the line that calls it.", other
    elif LOSS.search(name):
        yield layer, "loss_weight_not_moved", _LIKELY, f"`{name}` is a loss with weights of its own.", other
    elif _has_weights(name):
        yield layer, "model_not_moved", _LIKELY, f"The weights of `{name}` are on the CPU.", other


def _passed(
    node: Node, operation: LineOperation, role: str, statement: Statement, other: Node | None
) -> Iterator[_Found]:
    """Yield what was passed from the CPU, by what the line says of it."""
    place = place_of(node, statement)
    text = statement.text_of(place.node)
    function = statement.text_of(operation.node.parts[0]) if operation.kind in ("layer", "function") else ""
    is_loss = LOSS.search(function) is not None or operation.op.find("loss") >= 0
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
        if role not in ("", *_INPUTS):
            return  # such as `other`: two tensors met that nobody calls a batch
        points = 2.5 if role else _POSSIBLE
        yield place.node, "input_not_moved", points, f"`{text}` is passed from the CPU.", other


def _mixed(operation: LineOperation, statement: Statement) -> Iterator[_Found]:
    """Yield what may be on the CPU in an operation that works element by element, where the message names nothing."""
    if operation.kind in ("layer", "index"):
        return
    nodes = [leaf for _, node in operation.arguments for leaf in leaves(node)]
    places = [place_of(node, statement) for node in nodes]
    tensors = [place for place in places if place.kind != "number"]
    if operation.kind == "operator" and operation.node.name.endswith("=") and operation.node.name not in ELEMENTWISE:
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


def _indexed(operation: LineOperation, statement: Statement, *, is_alone: bool) -> Iterator[_Found]:
    """Yield the tensor that is indexed: it is on the CPU, and its index on an accelerator."""
    base, index = operation.arguments[0][1], operation.arguments[-1][1]
    leaf = base
    while leaf.kind == "call" and leaf.parts[0].kind == "attribute" and decided_by(leaf.parts[0]) in ("view", "copy"):
        leaf = leaf.parts[0].parts[0]
    text = statement.text_of(leaf)
    if leaf.kind == "attribute" and is_self(leaf):
        because = f"`{text}` is an attribute: `.to(device)` moves it only if it is a parameter or a buffer."
        yield leaf, "unregistered_tensor_attribute", _CERTAIN, because, index
    elif leaf.kind == "call" and is_factory(leaf) and place_of(leaf, statement).kind == "created":
        because = f"`{text}` is created in this line without a device."
        is_a_slice = place_of(index, statement).kind == "number"  # `torch.linspace(0, 1, 8)[1:]` fails further down
        cause = "tensor_created_in_forward_without_device" if is_a_slice else "index_on_wrong_device"
        yield leaf, cause, _CERTAIN, because, index
    else:
        name = statement.text_of(base)
        because = f"`{name}` is on the CPU, and its index is not." if is_alone else f"`{name}` may be on the CPU."
        yield base, "index_on_wrong_device", _LIKELY, because, index


def _is_marked(node: Node, frame: Frame) -> bool:
    """Tell whether the traceback underlined this operation, or a part of it."""
    if not frame.marked:
        return False
    start, end = frame.marked
    return start <= node.start and node.end <= end
