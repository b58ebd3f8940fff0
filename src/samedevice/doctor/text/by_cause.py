"""Changes of a line that a message's own cause tells, where no tensor met another: a copy for NumPy, a checkpoint.

docs/assets/doctor/by-cause.js does the same in the browser.
"""

import ast
import re
from collections.abc import Callable, Iterator

from samedevice.doctor.text.changes import LineFix
from samedevice.doctor.text.read import Reading
from samedevice.doctor.text.traceback import Frame
from samedevice.doctor.text.wanted import named_device
from samedevice.introspect.deciding import parts
from samedevice.introspect.lines import Line
from samedevice.introspect.operations import is_a_model
from samedevice.introspect.origins import called

_OF_ARRAYS = ("np", "numpy", "plt", "ax", "sns")
_OF_A_LIST = ("concatenate", "stack", "vstack", "hstack")  # functions of NumPy that take a list of arrays
_OF_ANYTHING = ("array", "asarray", "mean", "median", "sum", "std", "min", "max")  # that take an array or a list
_SEVERAL = re.compile(r"(?:[a-rt-z]s|list|_all)$|^all_|^list_", re.ASCII)  # the name of a list: `losses`, `preds_all`


def changes_of_cause(cause: str, frame: Frame, reading: Reading) -> list[LineFix]:
    """Write the changes for a cause on the line of a frame: alternatives; none where the line does not show it."""
    find = _BY_LINE.get(cause)
    line = frame.statement if find is not None else None
    return list(find(line, frame, reading)) if find is not None and line is not None else []


def _calls(line: Line) -> Iterator[ast.Call]:
    return (node for node in ast.walk(line.tree) if isinstance(node, ast.Call) and line.is_whole(node))


def _changed(line: Line, frame: Frame, node: ast.expr, new: str, expression: str = "") -> LineFix:
    start, end = line.span(node)
    return LineFix(frame, expression or line.text_of(node), "replace", line.text[:start] + new + line.text[end:])


def _loaded_elsewhere(line: Line, frame: Frame, reading: Reading) -> Iterator[LineFix]:
    for node in _calls(line):
        text = line.text_of(node)
        has_one = any(keyword.arg == "map_location" for keyword in node.keywords) or len(node.args) > 1
        if line.text_of(node.func) == "torch.load" and not has_one:
            yield _changed(line, frame, node, f'{text[:-1].rstrip().rstrip(",")}, map_location="cpu")')


def _copied_for_numpy(line: Line, frame: Frame, reading: Reading) -> Iterator[LineFix]:
    """Copy to the CPU what is handed to NumPy: what `.numpy()` is called on, else what a function is given."""
    direct = [node for node in _calls(line) if isinstance(node.func, ast.Attribute) and node.func.attr == "numpy"]
    implicit = "__array__" in reading.below or "asarray" in reading.below
    for node in direct if not implicit else ():
        tensor = node.func.value  # type: ignore[attr-defined]
        if not any(part.kind == "on the CPU" for part in parts(tensor, line)):
            yield _changed(line, frame, tensor, f"{line.text_of(tensor)}.cpu()")
    for node in _calls(line) if not direct or implicit else ():
        yield from _given_to_numpy(node, line, frame)


def _given_to_numpy(node: ast.Call, line: Line, frame: Frame) -> Iterator[LineFix]:
    function = node.func
    if not isinstance(function, ast.Attribute) or line.text_of(function.value) not in _OF_ARRAYS:
        return
    for given in node.args:
        is_one = isinstance(given, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        if not is_one or not any(part.kind in ("name", "item", "attribute", "result") for part in parts(given, line)):
            continue
        text = line.text_of(given)
        is_a_list = function.attr in _OF_A_LIST or (function.attr in _OF_ANYTHING and _SEVERAL.search(text) is not None)
        if is_a_list and isinstance(given, ast.Name):
            copied = f"[item.cpu() for item in {text}]"
        elif function.attr in _OF_ANYTHING and not isinstance(given, ast.Name):
            copied = f"torch.as_tensor({text}).cpu()"  # it may be a list, of tensors or of numbers
        else:
            copied = f"{text}.cpu()"
        yield _changed(line, frame, given, copied)


def _without_pinning(line: Line, frame: Frame, reading: Reading) -> Iterator[LineFix]:
    for node in _calls(line):
        for keyword in node.keywords:
            if keyword.arg == "pin_memory" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
                yield _changed(line, frame, keyword.value, "False", "pin_memory=True")


def _lengths_on_the_cpu(line: Line, frame: Frame, reading: Reading) -> Iterator[LineFix]:
    for node in _calls(line):
        if called(node) == "pack_padded_sequence" and len(node.args) > 1:
            lengths = node.args[1]
            if isinstance(lengths, ast.Name | ast.Attribute | ast.Subscript):
                yield _changed(line, frame, lengths, f"{line.text_of(lengths)}.cpu()")


def _each_moved(line: Line, frame: Frame, reading: Reading) -> Iterator[LineFix]:
    """Move the items of a container: `{key: value.to(device) for key, value in batch.items()}`, `batch.to(device)`."""
    for node in _calls(line):
        match node.func:
            case ast.Attribute(value=ast.Name(id=name) as moved, attr="to" | "cuda"):
                text = line.text_of(node)
                comprehensions = [each for each in ast.walk(line.tree) if isinstance(each, ast.comprehension)]
                if any(inner for each in comprehensions for inner in ast.walk(each.target) if _is_name(inner, name)):
                    yield _changed(line, frame, node, f"{text} if torch.is_tensor({name}) else {name}", name)
                    return
                move = text[len(name) :]
                items = f"[item{move} if torch.is_tensor(item) else item for item in {name}]"
                statement = line.tree.body[0]
                value = getattr(statement, "value", None)
                if value is node:
                    yield _changed(line, frame, node, items, line.text_of(moved))
                    return


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _model_passed(line: Line, frame: Frame, reading: Reading) -> Iterator[LineFix]:
    """Move the model that a function is given: `get_feature(model, samples)`."""
    for node in _calls(line) if frame is reading.place or not frame.file else ():
        for given in node.args:
            if is_a_model(given):
                name = line.text_of(given)
                yield LineFix(frame, name, "before", f"{name}.to({named_device(frame, reading)})")
                return


_BY_LINE: dict[str, Callable[[Line, Frame, Reading], Iterator[LineFix]]] = {
    "checkpoint_map_location": _loaded_elsewhere,
    "numpy_conversion": _copied_for_numpy,
    "pin_memory_on_cuda_tensor": _without_pinning,
    "cpu_only_argument": _lengths_on_the_cpu,
    "container_not_moved": _each_moved,
    "model_not_moved": _model_passed,
}
