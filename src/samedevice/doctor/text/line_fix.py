"""The line to change, written on the reader's own line: the code that a traceback shows, with a device in it.

docs/assets/doctor/line-fix.js does the same in the browser.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from samedevice.catalog import load
from samedevice.doctor.text.expressions import Node, Statement, read_statement
from samedevice.doctor.text.failing_line import Suspect, calls_a_module, suspects
from samedevice.doctor.text.line_operations import CLASS, is_factory, is_layer, module_of, place_of
from samedevice.doctor.text.read import Reading
from samedevice.doctor.text.traceback import Frame

_NAMED_DEVICE = re.compile(r"\b(?:to\(|device ?= ?)((?:self\.|args\.|cfg\.|config\.)?device)\b", re.ASCII)
_LAYER_WITH_A_WEIGHT = re.compile(r"torch/nn/modules/(?:sparse|linear|conv|batchnorm|normalization)\.py", re.ASCII)
_LIBRARIES = ("torch", "np", "numpy", "self", "F", "nn", "args", "cfg", "config")  # `np.float32` has no device
_ACCELERATOR = re.compile(r"(?:cuda|xpu|mps|npu|hpu)(?::\d{1,3})?", re.ASCII)
_LEARNED = re.compile(r"weight|bias|param|embed", re.ASCII)  # the name of what a module learns, which is no buffer
_MODEL = re.compile(r"(?:\w{1,40}_)?(?:model|net|network)$", re.ASCII)
_MOVED_ABOVE = (
    "input_not_moved",
    "target_not_moved",
    "hidden_state_not_moved",
    "loss_weight_not_moved",
    "metric_or_accumulator_state",
)


@dataclass(frozen=True)
class LineFix:
    """A change of the reader's own code.

    Attributes:
        frame: the frame whose line it is.
        expression: what is in the wrong place, as the line has it.
        action: "replace", or "before" for a line above.
        text: the new line, or lines.
        because: why it is this expression; "" where only the line was read.
        instead: other lines, for `__init__`, that fix it for good; or "".
    """

    frame: Frame
    expression: str
    action: Literal["replace", "before"]
    text: str
    because: str = ""
    instead: str = ""


def line_fix(cause: str, reading: Reading) -> LineFix | None:
    """Write the change for a cause on the line that shows it; None where no line does."""
    # What a library's line was given is not to be moved there.
    is_ours = [suspect for suspect in suspects(reading) if cause == "library_bug" or not suspect.frame.package]
    found = [suspect for suspect in is_ours if suspect.cause == cause]
    if found:
        first = max(found, key=lambda suspect: suspect.points)
        all_of_the_line = [suspect for suspect in found if suspect.statement.text == first.statement.text]
        return _of_suspect(first, all_of_the_line, reading)
    write = _BY_LINE.get(cause)
    own = [frame for frame in reading.frames if frame.code and not frame.in_library]
    for frame in reversed(own) if write is not None else ():
        statement = read_statement(frame.code)
        if fix := write(statement, frame):  # type: ignore[misc]
            return fix
    return None


def _of_suspect(suspect: Suspect, all_of_the_line: list[Suspect], reading: Reading) -> LineFix | None:
    statement, node, name = suspect.statement, suspect.node, suspect.expression
    device = _device(suspect, reading)
    match suspect.cause:
        case "tensor_created_in_forward_without_device":
            new = [(each.node, _created_on(each.statement.text_of(each.node), device)) for each in all_of_the_line]
            return _replaced(suspect, new)
        case "unregistered_tensor_attribute" | "library_bug" if node.kind == "attribute":
            new = [(each.node, f"{each.expression}.to({device})") for each in all_of_the_line]
            names = dict.fromkeys(
                each.node.name for each in all_of_the_line if each.expression == f"self.{each.node.name}"
            )
            buffers = [attribute for attribute in names if not _LEARNED.search(attribute)]
            instead = [f'self.register_buffer("{attribute}", ...)' for attribute in buffers]
            return _replaced(suspect, new, "\n".join(instead) if suspect.cause != "library_bug" else "")
        case "submodule_created_in_forward" if node.kind == "call" and node.parts[0].kind in ("attribute", "name"):
            layer = f"self.{node.parts[0].name.lower()}"
            return _replaced(suspect, [(node, layer)], f"{layer} = {name}")
        case "in_place_or_copy":
            return LineFix(suspect.frame, name, "replace", f"{name} = {statement.text}", suspect.because)
        case "index_on_wrong_device" if node.kind == "call" and is_factory(node):
            return _replaced(suspect, [(node, _created_on(name, device))])
        case "index_on_wrong_device" if suspect.other is not None and place_of(suspect.other, statement).kind == "name":
            return _replaced(suspect, [(node, f"{name}.to({statement.text_of(suspect.other)}.device)")])
        case "model_not_moved":
            return _moved_model(suspect, reading)
        case "loss_weight_not_moved" if any(call.parts[0] is node for call in _calls(statement)):  # the loss itself
            return LineFix(suspect.frame, name, "before", f"{name}.to({device})", suspect.because)
        case cause if cause in _MOVED_ABOVE:
            return _moved_above(suspect, device, reading)
    return None


def _replaced(suspect: Suspect, new: Iterable[tuple[Node, str]], instead: str = "") -> LineFix:
    text = suspect.statement.text
    pieces = {(node.start, node.end): piece for node, piece in new}
    for (start, end), piece in sorted(pieces.items(), reverse=True):
        text = text[:start] + piece + text[end:]
    return LineFix(suspect.frame, suspect.expression, "replace", text, suspect.because, instead)


def _created_on(call: str, device: str) -> str:
    """Write a factory's call with `device=`; move what takes none."""
    function = call.partition("(")[0].rpartition(".")[2]
    if load().devices.functions.get(function) == "cpu" or not call.endswith(")"):
        return f"{call}.to({device})"
    inner = call[:-1].rstrip().rstrip(",")
    return f"{inner}device={device})" if inner.endswith("(") else f"{inner}, device={device})"


