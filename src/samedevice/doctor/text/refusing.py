"""Which operations of the failing line could raise the message.

Three things tell: what the message names, what Python underlines, and the frames below: an operator, and a function
that is written in C++, has none there.

docs/assets/doctor/refusing.js does the same in the browser.
"""

import ast
import re
from dataclasses import replace
from itertools import pairwise

from samedevice.doctor.text.read import CPU, GPUS, INDEXED, Reading
from samedevice.doctor.text.traceback import BEGINS, Frame
from samedevice.introspect.deciding import parts
from samedevice.introspect.lines import Line
from samedevice.introspect.operations import WITHOUT_WEIGHTS, LineOperation, operations

_OF_A_LAYER = re.compile(
    r"weight|bias|running_mean|running_var|mat[12]|input|index|indices|hx|cx|hidden|parameter", re.ASCII
)
LAYER_OPS = re.compile(
    r"(?:add|b|baddb)?m[mv]|addmm|linear|\w*conv\w*|\w*norm\w*|index_select|embedding\w*|\w*lstm\w*|\w*gru\w*|\w*rnn\w*"
    r"|prelu\w*|\w*attention\w*",
    re.ASCII,
)
CONVOLVED = "SD020"  # the message of a convolution, whose input or weight it is
OF_A_FUNCTION = {
    "SD032": "cat",
    "SD033": "where",
    "SD022": "scaled_dot_product_attention",
}  # messages of one function, which accept no number on the CPU
# Modules whose arguments are not those of the function in which two tensors meet; the first argument is the module.
MANY_INPUTS = re.compile(r"F\.bilinear|multi_head_attention_forward|torch/nn/modules/transformer\.py", re.ASCII)
_TWO_INPUTS = 2
_SYNONYMS = (
    {"self", "input"},
    {"index", "indices"},
    {"values", "value"},
    {"mat1", "mat"},
    {"mat1", "batch1"},
    {"mat2", "batch2"},
    {"mat2", "vec"},
    {"mat2", "tensor"},
)


def refused(line: Line, frame: Frame, reading: Reading) -> list[LineOperation]:
    """Return the operations of a line that could raise the message.

    Three things tell: what the message names, what Python underlines, and the frames below: an operator, and a function
    that is written in C++, has none there. What they leave nothing of does not count.
    """
    calls_below = _calls_below(frame, reading)
    has_losses = "torch/nn/modules/loss.py" in reading.below
    all_of_them = [each for each in operations(line, has_losses=has_losses) if _mixes(each, line)]
    if calls_below != "":  # what is written in C++ has no frame, and a method of the program's own has one
        all_of_them = [each for each in all_of_them if each.kind != "method"]
    if calls_below:
        in_python = [each for each in all_of_them if each.calls]
        called = [calls_below] if calls_below == "module" else [calls_below, "either"]
        all_of_them = [each for each in in_python if each.calls in called] or in_python
    elif calls_below is not None:
        all_of_them = [each for each in all_of_them if each.calls in ("", "either")] or all_of_them
    if MANY_INPUTS.search(reading.below):
        many = [each for each in all_of_them if each.kind == "layer" and len(each.arguments) > _TWO_INPUTS]
        all_of_them = many or all_of_them
    fitting = [operation for operation in all_of_them if _fits(operation, line, frame, reading)]
    fitting = [each for each in fitting if each.kind != "index" or not _is_a_counter(each.arguments[1][1])] or fitting
    if _marks_one(frame, line):
        marked = [operation for operation in all_of_them if is_marked(operation, line, frame)]
        return [operation for operation in marked if operation in fitting] or _open(marked, frame, reading)
    if not fitting and calls_below == "":  # the frames below may have been left out
        mixing = [each for each in operations(line) if each.kind != "method" and _mixes(each, line)]
        fitting = [each for each in mixing if _fits(each, line, frame, reading)]
    fitting = fitting or _open(all_of_them, frame, reading)
    if frame.marked:
        spans = [(line.span(operation.node), operation) for operation in fitting]
        start, end = frame.marked
        fitting = [operation for (first, last), operation in spans if start <= first and last <= end] or fitting
    return fitting


def _is_a_counter(index: ast.expr) -> bool:
    """Tell whether an index is called as the number of a loop."""
    return isinstance(index, ast.Name) and index.id in ("i", "j", "k")


def is_marked(operation: LineOperation, line: Line, frame: Frame) -> bool:
    """Tell whether Python underlines an operation; of `x[i] = y` it underlines `x[i]`."""
    node = operation.node
    marked = node.targets[0] if isinstance(node, ast.Assign) else node
    return line.span(marked) == frame.marked


