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
from samedevice.introspect.expressions import text_of
from samedevice.introspect.origins import Origin
from samedevice.introspect.values import Argument, value

map_location = cause("checkpoint_map_location", is_alone=True)
map_location.say(asks_for)

_NAMED = re.compile(r"deserialize object on (?:an? )?(\w+) device(?: (\d+))?|(?:tagged with|not recognized:) ?([\w:]+)")


@map_location.find
def file_or_map_location(failure: Failure) -> Iterator[Operand]:
    """Find what was passed to torch.load, or to a function that takes `map_location` for it.

    Any other call, such as the `result` of a process that loaded the file, has no `map_location` to pass.
    """
    call = failure.user_call
    if not isinstance(call.node, ast.Call) or not _takes_map_location(failure):
        return
    chosen = _map_location(call.node)
    passed = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
    node = chosen if chosen is not None else next(iter(passed), None)
    if node is not None:
        match = _NAMED.search(failure.text)
        kind, number, tag = match.groups() if match else ("", "", "")
        device = tag or ":".join(filter(None, [(kind or "").lower(), number])) or "another device"
        origin = Origin("other", None, None) if node is chosen else None
        yield Operand(None, device, call, Argument(node, value(node, call)), origin=origin)


@map_location.fix
def loaded_onto_the_cpu(evidence: Evidence) -> Change:
    """Write the call with `map_location="cpu"`."""
    node = evidence.failure.user_call.node
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