def _device(suspect: Suspect, reading: Reading) -> str:
    """Write the device where it is wanted: that of what it met, else the program's own name for its device."""
    statement, other = suspect.statement, suspect.other
    if other is not None:
        place = place_of(other, statement)
        text = statement.text_of(place.node)
        if place.kind in ("name", "attribute", "member") and place.node is not suspect.node:
            if any(module_of(call.parts[0]) is other for call in _calls(statement)):  # a layer
                if reading.below and "torch/nn/modules/" not in reading.below:
                    return _named_device(reading)  # a function, not a layer
                is_plain = _LAYER_WITH_A_WEIGHT.search(reading.below) is not None
                return f"{text}.weight.device" if is_plain else f"next({text}.parameters()).device"
            return f"{text}.device"
    return _device_of_a_like(suspect) or _named_device(reading)


def _device_of_a_like(suspect: Suspect) -> str:
    """Write the device of the tensor whose size or type a factory's call asks for; "" where it asks for none."""
    for node in suspect.node.walk() if suspect.node.kind == "call" else ():
        asked = node.parts[0] if node.kind == "call" and node.parts[0].name == "size" else node
        is_of_a_name = asked.kind == "attribute" and asked.parts[0].kind == "name"
        if is_of_a_name and (asked.name in ("shape", "dtype") or asked is not node):
            tensor = asked.parts[0].name
            if tensor not in _LIBRARIES and not CLASS.match(tensor):
                return f"{tensor}.device"
    return ""


def _named_device(reading: Reading) -> str:
    """Write the program's own name for its device; else the device itself, as the message has it."""
    if named := _NAMED_DEVICE.search(reading.own_trace):
        return named[1]
    devices = [reading.reads.get(name, "") for name in ("device", "others")]
    return next((f'"{device}"' for device in devices if _ACCELERATOR.fullmatch(device)), '"cuda"')


