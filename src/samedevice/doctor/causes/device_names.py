"""Devices that the program names and that are not there: a GPU too many, a typing error, CUDA on a CPU build."""

import ast
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from samedevice.doctor.causes.moved import assigned
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import in_line
from samedevice.doctor.causes.several_gpus import default_index
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import of_the_first_frame
from samedevice.doctor.culprits.operands import Operand, wants_cpu
from samedevice.doctor.edits import Change
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import called
from samedevice.introspect.values import Argument, arguments, value

ordinal = cause("device_ordinal_unavailable", is_alone=True)
misspelt = cause("misspelt_device", is_alone=True)
no_cuda = cause("no_cuda_build_or_driver", is_alone=True)
no_accelerator = cause("no_accelerator", is_alone=True)
hard_coded = cause("hardcoded_cuda", is_alone=True)
backend = cause("mps_or_other_backend", is_alone=True)
legacy = cause("legacy_constructor_device", is_alone=True)

_AVAILABLE = '"cuda" if torch.cuda.is_available() else "cpu"'
_TAKES_A_DEVICE_FIRST = re.compile(r"^(?:to|cuda|Stream|current_stream|synchronize|mem\w*|\w*device\w*)$")
# The types of devices that torch.device takes, of those that have hardware.
_DEVICE = re.compile(r"(?:cpu|cuda|xpu|mps|mtia|hpu|maia|xla|ipu|meta|npu|privateuseone)(?::\d+)?")


def _find_named(is_device: Callable[[object], bool]) -> Callable[[Failure], list[Operand]]:
    """Make a function that finds what names a device: a value that `is_device` takes for one, else an expression."""

    def named(call: Call) -> Iterator[Operand]:
        for argument in arguments(call):
            if is_device(argument.value):
                yield Operand(None, str(argument.value), call, argument)

    def find(failure: Failure) -> list[Operand]:
        found = of_the_first_frame(failure.calls_below[::-1], named)
        return found or ([] if failure.user_call.in_library else list(_asked_for(failure.user_call)))

    return find


def _is_device(value: object) -> bool:
    return objects.is_device(value) or (type(value) is str and _DEVICE.fullmatch(value) is not None)


def _may_be_misspelt(value: object) -> bool:
    return objects.is_device(value) or (type(value) is str and 0 < len(value) < 40)


for names_a_device in (ordinal, no_cuda, no_accelerator, hard_coded, backend, legacy, default_index):
    names_a_device.find(_find_named(_is_device))
misspelt.find(_find_named(_may_be_misspelt))


def _asked_for(call: Call) -> Iterator[Operand]:
    """Find what asks for a device without its name: what `.cuda()` moves, a number, an expression."""
    match call.node:
        case ast.Call(func=ast.Attribute(attr="cuda", value=moved), args=[], keywords=[]):
            known = value(moved, call)
            tensor = known if objects.is_tensor(known) else None
            device = objects.device(tensor) if tensor is not None else "cpu"
            yield Operand(tensor, device, call, Argument(moved, known, "moved"))
        case ast.Call(args=[*positional], keywords=keywords):
            named = [keyword.value for keyword in keywords if keyword.arg in ("device", "device_ids", "output_device")]
            # A number is a device only where a device is taken first: in torch.zeros(1) it is a size.
            for node in named or (positional if _TAKES_A_DEVICE_FIRST.search(called(call.node)) else []):
                known = value(node, call)
                if device := _asked_by(node, known):
                    yield Operand(None, device, call, Argument(node, known))


def _asked_by(node: ast.expr, known: Any) -> str:
    """Return the device that an expression asks for: "unknown" for a value that is not known, "" for no device."""
    if type(known) is int and known >= 0:
        return f"cuda:{known}"
    if objects.is_one_of(known, list, tuple):
        numbers = [number for _, number in objects.items(known)]
        return f"cuda:{max(numbers, default=0)}" if all(type(number) is int for number in numbers) else ""
    if isinstance(node, ast.Call) and called(node) == "get_device":
        return "-1"  # so it is of a tensor on the CPU
    return "unknown" if known is MISSING and not isinstance(node, ast.Starred) else ""


