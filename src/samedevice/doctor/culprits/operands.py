"""Which tensors met in the failing operation, and which of them are in the wrong place."""

import ast
import re
from dataclasses import dataclass
from typing import Any

from samedevice.catalog import load
from samedevice.doctor.culprits.expected_device import expected_device, is_told_by_source, receiver
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.provenance import written_call, written_for
from samedevice.doctor.edits import Change
from samedevice.introspect import objects
from samedevice.introspect.expressions import parsed
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin, find_origin
from samedevice.introspect.values import Argument, arguments, value
from samedevice.placement.holders import stepped

DEVICE_NAMES = ("device", "self.device", "args.device", "DEVICE")  # what programs call the device that they chose
_DEVICE = re.compile(r"\b(?:cpu|cuda:\d+|xpu:\d+|mps:\d+|meta)\b")


@dataclass(eq=False)
class Operand:
    """A tensor that met another.

    Attributes:
        tensor: the tensor; None for the result of an expression that nobody kept.
        device: where it is, as PyTorch writes it.
        call: the frame that shows it.
        argument: the part of the failing expression that it belongs to.
        within: the path from that part to the tensor: "", "[0]", ".weight".
        origin: where it came from, if no frame shows that.
        change: the line to change, if no frame shows that.
        is_known: whether its device was read off the tensor, or off the factory or the move in the failing line.
    """

    tensor: Any
    device: str
    call: Call
    argument: Argument
    within: str = ""
    origin: Origin | None = None
    change: Change | None = None
    is_known: bool = True

    @property
    def role(self) -> str:
        """The name of the argument that it is passed for, or else its expression."""
        return self.argument.role or self.argument.expression.text


def find_operands(failure: Failure) -> list[Operand]:
    """Return those of the innermost frame that shows tensors on two devices, else of all below the user's line."""
    found: list[Operand] = []
    for call in failure.calls_below:
        here = operands_of(call)
        if len({operand.device for operand in here}) > 1:
            return here
        found += here
    return _with_the_unknown_one(found, failure)


def _with_the_unknown_one(operands: list[Operand], failure: Failure) -> list[Operand]:
    """Add the one part of the failing line whose device nothing tells, where the message does.

    The message names two devices, and all other parts are on one of them: so this one is on the other, whatever was
    expected of it.
    """
    call = failure.user_call
    named = set(_DEVICE.findall(failure.text))
    expected = [operand for operand in operands if not operand.is_known]
    if len(expected) == 1 and expected[0].call is call:
        operands = [operand for operand in operands if operand.is_known]
    known = {operand.device for operand in operands}
    here = {operand.argument.node for operand in operands if operand.call is call}
    unknown = [
        argument
        for argument in arguments(call)
        if argument.value is MISSING and argument.node not in here and not isinstance(argument.node, ast.Constant)
    ]
    if not here or len(named) != 2 or len(known) != 1 or not known < named or len(unknown) != 1:
        return [*operands, *expected] if expected and expected[0] not in operands else operands
    (device,) = named - known
    return [*operands, Operand(None, device, call, unknown[0])]


def operands_of(call: Call) -> list[Operand]:
    """Return the tensors that the failing expression of one frame works on."""
    found = []
    for argument in arguments(call):
        if argument.role == "index" and _is_free(argument, call):
            continue
        if argument.value is MISSING:
            start = receiver(argument.node, call)
            device = expected_device(argument.node, call)
            if start and device in ("", objects.device(start[1])):
                found.append(Operand(start[1], objects.device(start[1]), call, Argument(*start, argument.role)))
            elif device:
                found.append(Operand(None, device, call, argument, is_known=is_told_by_source(argument.node, call)))
        elif objects.is_module(argument.value):
            own = objects.attributes(argument.value)
            for name, tensor in [*own.get("_parameters", {}).items(), *own.get("_buffers", {}).items()]:
                if tensor is not None:
                    found.append(Operand(tensor, objects.device(tensor), call, argument, f".{name}"))
        else:
            for path, tensor in objects.inside(argument.value):
                found.append(Operand(tensor, objects.device(tensor), call, argument, path))
    return found


def can_tell(operands: list[Operand]) -> bool:
    """Tell whether it can be known which of the operands is in the wrong place.

    One result that nobody kept is on the device where no other tensor is. Where two such results are, nobody knows, so
    none is accused.
    """
    return sum(not operand.is_known for operand in operands) < 2


def misplaced(operands: list[Operand], failure: Failure) -> list[Operand]:
    """Return those in the wrong place, most suspect first.

    These are the ones on meta; else those on the CPU; else those that are not where the parameters are.
    """
    devices = list(dict.fromkeys(operand.device for operand in operands))
    if "meta" in devices:
        return [operand for operand in operands if operand.device == "meta"]
    if len(devices) < 2:
        return []
    if odd := _odd_ones(operands):
        return odd
    between = _misplaced_between_cpu_and_gpu if "cpu" in devices else _misplaced_between_gpus
    return between(operands, failure)


def _misplaced_between_cpu_and_gpu(operands: list[Operand], failure: Failure) -> list[Operand]:
    """Return the operands on the CPU, or those on the GPU if the program says that it runs on the CPU."""
    is_for_the_cpu = wants_cpu(failure)
    wrong = [operand for operand in operands if (operand.device == "cpu") != is_for_the_cpu]
    # A number on the CPU may join what is on a GPU, so it is seldom the culprit.
    return sorted(wrong, key=lambda operand: operand.tensor is not None and objects.shape(operand.tensor) == ())


