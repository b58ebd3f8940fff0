"""Who holds a tensor, in a few words."""

import ast
import functools
import re

from samedevice.doctor.culprits.evidence import Evidence
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import parsed
from samedevice.introspect.objects import MISSING
from samedevice.introspect.outside import is_from_outside
from samedevice.introspect.returned import Returned
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder

# What the tokenizers and the processors of transformers return: a UserDict whose `.to()` moves it in place.
ENCODINGS = (
    ("transformers.tokenization_utils_base", "BatchEncoding"),
    ("transformers.feature_extraction_utils", "BatchFeature"),
)
BATCH = "batch of a DataLoader"  # the program has the loader only: the batch is inside it


def owner(evidence: Evidence) -> str:
    """Say who holds the tensor, such as "plain attribute of Net" or "loop variable of a DataLoader"."""
    if evidence.holder is not None:
        return _held(evidence.holder)
    if objects.is_array(evidence.operand.argument.value):
        return "a NumPy array"
    if evidence.operand.call.in_library and _is_a_loader(value(evidence.expression.node, evidence.call)):
        return BATCH
    if partial := _partial(evidence):
        return f"in the partial function {partial}"
    origin = evidence.origin
    match origin.kind:
        case "loop":
            over = value(origin.value, evidence.origin_call) if origin.value is not None else MISSING
            return "loop variable of a DataLoader" if _is_a_loader(over) else "loop variable"
        case "created":
            return _created(evidence)
        case "argument":
            return f"argument of {evidence.origin_call.function}"
        case "moved" if not _is_a_part_of_what_was_returned(evidence):
            return "result of a move"
        case "call" | "moved":
            return "result of a call"
    return _variable(evidence)


def _is_a_loader(thing: object) -> bool:
    return objects.is_a(thing, "torch.utils.data", "DataLoader")


def _held(holder: Holder) -> str:
    kinds = {
        "attribute": "plain attribute",
        "list": f"in the Python list {holder.name}",
        "dict": f"in the Python dict {holder.name}",
        "partial": f"in the partial function {holder.name}",
        "state": "optimizer state",
    }
    if any(objects.is_a(holder.module, *kind) for kind in ENCODINGS):
        return "in the batch that a tokenizer or a processor returned"
    if holder.kind == "buffer" and objects.is_a(holder.module, "torch.nn.modules.loss", "_Loss"):
        kinds["buffer"] = "loss buffer"
    return f"{kinds.get(holder.kind, holder.kind)} of {classes.name(type(holder.module))}"


def _partial(evidence: Evidence) -> str:
    """Return the name of the functools.partial that has the tensor among its arguments."""
    match = re.fullmatch(r"(.+)\.(args|keywords)\[[^\[\]]+\]", evidence.expression.text)
    function = value(parsed(match[1]), evidence.call) if match else MISSING
    return match[1] if match and objects.is_one_of(function, functools.partial) else ""


def _is_a_part_of_what_was_returned(evidence: Evidence) -> bool:
    """Tell whether a function that has returned computed with what it moved: `losses.append(model(x.to(device)))`."""
    given = getattr(evidence.origin.statement, "value", None)
    return isinstance(evidence.origin_call, Returned) and given is not evidence.origin.value


def _created(evidence: Evidence) -> str:
    call = evidence.origin_call
    if evidence.origin.statement is not None and is_from_outside(evidence.origin_name, call):
        return "created outside of this function"
    if call is evidence.failure.user_call or evidence.operand.origin is not None:
        return "created in this call"
    # IPython 7 calls a cell's code "<cell line: 1>".
    is_script = call.function == "<module>" or call.function.startswith("<cell line")
    return "created in the script" if is_script else f"created in {call.function}"


def _variable(evidence: Evidence) -> str:
    """Say what a name is of which nothing else is known, or an expression without a name."""
    name, node = evidence.expression.text, evidence.expression.node
    container_name = name.rpartition("[")[0]
    if container_name and evidence.operand.argument.value is not None:
        container = value(parsed(container_name), evidence.call)
        for kind in (list, dict, tuple):
            if objects.is_one_of(container, kind):
                return f"in the Python {classes.name(kind)} {container_name}"
    if isinstance(node, ast.Attribute):
        base = value(node.value, evidence.call)
        if node.attr == "grad" and objects.is_tensor(base):
            return f"gradient of a tensor on {objects.device(base)}"
        return f"attribute of {classes.name(base if objects.is_one_of(base, type) else type(base))}"
    if isinstance(node, (ast.Constant, ast.JoinedStr)):
        return "written in this call"
    if not isinstance(node, ast.Name):
        return "result of an expression"
    if is_from_outside(name, evidence.call):
        is_free = name in evidence.call.frame.f_code.co_freevars
        return "variable of the function around" if is_free else "global variable"
    return "local variable"
