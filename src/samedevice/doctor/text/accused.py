"""Which operands of an operation the message leaves: those of the side that is in the wrong place.

docs/assets/doctor/accused.js does the same in the browser.
"""

import ast
import re
from collections.abc import Callable, Iterator

from samedevice.doctor.text.read import CPU, GPUS, Reading
from samedevice.doctor.text.refusing import CONVOLVED, MANY_INPUTS, is_same
from samedevice.introspect.operations import LineOperation, may_be_tensors

_OWN = re.compile(r"weight|bias|running_mean|running_var|mat2|weight_\w+|parameter", re.ASCII)  # of a layer
INPUTS = ("input", "index", "indices", "mat1", "self", "src")  # what a batch is passed for
_HIDDEN = re.compile(r"hx|cx|hidden\w*", re.ASCII)
_ONE_INPUT = re.compile(r"torch/nn/modules/(?:sparse|linear|conv|batchnorm|normalization|instancenorm)\.py", re.ASCII)
_WITHOUT_A_WEIGHT = re.compile(r"\bin (?:mse|l1|smooth_l1|huber)_loss|(?:mse|l1|smooth_l1|huber)_loss\(", re.ASCII)
# Arguments that are no tensors, as PyTorch calls them.
_NUMBERS = (
    "dim",
    "alpha",
    "beta",
    "equation",
    "normalized_shape",
    "num_groups",
    "n_fft",
    "hop_length",
    "win_length",
    "-",
)

_LAYER_AND_INPUT = 2
_OPERATORS = {
    "Add": ("add",),
    "Sub": ("sub", "rsub"),
    "Mult": ("mul",),
    "Div": ("div", "truediv"),
    "FloorDiv": ("floordiv", "floor_divide"),
    "Mod": ("mod", "remainder"),
    "Pow": ("pow",),
    "MatMult": ("matmul", "mm", "bmm"),
}  # what an operator is called where it is traced; of `+=`, with an "i" before it

Accused = tuple[str, ast.expr, tuple[ast.expr, ...]]  # what it was passed for, what was passed, and what it met


def accused(operation: LineOperation, reading: Reading) -> Iterator[Accused]:
    """Yield the arguments of an operation that the message leaves open: on the side that is in the wrong place.

    Args:
        operation: one that could raise the message.
        reading: the paste.
    """
    reads = reading.reads
    argument, is_on_cpu = reads.get("argument", ""), reads.get("device_kind") == "cpu"
    arguments = operation.arguments
    between_gpus = reading.pair == GPUS
    if not _is_called(operation, reads.get("traced", "")):
        return
    if operation.kind == "index":
        yield "self", arguments[0][1], (arguments[1][1],)
        index = arguments[1][1]
        for each in index.elts if isinstance(index, ast.Tuple) else [index]:
            if reading.is_between_gpus and may_be_tensors(each):
                yield "index", each, (arguments[0][1],)
    elif traced := _of_a_traced_call(operation, reads.get("traced", ""), reads.get("operands", "")):
        yield from traced
    elif told := reading.told_devices:
        yield from _sides(operation, lambda role: role in told if between_gpus else told.get(role, "cpu") == "cpu")
    elif any(role == "tensors" for role, _ in arguments):
        joined = next(node for role, node in arguments if role == "tensors")
        is_open = between_gpus or operation.is_open or argument != "tensors"
        yield from _joined(joined, reads.get("element", ""), is_on_cpu=is_on_cpu, is_open=is_open)
    elif operation.is_open and operation.kind == "layer":
        yield from _each_of_a_layer(operation)
    elif operation.is_open:
        yield from _sides(operation, lambda role: True)
    elif operation.kind == "layer":
        yield from _of_a_layer(operation, reading)
    elif reading.message.id == CONVOLVED:
        accused = ("input",) if is_on_cpu else ("weight", "bias")
        yield from _sides(operation, lambda role: role in accused)
    elif not argument or between_gpus:
        yield from _sides(operation, lambda role: True)
        if _is_a_loss(operation) and not _WITHOUT_A_WEIGHT.search(reading.below):
            yield "module", operation.node.func, tuple(node for _, node in arguments)  # type: ignore[union-attr]
    else:
        is_named = any(is_same(role, argument) for role, _ in arguments)
        if is_on_cpu and not is_named and argument in ("weight", "pos_weight") and _is_a_loss(operation):
            loss = operation.node.func  # type: ignore[union-attr]
            yield "module", loss, tuple(node for _, node in arguments)
        # "Other tensors" are the arguments before the one that is named, where there are any.
        roles = [role for role, _ in operation.arguments if role not in _NUMBERS]
        at = next((at for at, role in enumerate(roles) if is_same(role, argument)), 0)
        before = roles[:at] or roles[1:]
        yield from _sides(operation, lambda role: is_same(role, argument) if is_on_cpu else role in before)


