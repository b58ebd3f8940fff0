"""On which device a tensor is wanted: that of what it met, else the program's own name for its device.

docs/assets/doctor/wanted.js does the same in the browser.
"""

import ast
import re
from collections.abc import Collection, Iterator

from samedevice.catalog import load
from samedevice.doctor.text.accused import is_own
from samedevice.doctor.text.candidates import Candidate, within
from samedevice.doctor.text.read import INDEXED, Reading
from samedevice.doctor.text.refusing import MANY_INPUTS, is_same
from samedevice.doctor.text.traceback import Frame
from samedevice.introspect.deciding import JOINING, is_often_a_number, parts
from samedevice.introspect.lines import Line
from samedevice.introspect.operations import LineOperation, is_torch, names_a_module, operations
from samedevice.introspect.origins import called, device_argument

_NAMED_DEVICE = re.compile(r"\b(?:to\(|device ?= ?)((?:self\.|args\.|cfg\.|config\.)?device)\b", re.ASCII)
_WITH_A_WEIGHT = re.compile(r"torch/nn/modules/(?:sparse|linear|conv|batchnorm|normalization)\.py", re.ASCII)
_LIBRARIES = ("torch", "np", "numpy", "self", "F", "nn", "args", "cfg", "config")  # `np.float32` has no device
_ACCELERATOR = re.compile(r"(?:cuda|xpu|mps|npu|hpu)(?::\d{1,3})?", re.ASCII)
_CLASS = re.compile(r"[A-Z][a-z]", re.ASCII)


def wanted_device(candidate: Candidate, moved: Collection[str], reading: Reading) -> str:
    """Write the device where a candidate is wanted; "" between two GPUs, where nothing tells which of them it is.

    Args:
        candidate: what to move.
        moved: the expressions that move with it, whose devices tell nothing.
        reading: the paste.
    """
    line, operation = candidate.line, candidate.operation
    module = operation.arguments[0][1] if operation is not None and operation.kind == "layer" else None
    is_an_input = module is not None and candidate.role == "input" and any(each is module for each in candidate.others)
    if is_an_input and (device := _device_of_a_layer(module, candidate, reading)):  # type: ignore[arg-type]
        return device
    if operation is not None and operation.kind == "index" and candidate.role == "self":
        index = candidate.others[0]
        indices = index.elts if isinstance(index, ast.Tuple) else [index]
        named = [index for index in indices if isinstance(index, ast.Name | ast.Attribute)]
        if len(named) == 1:
            return f"{line.text_of(named[0])}.device"  # it is a tensor, whatever its name
    if candidate.kind == "created" and (device := _device_of_a_like(candidate)):
        return device
    modules = [each.arguments[0][1] for each in operations(line) if each.kind == "layer"]
    told = [list(_where(other, line)) for other in candidate.others if other not in modules]
    # Where one tensor decides, it is surely no number on the CPU, which PyTorch accepts beside others.
    nodes = [node for each in sorted(told, key=len) for node in each]
    # What is added to may have begun as a number.
    totals = [statement.target for statement in line.tree.body if isinstance(statement, ast.AugAssign)]
    met = [part for other in candidate.others for part in parts(other, line)]
    is_alone = len(nodes) == len(met) == 1
    surely = [node for node in nodes if not is_often_a_number(node) and (is_alone or node not in totals)]
    stored = {
        target.id
        for target in ast.walk(line.tree)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    }
    surely.sort(key=lambda node: isinstance(node, ast.Name) and node.id in stored)
    # Between two GPUs it can be no number, which has no device.
    is_told = is_alone and reading.is_between_gpus and operation is not None and operation.is_elementwise
    for node in surely or (nodes if is_told else []):
        text = line.text_of(node)
        if isinstance(node, ast.Call):
            if (device := _device_moved_to(node, line)) and not device.startswith(f"{candidate.expression}."):
                return device
        elif line.is_whole(node) and text not in moved and candidate.expression not in text:
            return f"{text}.device"
    return _named_in_message(candidate, reading)


def _where(node: ast.expr, line: Line) -> Iterator[ast.expr]:
    """Yield what tells where an expression is: names, and calls that say where they move."""
    for part in parts(node, line):
        inner = part.node
        if part.is_one_number:
            continue
        if part.kind in ("moved", "name", "attribute", "item"):
            yield inner
        elif part.kind == "result" and isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            # What a method of a tensor or a function of PyTorch makes is where its operands are.
            is_of_torch = is_torch(inner.func.value, line)
            is_a_method = called(inner) in load().devices.methods or called(inner) in load().operations
            is_a_list = is_of_torch and called(inner) in JOINING
            operands = [] if is_a_list else inner.args if is_of_torch else [inner.func.value] if is_a_method else []
            for operand in operands:
                yield from _where(operand, line)


