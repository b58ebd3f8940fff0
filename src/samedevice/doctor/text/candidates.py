"""What can it be? The tensors of the failing line that may be in the wrong place, by elimination.

Of the operations of the line those are left that could raise the message; of their operands those that could be the
tensor: no number, nothing that the message puts on the other side, nothing that the line itself moves, and no factory
for a second GPU. What a line creates on the CPU is known to be there, so nothing else is named beside it.

docs/assets/doctor/candidates.js does the same in the browser.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from samedevice.doctor.text.accused import accused
from samedevice.doctor.text.read import CPU, GPUS, Reading
from samedevice.doctor.text.refusing import OF_A_FUNCTION, is_marked, is_same, refused
from samedevice.doctor.text.traceback import Frame
from samedevice.introspect.deciding import Part, is_often_a_number, parts
from samedevice.introspect.lines import Line
from samedevice.introspect.operations import (
    LOSS,
    WITHOUT_WEIGHTS,
    LineOperation,
    is_of_self,
    may_be_a_function,
    module_of,
)
from samedevice.introspect.origins import called, device_argument

_OPERATIONS = 16  # that may have failed; of more, more is left than can be named
MOST = 4  # candidates that are named; of more, nobody knows enough to name any
# How much each form says, on the scale of the catalog's points.
CERTAIN, LIKELY, _POSSIBLE = 6.5, 3.5, 1.5


@dataclass(frozen=True, eq=False)
class Candidate:
    """A tensor of the failing line that may be in the wrong place, or a module whose tensors may be.

    Attributes:
        frame: the frame whose line it is; its file is "" for a line that stood in the paste without a traceback.
        line: the line.
        node: the tensor, as the line has it.
        kind: what the code says of it, as `Part.kind` does; "module" for a module, "total" for what the line adds to.
        operation: what it was passed to.
        role: what it was passed for, as PyTorch calls it; "".
        cause: the id of the cause; "" where its form does not tell.
        points: how likely, on the scale of the catalog's points.
        because: why, in one sentence.
        others: what it met.
        is_known: whether the code tells that it is in the wrong place.
    """

    frame: Frame
    line: Line
    node: ast.expr
    kind: str
    operation: LineOperation | None = None
    role: str = ""
    cause: str = ""
    points: float = 0.0
    because: str = ""
    others: tuple[ast.expr, ...] = ()
    is_known: bool = False

    @property
    def expression(self) -> str:
        return self.line.text_of(self.node)


def candidates(reading: Reading, frame: Frame | None = None) -> list[Candidate]:
    """Return what may be in the wrong place in a line; none where the line was not read, or tells too little.

    Args:
        reading: the paste.
        frame: the frame of the line; that of the failing line by default.

    Returns:
        The candidates in the order of the line.
    """
    frame = frame or reading.place
    line = frame.statement if frame is not None else None
    if frame is None or line is None:
        return []
    found: list[Candidate] = []
    left = refused(line, frame, reading)
    if not is_shown_whole(line, frame):  # else the operation, or the operand, may be what was cut off
        told = [
            operation
            for operation in left
            if is_marked(operation, line, frame) or _names_its_argument(operation, line, reading)
        ]
        left = told if all(each in told or line.is_whole(each.node) for each in left) else []
    if len(left) > _OPERATIONS:
        return []
    layers = [operation for operation in left if operation.kind == "layer"]
    for operation in reversed(left):  # the innermost says best what an operand met
        # Beside what has the name of a module, what has none is rather a function; not so an attribute of `self`.
        is_a_layer = not _is_rather_a_function(operation) or all(map(_is_rather_a_function, layers))
        found += _of_operation(operation, left, line, frame, reading, is_a_layer=is_a_layer)
    # What one of them makes is no operand of another: the first that failed is the innermost.
    made = {id(operation.node) for operation in left if operation.kind != "layer" or not may_be_a_function(operation)}
    found = [
        each
        for each in found
        if each.kind not in ("result", "moved", "on the CPU", "item") or not _holds(each.node, made)
    ]
    return sorted(without_doubles(_eliminated(found)), key=lambda each: line.span(each.node))


def _is_rather_a_function(operation: LineOperation) -> bool:
    return may_be_a_function(operation) and not is_of_self(operation.arguments[0][1])


def _holds(node: ast.expr, made: set[int]) -> bool:
    return any(id(inner) in made for inner in ast.walk(node))


def is_shown_whole(line: Line, frame: Frame) -> bool:
    """Tell whether a text shows a whole statement; the body of a loop or of a condition is never shown."""
    rest = line.text[line.end :].strip().strip(";" if frame.file else ".;`")
    return line.end >= len(line.text.rstrip()) or not rest or rest.startswith(":")


def _names_its_argument(operation: LineOperation, line: Line, reading: Reading) -> bool:
    """Tell whether what was passed for the argument that the message puts in the wrong place is shown."""
    argument, is_on_cpu = reading.reads.get("argument", ""), reading.reads.get("device_kind") == "cpu"
    return is_on_cpu and any(is_same(role, argument) and line.is_whole(node) for role, node in operation.arguments)


def _of_operation(
    operation: LineOperation,
    left: Sequence[LineOperation],
    line: Line,
    frame: Frame,
    reading: Reading,
    *,
    is_a_layer: bool,
) -> Iterator[Candidate]:
    for role, node, others in accused(operation, reading):
        if role == "module" and not is_a_layer:
            continue
        if isinstance(node, ast.Starred):
            role, node = "list", node.value
        if role == "module":
            if (found := _module(node, line)) is not None:
                yield replace(found, frame=frame, operation=operation, role=role, others=others)
            continue
        for part in _could_be(role, node, operation, line, reading):
            if (product := _product(part.node, node, left, line)) is not None:
                part = Part("result", product)
            found = told(part, role, operation, line, reading)
            beside = [each for each in _operands(node) if not within(part.node, each) and not within(each, part.node)]
            met = (*others, *beside)
            yield replace(found, frame=frame, operation=operation, role=role, others=met)


def _product(inner: ast.expr, operand: ast.expr, left: Sequence[LineOperation], line: Line) -> ast.expr | None:
    """Return the product in an operand that a tensor is in, if it did not fail: its two tensors are in one place."""
    failed = {id(operation.node) for operation in left}
    for node in ast.walk(operand):
        is_a_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and within(inner, node)
        if not is_a_product or not isinstance(node, ast.expr) or _holds(node, failed):
            continue
        return node if len({line.text_of(part.node) for part in parts(node, line)}) > 1 else None
    return None


def _operands(node: ast.expr) -> list[ast.expr]:
    """Return the operands of a tree of operators, where it is one."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [*_operands(left), *_operands(right)]
        case ast.Compare(left=left, comparators=others):
            return [side for each in (left, *others) for side in _operands(each)]
    return [node]