def _marks_one(frame: Frame, line: Line) -> bool:
    """Tell whether Python underlines just one operation or call of a line: then it is no other that failed."""
    kinds = ast.Call | ast.BinOp | ast.Compare | ast.Subscript
    return any(isinstance(node, kinds) and line.span(node) == frame.marked for node in ast.walk(line.tree))


def _mixes(operation: LineOperation, line: Line) -> bool:
    """Tell whether two tensors can meet in an operation, of which not both are known to be on the CPU."""
    given = [(role, node) for role, node in operation.arguments if role != "-"]
    if operation.kind == "layer":
        # A wrapper's `func(*args, **kwargs)` tells nothing, and who is given numbers only makes a tensor.
        return not all(isinstance(node, ast.Starred | ast.Constant) or role == "**" for role, node in given[1:])
    if operation.kind in ("index", "assignment") or operation.calls == "module":
        return True
    if any(role in ("tensors", "**") or isinstance(node, ast.Starred | ast.ListComp) for role, node in given):
        return True
    if len({line.text_of(node) for _, node in given}) < len(given) == 2:
        return False  # the same tensor twice
    found = [list(parts(node, line)) for _, node in given]
    is_known = all(part.is_on_cpu for each in found for part in each)
    return sum(map(bool, found)) > 1 and not is_known


def _open(all_of_them: list[LineOperation], frame: Frame, reading: Reading) -> list[LineOperation]:
    """Return the one function or layer that is left, of which the message does not tell which operand it is."""
    if reading.message.base != "mixed-devices" or reading.message.id in (INDEXED, CONVOLVED):
        return []
    # What a module refused that shows no frames may stand anywhere in it.
    goes_on = _calls_below(frame, reading) == "module"
    calls = [
        replace(operation, is_open=True)
        for operation in all_of_them
        if operation.kind in ("function", "method") or (operation.kind == "layer" and goes_on)
    ]
    return calls if len(calls) == 1 or not reading.reads.get("argument") else []


def _calls_below(frame: Frame, reading: Reading) -> str | None:
    """Return what of PyTorch's is called below a frame: "module" or "function"; "" for nothing, None if it is open."""
    if not frame.file:
        return None
    inner = [below for above, below in pairwise(reading.frames) if above is frame]
    if not inner:
        is_whole = len(reading.frames) > 1 or BEGINS in reading.trace
        return "" if reading.frames[-1] is frame and is_whole else None
    if "torch/nn/functional.py" in inner[0].file or "torch/functional.py" in inner[0].file:
        return "function"
    return "module" if "torch/nn/" in inner[0].file else None


def _fits(operation: LineOperation, line: Line, frame: Frame, reading: Reading) -> bool:
    """Tell whether an operation of this kind can raise the message."""
    reads = reading.reads
    argument, op = reads.get("argument", ""), reads.get("op", "")
    is_a_layer = operation.kind == "layer" and calls_a_module(frame, reading)
    if reading.message.id == INDEXED:
        return operation.kind == "index"
    if reading.pair not in (CPU, GPUS):
        return False
    if reading.message.id in OF_A_FUNCTION:
        return (
            operation.kind == "function" and re.fullmatch(operation.op, OF_A_FUNCTION[reading.message.id]) is not None
        )
    op = re.sub("_out$", "", op)
    if reading.message.id == CONVOLVED:
        return is_a_layer or (operation.kind == "function" and "conv" in operation.op)
    if not argument:
        if op:
            return bool(operation.op) and re.fullmatch(operation.op, op.rpartition(".")[2], re.ASCII) is not None
        return operation.is_elementwise or operation.is_open
    if operation.kind != "layer":
        if op:
            return bool(operation.op) and re.fullmatch(operation.op, op.strip("_"), re.ASCII) is not None
        return any(is_same(role, argument) for role, _ in operation.arguments)
    layer = operation.arguments[0][1]
    if (
        is_a_layer
        and not isinstance(layer, ast.Call)
        and WITHOUT_WEIGHTS.search(line.text_of(layer).rpartition(".")[2])
    ):
        return False
    return is_a_layer and (LAYER_OPS if op else _OF_A_LAYER).fullmatch(op.strip("_") or argument) is not None


def calls_a_module(frame: Frame, reading: Reading) -> bool:
    """Tell whether the line of a frame called a module, by the frame inside it; True where none is shown."""
    following = next((inner for outer, inner in pairwise(reading.frames) if outer is frame), None)
    if following is None:
        return True
    if following.in_library:
        return following.package == "" and "torch/nn/" in following.file
    return following.function.rpartition(".")[2] in ("forward", "__call__", "")


def is_same(role: str, argument: str) -> bool:
    return role == argument or {role, argument} in _SYNONYMS