def _of_a_traced_call(operation: LineOperation, called: str, operands: str) -> list[Accused]:
    """Return what was on the CPU in a call whose message shows the device of each tensor, in order."""
    devices = operands.split(", ")
    tensors = [
        (role, node)
        for role, argument in operation.arguments
        for node in (argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument])
        if not isinstance(node, ast.Constant)
    ]
    is_layer = operation.kind == "layer"
    if len(tensors) != (_LAYER_AND_INPUT if is_layer else len(devices)):
        return []
    # A layer calls with its input, then its own; only ATen's embedding has the table first.
    if is_layer and ("embedding" not in called or called.startswith("F.")):
        tensors.reverse()
    return [
        (role, node, tuple(other for _, other in tensors if other is not node))
        for (role, node), device in zip(tensors, devices, strict=False)
        if device == "cpu" and role not in _NUMBERS
    ]


def _is_called(operation: LineOperation, called: str) -> bool:
    """Tell whether an operator is the one that was traced; other operations are told apart by their tensors alone."""
    sign = type(getattr(operation.node, "op", None)).__name__
    names = _OPERATORS.get(sign) if isinstance(operation.node, ast.BinOp | ast.AugAssign) else None
    name = called.removeprefix("aten.").partition(".")[0].strip("_")
    return names is None or not name or name.removeprefix("i") in names or name in names


def _sides(operation: LineOperation, is_accused: Callable[[str], bool]) -> Iterator[Accused]:
    for at, (role, node) in enumerate(operation.arguments):
        if is_accused(role) and role not in _NUMBERS:
            yield role, node, tuple(other for number, (_, other) in enumerate(operation.arguments) if number != at)


def _joined(joined: ast.expr, element: str, *, is_on_cpu: bool, is_open: bool) -> Iterator[Accused]:
    """Yield the items of a list that may be on the CPU: the one that a message names comes after one that is not."""
    items = list(_items(joined))
    is_each_one = all(is_one for _, is_one in items)
    accused = items
    if element and is_each_one and is_on_cpu:
        accused = items[int(element) :][:1]
    elif is_each_one and not is_open:
        accused = items[1:] if is_on_cpu else items[:1]
    for item, is_one in accused:
        role = "tensors" if is_one or isinstance(item, ast.ListComp | ast.GeneratorExp) else "list"
        yield role, item, tuple(other for other, is_one in items if other is not item and is_one)


def _items(joined: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what a list is made of, and whether it is one item of it."""
    match joined:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                yield item, not isinstance(item, ast.Starred)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _items(left)
            yield from _items(right)
        case _:
            yield joined, False


def _is_a_loss(operation: LineOperation) -> bool:
    """Tell whether an operation is the call of a loss, which may hold weights; a function holds none."""
    return operation.kind == "function" and operation.calls == "module"


def _of_a_layer(operation: LineOperation, reading: Reading) -> Iterator[Accused]:
    """Yield what a layer was given, or the layer, whose own tensors are in the wrong place."""
    reads = reading.reads
    (_, layer), *given = operation.arguments
    nodes = [node for _, node in given]
    argument = "input" if reading.message.id == CONVOLVED else reads.get("argument", "")
    # The layer's bias is `self` of addmm, and an embedding's weight that of index_select.
    argument = "weight" if argument == "self" and re.match("add|index_select", reads.get("op", "")) else argument
    is_layers_own = is_own(argument)
    is_on_cpu = reads.get("device_kind") == "cpu"
    is_hidden = _HIDDEN.fullmatch(argument) is not None
    if not is_hidden and len(nodes) > 1 and MANY_INPUTS.search(reading.below):
        # Its arguments are not those of the function that refused them.
        yield from _each_of_a_layer(operation)
        return
    if reading.pair == CPU and is_layers_own == is_on_cpu and not is_hidden:
        yield "module", layer, tuple(nodes)
        return
    if is_hidden and is_on_cpu:
        accused = nodes[1:]  # without one, the layer makes it where its input is
    elif is_hidden:
        accused = nodes if reading.pair == GPUS else nodes[:1]
    else:
        if argument == "offsets":
            nodes = nodes[1:]
        is_first = argument in INPUTS and (_ONE_INPUT.search(reading.below) is not None or not reading.below)
        accused = nodes[:1] if is_first else nodes
    if reading.pair == GPUS and not is_hidden:
        yield "module", layer, tuple(nodes)
    for node in accused:
        role = "hidden" if is_hidden and node is not nodes[0] else "input"
        items = node.elts if role == "hidden" and isinstance(node, ast.Tuple | ast.List) else [node]
        for item in items:
            yield role, item, (layer,) if role == "input" else (*nodes[:1], layer)


def is_own(argument: str) -> bool:
    """Tell whether an argument of the function that a layer calls is the layer's own tensor, rather than its input."""
    return _OWN.fullmatch(argument) is not None


def _each_of_a_layer(operation: LineOperation) -> Iterator[Accused]:
    (_, layer), *given = operation.arguments
    yield "module", layer, tuple(node for _, node in given)
    yield from (("input", node, (layer,)) for _, node in given)