def within(inner: ast.expr, outer: ast.expr) -> bool:
    return any(node is inner for node in ast.walk(outer))


def _could_be(role: str, node: ast.expr, operation: LineOperation, line: Line, reading: Reading) -> Iterator[Part]:
    """Yield the parts of an operand that could be the tensor in the wrong place."""
    is_written = operation.is_in_place and role == "self"
    for part in parts(node, line):
        if _is_of_the_same_layer(part.node, operation, line):
            continue
        if reading.is_between_gpus:
            could_be = part.kind not in ("created", "on the CPU", "number on the CPU")
            could_be = could_be and not _follows(part.node)
        else:
            could_be = part.kind != "moved" or (reading.names_no_device and _names_a_gpu(part.node))
        accepts_numbers = operation.is_elementwise and not is_written and reading.message.id not in OF_A_FUNCTION
        is_a_number = part.is_one_number or part.kind == "number on the CPU"
        if could_be and not (is_a_number and accepts_numbers):
            yield Part("created", part.node) if part.kind == "number on the CPU" else part


def _is_of_the_same_layer(node: ast.expr, operation: LineOperation, line: Line) -> bool:
    """Tell whether an operand is what the same layer made: it is where the layer is."""
    if operation.kind != "layer" or not isinstance(node, ast.Call):
        return False
    return line.text_of(module_of(node.func)) == line.text_of(operation.arguments[0][1])


def _names_a_gpu(node: ast.expr) -> bool:
    """Tell whether a call says which GPU: `x.to("cuda:1")`."""
    constants = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    return any(isinstance(value, str) and ":" in value for value in constants)


def _follows(node: ast.expr) -> bool:
    """Tell whether a call moves to where another tensor is: `x.to(y.device)`, `x.type_as(y)`."""
    if not isinstance(node, ast.Call):
        return False
    to = device_argument(node) or (node.args[0] if node.args and called(node) == "to" else None)
    return called(node) == "type_as" or (isinstance(to, ast.Attribute) and to.attr == "device" and not is_of_self(to))


def _module(layer: ast.expr, line: Line) -> Candidate | None:
    """Return a module whose own tensors are on the CPU; None for one that has none."""
    name = line.text_of(layer)
    found = Candidate(_NO_FRAME, line, layer, "module", points=LIKELY)
    if isinstance(layer, ast.Call):
        because = f"`{name}` is created in the line that calls it."
        return replace(found, cause="submodule_created_in_forward", points=CERTAIN, because=because)
    if LOSS.search(name):
        if isinstance(layer, ast.Attribute) and name.startswith(("F.", "nn.functional.", "torch.nn.functional.")):
            return None  # a function has no weights
        return replace(found, cause="loss_weight_not_moved", because=f"`{name}` is a loss with weights of its own.")
    if not isinstance(layer, ast.Call) and WITHOUT_WEIGHTS.search(name.rpartition(".")[2]):
        return None
    return replace(found, cause="model_not_moved", because=f"The weights of `{name}` are on the CPU.")


