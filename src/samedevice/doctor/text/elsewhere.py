"""What else of a paste may be in the wrong place, where no operation of the failing line is known to refuse it.

docs/assets/doctor/elsewhere.js does the same in the browser.
"""

import ast
import re
from dataclasses import replace

from samedevice.doctor.text.accused import INPUTS
from samedevice.doctor.text.candidates import (
    CERTAIN,
    LIKELY,
    Candidate,
    told,
    within,
    without_doubles,
)
from samedevice.doctor.text.read import CPU, GPUS, Reading
from samedevice.doctor.text.refusing import LAYER_OPS
from samedevice.doctor.text.traceback import Frame
from samedevice.introspect.deciding import is_factory, parts
from samedevice.introspect.lines import Line
from samedevice.introspect.operations import operations
from samedevice.introspect.origins import called, decided_by

_MODULE = re.compile(
    r"model|net|module|criterion|loss|encoder|decoder|classifier|metric|pipe", re.ASCII | re.IGNORECASE
)


def passed_to_a_library(reading: Reading) -> list[Candidate]:
    """Return what the reader's line passes to a model of a library, where a layer in it got its input on the CPU."""
    reads, frame = reading.reads, reading.place
    is_the_input = reads.get("argument") in INPUTS and reads.get("device_kind") == "cpu" and reading.pair == CPU
    is_of_layers = "torch/nn/modules/" in reading.below and LAYER_OPS.fullmatch(reads.get("op", "")) is not None
    line = frame.statement if frame is not None and not frame.in_library else None
    if frame is None or line is None or not is_the_input or not is_of_layers:
        return []
    found = []
    for operation in operations(line):
        for _, node in operation.arguments[1:] if operation.kind == "layer" else ():
            for part in parts(node, line):
                if part.kind in ("name", "item"):
                    candidate = told(part, "input", operation, line, reading)
                    found.append(replace(candidate, frame=frame, operation=operation, role="input", others=()))
    return without_doubles(found)


def created(reading: Reading, frame: Frame) -> list[Candidate]:
    """Return what a line creates without a device, where no operation of it is known that could refuse it."""
    line = frame.statement
    may_be = "tensor_created_in_forward_without_device" in {cause.id for cause in reading.message.causes}
    if line is None or not may_be or reading.pair == GPUS:
        return []
    kept = [node for node in line.tree.body if isinstance(node, ast.Assign)]
    if any(isinstance(target, ast.Attribute) for statement in kept for target in statement.targets):
        return []  # `self.steps = torch.linspace(0, 1, 8)`
    found = []
    for node in ast.walk(line.tree):
        if isinstance(node, ast.Call) and is_factory(node):
            for part in parts(node, line):
                if part.node is node and part.kind == "created" and part.is_on_cpu and not _is_moved(node, line):
                    where = "in this line" if frame.file else "in the code shown"
                    because = f"`{line.text_of(node)}` is created {where} without a device."
                    cause = "tensor_created_in_forward_without_device"
                    found.append(Candidate(frame, line, node, "created", None, "", cause, LIKELY, because))
    return found


def _is_moved(inner: ast.Call, line: Line) -> bool:
    """Tell whether the line moves what a call creates: `torch.zeros(3).to(device)`."""
    around = [node for node in ast.walk(line.tree) if isinstance(node, ast.Call) and node is not inner]
    return any(part.kind == "moved" for node in around if within(inner, node) for part in parts(node, line))


def discarded_moves(reading: Reading) -> list[Candidate]:
    """Return the tensors of lines that are `x.to(device)` and nothing else: what these return is thrown away."""
    found = []
    for frame in reading.frames:
        line = frame.statement if not frame.in_library else None
        match line.tree.body if line is not None else []:
            case [ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as moved)) as call)]:
                if decided_by(called(call)) == "move" and not _MODULE.search(moved.id):
                    because = f"`{moved.id}.{called(call)}(...)` returns the moved tensor, and the line throws it away."
                    found.append(
                        Candidate(frame, line, moved, "name", None, "", "in_place_or_copy", CERTAIN, because)  # type: ignore[arg-type]
                    )
    return found