def _device_of_a_layer(layer: ast.expr, candidate: Candidate, reading: Reading) -> str:
    """Write the device of a layer; "" for what may be a function: `_step`, or any beside another layer in its line."""
    line, operation = candidate.line, candidate.operation
    is_alone = sum(each.kind == "layer" for each in operations(line)) == 1
    is_private = isinstance(layer, ast.Name) and layer.id.startswith("_")
    if (
        is_private
        or not line.is_whole(layer)
        or not (is_alone or (operation is not None and names_a_module(operation)))
    ):
        return ""
    text = line.text_of(layer)
    is_plain = _WITH_A_WEIGHT.search(reading.below) is not None and "container.py" not in reading.below
    return f"{text}.weight.device" if is_plain else f"next({text}.parameters()).device"


def _device_moved_to(node: ast.expr, line: Line) -> str:
    """Write the device to which a call moves, or on which it creates; "" where it is not written."""
    if not isinstance(node, ast.Call):
        return ""
    device = device_argument(node)
    if device is None and called(node) == "to" and node.args:
        device = node.args[0]
    if called(node) == "cuda":
        return '"cuda"' if not node.args else f'f"cuda:{{{line.text_of(node.args[0])}}}"'
    if device is None:
        return ""
    is_a_device = isinstance(device, ast.Constant | ast.Name) or (
        isinstance(device, ast.Attribute) and "device" in device.attr
    )
    text = line.text_of(device)
    return text if is_a_device and ("device" in text or isinstance(device, ast.Constant)) else ""


def _device_of_a_like(candidate: Candidate) -> str:
    """Write the device of the tensor whose size or type a factory's call asks for; "" where it asks for none."""
    for node in ast.walk(candidate.node) if isinstance(candidate.node, ast.Call) else ():
        asked: ast.expr | None = None
        match node:
            case ast.Call(func=ast.Attribute(value=tensor, attr="size")):
                asked = tensor
            case ast.Attribute(value=tensor, attr="shape" | "dtype"):
                asked = tensor
        if isinstance(asked, ast.Name) and asked.id not in _LIBRARIES and not _CLASS.match(asked.id):
            return f"{asked.id}.device"
    return ""


def _named_in_message(candidate: Candidate, reading: Reading) -> str:
    """Write the program's name for its device, or the message's: of two GPUs the one that the candidate is not on."""
    reads = reading.reads
    if _NAMED_DEVICE.search(candidate.frame.code) or not reading.is_between_gpus:
        return named_device(candidate.frame, reading)
    argument = reads.get("argument", "")
    is_a_layer = candidate.operation is not None and candidate.operation.kind == "layer"
    if candidate.kind == "module":
        is_named = is_own(argument) if argument else None
    elif candidate.role == "tensors" and argument == "tensors":  # the first is where the message says that others are
        is_named = candidate.operation is not None and not _is_in_the_first_item(candidate.node, candidate.operation)
    elif MANY_INPUTS.search(reading.below) or (candidate.operation is not None and candidate.operation.is_open):
        is_named = None
    elif is_a_layer and candidate.role == "input" and argument:
        is_named = not is_own(argument)
    else:
        is_named = is_same(candidate.role, argument) if argument and candidate.role else None
    if reading.message.id == INDEXED:
        is_named = candidate.role == "index" or None
    told = None if is_named is None else reads.get("others" if is_named else "device")
    return f'"{told}"' if told else ""


def _is_in_the_first_item(node: ast.expr, operation: LineOperation) -> bool:
    """Tell whether a tensor is in the first item of what an operation joins."""
    joined = next((node for role, node in operation.arguments if role == "tensors"), None)
    return isinstance(joined, ast.List | ast.Tuple) and bool(joined.elts) and within(node, joined.elts[0])


def named_device(frame: Frame, reading: Reading) -> str:
    """Write the name that a frame's line has for its device; else the device itself, as the message has it."""
    if named := _NAMED_DEVICE.search(frame.code):
        return named[1]
    devices = [reading.reads.get(name, "") for name in ("device", "others")]
    return next((f'"{device}"' for device in devices if _ACCELERATOR.fullmatch(device)), '"cuda"')