_NO_FRAME = Frame("", 0, "", "")


def told(part: Part, role: str, operation: LineOperation, line: Line, reading: Reading) -> Candidate:
    """Say what the code tells of a part: how likely it is, and the cause."""
    text = line.text_of(part.node)
    found = Candidate(_NO_FRAME, line, part.node, part.kind, is_known=part.is_on_cpu)
    function = line.text_of(operation.node.func) if isinstance(operation.node, ast.Call) else ""
    is_loss = LOSS.search(function) is not None or "loss" in operation.op
    is_total = isinstance(operation.node, ast.AugAssign) and role == "self"
    if operation.kind == "index":
        return _indexed(found, operation, line)
    if part.kind == "created":
        cause = "tensor_created_in_forward_without_device"
        cause = "loss_weight_not_moved" if role == "weight" and is_loss else cause
        cause = "hidden_state_not_moved" if role == "hidden" else cause
        because = f"`{text}` is created in this line without a device."
        return replace(found, cause=cause, points=LIKELY if part.is_open else CERTAIN, because=because)
    if is_total:
        because = f"`{text}` is added to in place, and so stays where it was created."
        return replace(found, kind="total", cause="metric_or_accumulator_state", points=LIKELY, because=because)
    if role == "weight" and is_loss:
        because = f"`{text}` holds the weights of the loss."
        return replace(found, cause="loss_weight_not_moved", points=LIKELY, because=because)
    if role == "hidden" and is_of_an_lstm(operation, line):
        because = f"`{text}` is passed as the hidden state."
        return replace(found, cause="hidden_state_not_moved", points=LIKELY, because=because)
    if part.kind == "attribute" and reading.pair == CPU:
        because = f"`{text}` is an attribute: `.to(device)` moves it only if it is a parameter or a buffer."
        points = _POSSIBLE if is_often_a_number(part.node) else LIKELY
        return replace(found, cause="unregistered_tensor_attribute", points=points, because=because)
    if role == "target" and is_loss:
        points = LIKELY if reading.reads.get("argument") == "target" else 2.0
        because = f"`{text}` is passed as the target of the loss."
        return replace(found, cause="target_not_moved", points=points, because=because)
    if role == "hidden":
        because = f"`{text}` is passed as the hidden state."
        return replace(found, cause="hidden_state_not_moved", points=LIKELY, because=because)
    if role == "input" and operation.kind == "layer":
        if reading.pair == GPUS:
            because = f"`{text}` is passed to `{line.text_of(operation.arguments[0][1])}`, which is on another GPU."
            return replace(found, cause="split_model_activation_not_moved", points=LIKELY, because=because)
        because = f"`{text}` is passed from the CPU."
        return replace(found, cause="input_not_moved", points=LIKELY, because=because)
    if part.kind == "moved":
        return replace(found, cause="wrong_default_index", points=_POSSIBLE)
    return found


def is_of_an_lstm(operation: LineOperation | None, line: Line) -> bool:
    """Tell whether an operation calls an LSTM, whose hidden state is a tuple of two tensors."""
    is_a_layer = operation is not None and operation.kind == "layer" and isinstance(operation.node, ast.Call)
    return is_a_layer and "lstm" in line.text_of(operation.node.func).lower()  # type: ignore[union-attr]


def _indexed(found: Candidate, operation: LineOperation, line: Line) -> Candidate:
    """Say what the code tells of a tensor that is indexed: it is on the CPU, and its index on an accelerator."""
    text, index = found.expression, operation.arguments[1][1]
    if found.kind == "attribute":
        because = f"`{text}` is an attribute: `.to(device)` moves it only if it is a parameter or a buffer."
        return replace(found, cause="unregistered_tensor_attribute", points=CERTAIN, because=because)
    if found.kind == "created":
        because = f"`{text}` is created in this line without a device."
        return replace(found, cause="index_on_wrong_device", points=CERTAIN, because=because)
    because = f"`{text}` is on the CPU, and its index `{line.text_of(index)}` is not."
    return replace(found, cause="index_on_wrong_device", points=LIKELY, because=because)


def _eliminated(found: list[Candidate]) -> list[Candidate]:
    """Keep what is known to be on the CPU, where anything is: it would fail whatever else is there, too."""
    known = [candidate for candidate in found if candidate.is_known]
    return known or found


def without_doubles(found: Iterable[Candidate]) -> list[Candidate]:
    by_text: dict[str, Candidate] = {}
    for candidate in found:
        first = by_text.setdefault(candidate.expression, candidate)
        if first is not candidate:
            best = candidate if candidate.points > first.points else first
            others = dict.fromkeys((*first.others, *candidate.others))
            by_text[candidate.expression] = replace(best, others=tuple(others))
    return list(by_text.values())
