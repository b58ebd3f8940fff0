"""DistributedDataParallel still waits for parameters that had no part in the loss."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.edits import Change
from samedevice.introspect import objects
from samedevice.introspect.origins import Origin
from samedevice.introspect.values import Argument
from samedevice.placement.holders import step

unused = cause("ddp_unused_parameters", is_alone=True)


@unused.find
def waited_for(failure: Failure) -> Iterator[Operand]:
    """Find the parameters whose indices the message names.

    They count, from 0, what requires a gradient, in the order of `named_parameters()`.
    """
    match = re.search(r"Parameter indices which did not receive grad for rank \d+:((?: \d+)+)", failure.text)
    selves = (call.locals.get("self") for call in failure.calls_below)
    wrapper = next((module for module in selves if _is_wrapper(module)), None)
    wrapped = objects.attributes(wrapper).get("_modules", {}).get("module")
    names = {id(module): name for name, module in reversed(failure.modules())}
    root = names.get(id(wrapped)) or f"{names.get(id(wrapper), 'model')}.module"
    parameters = {
        id(parameter): (path, parameter)
        for path, parameter in _parameters(root, wrapped)
        if objects.requires_grad(parameter)
    }
    for index in map(int, match[1].split() if match else ()):
        if index < len(parameters):
            path, parameter = list(parameters.values())[index]
            argument = Argument(ast.parse(path, mode="eval").body, parameter)
            origin = Origin("other", None, None)
            yield Operand(parameter, objects.device(parameter), failure.user_call, argument, origin=origin)


@unused.fix
def frozen(evidence: Evidence) -> Change:
    """Freeze its layer before the wrapper is created, which then looks at what requires a gradient."""
    path = re.sub(r"\.module\b", "", evidence.expression.text, count=1)
    return Change(f"{path.rpartition('.')[0]}.requires_grad_(False)  # before DistributedDataParallel wraps it")


@unused.say
def had_no_part(expression: str, device: str, shape: tuple[int, ...] | None) -> str:
    """Say what is wrong with it, which is not its device."""
    return f"`{expression}` (shape {shape}) had no part in the loss."


def _parameters(path: str, module: Any) -> Iterator[tuple[str, Any]]:
    own = objects.attributes(module)
    for name, parameter in own.get("_parameters", {}).items():
        if parameter is not None:
            yield path + step(module, name), parameter
    for name, child in own.get("_modules", {}).items():
        yield from _parameters(path + step(module, name), child)


def _is_wrapper(module: Any) -> bool:
    return objects.is_a(module, "torch.nn.parallel", "DistributedDataParallel")