def _moved_above(suspect: Suspect, device: str, reading: Reading) -> LineFix:
    """Move a tensor above the line that passes it: in the frame where the user has it, rather than in `forward`."""
    name, frame = suspect.expression, suspect.frame
    if suspect.node.kind not in ("name", "attribute", "subscript"):
        return _replaced(suspect, [(suspect.node, f"{name}.to({device})")])
    if suspect.node.kind == "name":
        outer, passed = _passed_from(frame, name, reading)
        if outer is not frame:
            moved = f"{passed} = {passed}.to({_named_device(reading)})"
            return LineFix(outer, passed, "before", moved, suspect.because)
    return LineFix(frame, name, "before", f"{name} = {name}.to({device})", suspect.because)


def _passed_from(frame: Frame, name: str, reading: Reading) -> tuple[Frame, str]:
    """Follow the one argument of `forward` outwards, to the line where the program has it."""
    own = [each for each in reading.frames if each.code and not each.in_library]
    outer = own[: own.index(frame)] if frame in own else []
    while outer and frame.function.rpartition(".")[2] in ("forward", "__call__"):
        statement = read_statement(outer[-1].code)
        calls = [node for node in statement.value.walk() if node.kind == "call" and is_layer(node.parts[0], statement)]
        given = [
            node
            for call in calls[:1]
            for node, keyword in zip(call.parts[1:], call.keywords, strict=True)
            if not keyword
        ]
        if len(given) != 1 or given[0].kind != "name":
            break
        frame, name = outer.pop(), given[0].name
    return frame, name


def _moved_model(suspect: Suspect, reading: Reading) -> LineFix:
    """Move the model that the outermost frame calls, if it names one."""
    own = [each for each in reading.frames if each.code and not each.in_library] or [suspect.frame]
    for frame in own:
        statement = read_statement(frame.code)
        for node in statement.value.walk() if calls_a_module(frame, reading) else ():
            function = node.parts[0] if node.kind == "call" else None
            if function is not None:
                function = module_of(function)
            if function is not None and function.kind in ("name", "attribute") and is_layer(function, statement):
                given = node.parts[1:]
                name = statement.text_of(function)
                is_named = len(given) > 0 and given[0].kind == "name"
                device = f"{given[0].name}.device" if is_named else _named_device(reading)
                return LineFix(frame, name, "before", f"{name}.to({device})", suspect.because)
    name = suspect.expression
    return LineFix(suspect.frame, name, "before", f"{name}.to({_named_device(reading)})", suspect.because)


# ---- Changes that the cause and the line tell, without a suspect.


def _calls(statement: Statement) -> Iterator[Node]:
    for node in (*(inner for target in statement.targets for inner in target.walk()), *statement.value.walk()):
        if node.kind == "call":
            yield node


def _loaded_elsewhere(statement: Statement, frame: Frame) -> LineFix | None:
    for node in _calls(statement):
        text = statement.text_of(node)
        if (
            statement.text_of(node.parts[0]) == "torch.load"
            and "map_location" not in node.keywords
            and text.endswith(")")
        ):
            new = f'{text[:-1].rstrip().rstrip(",")}, map_location="cpu")'
            return LineFix(frame, text, "replace", statement.text[: node.start] + new + statement.text[node.end :])
    return None