def _misplaced_between_gpus(operands: list[Operand], failure: Failure) -> list[Operand]:
    """Return the tensors that no module moves, else a target that is alone on its GPU, else those away from home.

    What a loop joins with more and more stays where it is. Home is the GPU of the parameters. If no operand is a
    parameter, home is the GPU on which the program trains, or else the last one, because a model that spans several
    GPUs begins at the first.
    """
    holders = [
        (operand, failure.holder(operand.tensor) if operand.tensor is not None else None) for operand in operands
    ]
    if loose := [operand for operand, holder in holders if holder and not holder.moves]:
        return loose
    targets = [operand for operand in operands if operand.role == "target"]
    if len(targets) == 1 and _number_on(targets[0].device, operands) == 1:
        return targets  # a loss is computed where the model's output is
    if (grown := _grown(operands, failure)) is not None:
        return [operand for operand in operands if operand.device != objects.device(grown)]
    devices = list(dict.fromkeys(operand.device for operand in operands))
    furthest = max(devices, key=lambda device: int(device.partition(":")[2] or 0))
    trained = {objects.device(tensor) for _, optimizer in failure.optimizers() for tensor in stepped(optimizer)}
    is_told = len(trained) == 1 and trained <= set(devices)
    home = next((operand.device for operand, holder in holders if holder), trained.pop() if is_told else furthest)
    return [operand for operand in operands if operand.device != home]


def _grown(operands: list[Operand], failure: Failure) -> Any:
    """Return the tensor that a loop joins with others, again and again: `ids` of `ids = torch.cat([ids, token])`."""
    call = failure.user_call
    loops = [node for node in ast.walk(call.scope or ast.Pass()) if isinstance(node, (ast.For, ast.While))]
    match call.statement:
        case ast.Assign(targets=[target]) as statement if any(statement in ast.walk(loop) for loop in loops):
            tensor = value(target, call)
            if all(map(is_joined, operands)) and any(operand.tensor is tensor for operand in operands):
                return tensor
    return None


def is_joined(operand: Operand) -> bool:
    """Tell whether it is in a list that the failing line makes one tensor of."""
    nodes = [node for node in ast.walk(operand.call.node or ast.Pass()) if isinstance(node, (ast.Name, ast.Attribute))]
    known = [load().operations.get(node.id if isinstance(node, ast.Name) else node.attr) for node in nodes]
    joins = any(operation is not None and operation.arguments == ["tensors"] for operation in known)
    return joins and re.match(r"\[\d+\]", operand.within) is not None


def _odd_ones(operands: list[Operand]) -> list[Operand]:
    """Return those of a list that is joined that are elsewhere than most of it."""
    devices = sorted({operand.device for operand in operands})
    if len({operand.argument for operand in operands}) > 1 or len(devices) > 2:
        return []
    least = min(devices, key=lambda device: _number_on(device, operands))
    is_few = 2 * _number_on(least, operands) < len(operands) and all(map(is_joined, operands))
    return [operand for operand in operands if operand.device == least] if is_few else []


def _number_on(device: str, operands: list[Operand]) -> int:
    return sum(operand.device == device for operand in operands)


def wants_cpu(failure: Failure) -> bool:
    """Tell whether the program itself says that it runs on the CPU, by a variable `device`; a local one decides.

    `device = idx.device` says where `idx` is, not where the program runs.
    """
    local = [call for call in failure.user_calls if "device" in call.locals and call.function != "<module>"]
    chosen = [call for call in local or failure.user_calls if not _is_read_from_a_tensor("device", call)]
    values = [value(parsed(name), call) for call in chosen for name in DEVICE_NAMES if _is_chosen(name, call, failure)]
    devices = [str(device) for device in values if type(device) is str or objects.is_device(device)]
    return bool(devices) and set(devices) == {"cpu"} and not any(map(_names_an_accelerator, failure.user_calls))


def _names_an_accelerator(call: Call) -> bool:
    """Tell whether a function has a variable such as `dev` that names a device other than the CPU."""
    named = [known for name, known in call.locals.items() if "dev" in name.lower() and call.function != "<module>"]
    return any((type(each) is str or objects.is_device(each)) and str(each)[:3] not in ("cpu", "") for each in named)


def _is_chosen(name: str, call: Call, failure: Failure) -> bool:
    """Tell whether a variable says where the program runs.

    A default that nobody passed does not beside an argument that is elsewhere, and no attribute that the module left.
    """
    if name == "device" and call.scope is not None and find_origin(name, call.scope, call.line).kind == "argument":
        outer = written_call(call, failure) if _is_given_what_is_elsewhere(call) else None
        return outer is None or written_for(name, call, outer[0]) is not None or _unpacks(outer[0])
    if name == "self.device" and objects.is_module(call.method_of):
        there = {objects.device(tensor) for tensor in objects.parameters(call.method_of)}
        return not there or "cpu" in there
    return True


def _is_given_what_is_elsewhere(call: Call) -> bool:
    code = call.frame.f_code
    given = [call.locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    return any(objects.is_tensor(argument) and objects.device(argument) != "cpu" for argument in given)


def _unpacks(written: ast.Call) -> bool:
    """Tell whether a call may pass an argument by `*` or `**`."""
    is_starred = any(isinstance(node, ast.Starred) for node in written.args)
    return is_starred or any(keyword.arg is None for keyword in written.keywords)


def _is_read_from_a_tensor(name: str, call: Call) -> bool:
    given = find_origin(name, call.scope, call.line).value if name in call.locals and call.scope is not None else None
    return isinstance(given, ast.Attribute) and given.attr == "device"


def _is_free(index: Argument, call: Call) -> bool:
    """Tell whether it is the index of `x[index]` and on the CPU: PyTorch takes it from there, wherever `x` is."""
    if not isinstance(call.node, (ast.Subscript, ast.Assign)):
        return False
    if index.value is MISSING:
        return expected_device(index.node, call) == "cpu"
    return all(objects.device(tensor) == "cpu" for _, tensor in objects.inside(index.value))