@hard_coded.detect
def program_runs_on_the_cpu(evidence: Evidence) -> bool:
    """Tell whether it is on a GPU although the program chose the CPU."""
    return evidence.operand.device != "cpu" and wants_cpu(evidence.failure)


@ordinal.fix
def of_the_gpus_there_are(evidence: Evidence) -> Change:
    """Ask for a GPU that is there."""
    asked, name = evidence.operand.argument.value, evidence.expression.text
    if re.search("""["']RANK["']""", name):  # counts the processes of all machines
        return in_line(evidence, re.sub("""(["'])RANK(?=["'])""", r"\1LOCAL_RANK", name))
    if "rank" in name.lower():  # with another number, two processes would share one GPU
        return Change("torchrun --nproc-per-node=gpu ...")
    if objects.is_one_of(asked, list, tuple):
        return assigned(evidence, "None")
    # torch.cuda.set_device takes no "cuda" without a number.
    return assigned(evidence, "0" if type(asked) is int or asked is MISSING else '"cuda"')


@misspelt.fix
def spelt(evidence: Evidence) -> Change:
    """Write the device that the name most likely means."""
    name = evidence.expression.text
    if name.endswith(".get_device()"):
        return assigned(evidence, f"{name.removesuffix('get_device()')}device")
    node, number = evidence.operand.argument.node, re.search(r"\d+$", evidence.operand.device)
    if isinstance(node, ast.JoinedStr) and "cuda{" in (joined := text_of(node)):
        return assigned(evidence, joined.replace("cuda{", "cuda:{"))
    return assigned(evidence, f'"cuda:{number[0]}"' if number else '"cuda"')


@no_cuda.fix
def available(evidence: Evidence) -> Change:
    """Choose the GPU where there is one."""
    return moved_to_available(evidence) or assigned(evidence, _AVAILABLE)


@hard_coded.fix
def moved_to_available(evidence: Evidence) -> Change | None:
    """Write `.to(...)` for a `.cuda()`."""
    name = evidence.expression.text
    is_moved = evidence.operand.argument.role == "moved"
    return in_line(evidence, f"{name}.to({_AVAILABLE})", f"{name}.cuda()") if is_moved else None


@no_accelerator.fix
@backend.fix
def accelerator_that_is_there(evidence: Evidence) -> Change | None:
    """Choose the accelerator of this machine."""
    if evidence.operand.tensor is not None:
        return None
    return assigned(evidence, 'torch.accelerator.current_accelerator(check_available=True) or "cpu"')


@legacy.fix
def modern(evidence: Evidence) -> Change:
    """Write `torch.tensor` for data and `torch.empty` for sizes, in place of `torch.Tensor`."""
    call = evidence.failure.user_call
    if not isinstance(call.node, ast.Call) or call.statement is None:
        return Change("torch.tensor(data, device=device)")
    changed = copy.deepcopy(call.node)
    first = value(call.node.args[0], call) if call.node.args else MISSING
    changed.func = ast.parse("torch.empty" if type(first) is int else "torch.tensor", mode="eval").body
    return in_line(evidence, text_of(changed), text_of(call.node))


def asks_for(expression: str, device: str, shape: tuple[int, ...] | None) -> str:
    """Say that a name asks for a device; "" for a tensor."""
    asked = "a device that is not there" if device == "unknown" else device
    return f"`{expression}` asks for {asked}." if shape is None else ""


@no_accelerator.say
def asks_for_any(expression: str, device: str, shape: tuple[int, ...] | None) -> str:
    """Say that a number asks for an accelerator, of whichever type PyTorch has."""
    return f"`{expression}` asks for an accelerator." if shape is None else ""


for asks in (ordinal, misspelt, no_cuda, legacy):
    asks.say(asks_for)