def _copied_for_numpy(statement: Statement, frame: Frame) -> LineFix | None:
    for node in _calls(statement):
        function = node.parts[0]
        if function.kind != "attribute":
            continue
        tensor: Node | None = None
        if function.name in ("numpy", "__array__"):
            tensor = function.parts[0]
        elif function.parts[0].name in ("np", "numpy", "plt", "ax", "sns") and len(node.parts) > 1:
            tensor = next((part for part in node.parts[1:] if part.kind in ("name", "attribute", "subscript")), None)
        if tensor is not None and tensor.kind in ("name", "attribute", "subscript", "call"):
            text = statement.text_of(tensor)
            is_a_list = tensor.kind == "name" and (
                function.name in _OF_A_LIST
                or (function.name in _OF_ANYTHING and _SEVERAL.search(tensor.name) is not None)
            )
            if function.name in _OF_ANYTHING and tensor.kind in ("attribute", "subscript"):
                continue  # it may be a list of tensors, which has no `.cpu()`
            copied = f"[item.cpu() for item in {text}]" if is_a_list else f"{text}.cpu()"
            new = statement.text[: tensor.start] + copied + statement.text[tensor.end :]
            return LineFix(frame, text, "replace", new)
    return None


_OF_A_LIST = ("concatenate", "stack", "vstack", "hstack")  # functions of NumPy that take a list of arrays
_OF_ANYTHING = ("array", "asarray", "mean", "median", "sum", "std", "min", "max")  # that take an array or a list
_SEVERAL = re.compile(r"(?:[a-rt-z]s|list|_all)$|^all_|^list_", re.ASCII)  # the name of a list: `losses`, `preds_all`


def _without_pinning(statement: Statement, frame: Frame) -> LineFix | None:
    for node in _calls(statement):
        for keyword, part in zip(node.keywords, node.parts[1:], strict=True):
            if keyword == "pin_memory" and part.name == "True":
                new = statement.text[: part.start] + "False" + statement.text[part.end :]
                return LineFix(frame, "pin_memory=True", "replace", new)
    return None


def _lengths_on_the_cpu(statement: Statement, frame: Frame) -> LineFix | None:
    for node in _calls(statement):
        function = node.parts[0]
        if (
            function.name == "pack_padded_sequence"
            and len(node.parts) > 2
            and node.parts[2].kind in ("name", "attribute")
        ):
            lengths = node.parts[2]
            text = statement.text_of(lengths)
            new = statement.text[: lengths.start] + f"{text}.cpu()" + statement.text[lengths.end :]
            return LineFix(frame, text, "replace", new)
    return None


def _each_moved(statement: Statement, frame: Frame) -> LineFix | None:
    for node in _calls(statement):
        function = node.parts[0]
        is_a_move = (
            function.kind == "attribute" and function.name in ("to", "cuda") and function.parts[0].kind == "name"
        )
        if is_a_move and statement.value.name == "for":  # `{key: value.to(device) for key, value in batch.items()}`
            name, text = function.parts[0].name, statement.text_of(node)
            new = statement.text[: node.start] + f"{text} if torch.is_tensor({name}) else {name}"
            return LineFix(frame, name, "replace", new + statement.text[node.end :])
        if is_a_move and statement.value is node:
            name, move = function.parts[0].name, statement.text[function.parts[0].end : node.end]
            moved = f"[item{move} if torch.is_tensor(item) else item for item in {name}]"
            new = statement.text[: node.start] + moved + statement.text[node.end :]
            return LineFix(frame, name, "replace", new)
    return None


def _model_passed(statement: Statement, frame: Frame) -> LineFix | None:
    """Move the model that a function is given: `get_feature(model, samples)`."""
    for node in _calls(statement):
        for part in node.parts[1:]:
            if part.kind == "name" and _MODEL.match(part.name):
                named = _NAMED_DEVICE.search(statement.text)
                device = named[1] if named else '"cuda"'
                return LineFix(frame, part.name, "before", f"{part.name}.to({device})")
    return None


_BY_LINE: dict[str, Callable[[Statement, Frame], LineFix | None]] = {
    "checkpoint_map_location": _loaded_elsewhere,
    "numpy_conversion": _copied_for_numpy,
    "pin_memory_on_cuda_tensor": _without_pinning,
    "cpu_only_argument": _lengths_on_the_cpu,
    "container_not_moved": _each_moved,
    "model_not_moved": _model_passed,
}
