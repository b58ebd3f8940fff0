"""A file asks for a device that is not here: the file itself does, or the `map_location` that is passed."""

import ast
import re
from collections.abc import Iterator

from samedevice.doctor.causes.device_names import asks_for
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import in_line, with_argument
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.origins import Origin
from samedevice.introspect.values import Argument, value

map_location = cause("checkpoint_map_location", is_alone=True)
map_location.say(asks_for)

# Tried before PyTorch's own ways to restore a storage, which is on the CPU at first.
_READ_TO_THE_CPU = (
    "torch.serialization.register_package(0, lambda storage: None, lambda storage, location: storage)"
    "  # above it: each file is then read to the CPU"
)
_NAMED = re.compile(r"deserialize object on (?:an? )?(\w+) device(?: (\d+))?|(?:tagged with|not recognized:) ?([\w:]+)")


@map_location.find
def file_or_map_location(failure: Failure) -> Iterator[Operand]:
    """Find what was passed to torch.load, or to a function that takes `map_location` for it.

    Any other call, such as the `result` of a process that loaded the file, has no `map_location` to pass. A pickle of
    tensors is loaded by one that has none.
    """
    call = failure.user_call
    if _is_a_pickle(failure) and isinstance(call.node, ast.expr):
        change, nowhere = Change(_READ_TO_THE_CPU), Origin("other", None, None)
        argument = Argument(call.node, None)
        yield Operand(None, _device_named(failure), call, argument, origin=nowhere, change=change)
        return
    if not isinstance(call.node, ast.Call) or not _takes_map_location(failure):
        return
    chosen = _map_location(call.node)
    passed = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
    node = chosen if chosen is not None else next(iter(passed), None)
    if node is not None:
        origin = Origin("other", None, None) if node is chosen else None
        yield Operand(None, _device_named(failure), call, Argument(node, value(node, call)), origin=origin)


def _device_named(failure: Failure) -> str:
    match = _NAMED.search(failure.text)
    kind, number, tag = match.groups() if match else ("", "", "")
    return tag or ":".join(filter(None, [(kind or "").lower(), number])) or "another device"


def _is_a_pickle(failure: Failure) -> bool:
    """Tell whether Python's or NumPy's own loader met a tensor, which loads its storage without a `map_location`."""
    return any(call.function == "_load_from_bytes" for call in failure.calls_below)


@map_location.fix
def loaded_onto_the_cpu(evidence: Evidence) -> Change:
    """Write the call with `map_location="cpu"`; a device that the program chooses is to be chosen anew."""
    node = evidence.failure.user_call.node
    asked = evidence.operand.argument
    names_a_device = type(asked.value) is str or objects.is_device(asked.value)
    is_passed = isinstance(node, ast.Call) and asked.node is _map_location(node)
    if is_passed and names_a_device and not isinstance(asked.node, ast.Constant):
        line = f'{evidence.expression.text} = torch.device("cuda")'
        return Change(f"{line}  # where it is chosen: {evidence.operand.device} is not here")
    if not isinstance(node, ast.Call):
        return Change(f'torch.load({evidence.expression.text}, map_location="cpu")')
    return in_line(evidence, text_of(with_argument(node, "map_location", ast.Constant("cpu"))), text_of(node))


def _takes_map_location(failure: Failure) -> bool:
    """Tell whether the function that the failing line calls takes it; one that passes on all it gets is skipped."""
    for call in failure.calls_below[-2::-1]:
        code = call.frame.f_code
        if "map_location" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            return True
        if code.co_flags & 0x0C != 0x0C:  # *args and **kwargs
            return False
    return False


def _map_location(node: ast.Call) -> ast.expr | None:
    """Return what a call passes as `map_location`, if that is not None."""
    passed = (keyword.value for keyword in node.keywords if keyword.arg == "map_location")
    return next((value for value in passed if not (isinstance(value, ast.Constant) and value.value is None)), None)
