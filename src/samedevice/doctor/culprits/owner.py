"""Who holds a tensor, in a few words."""

import ast
import functools
import re

from samedevice.doctor.culprits.evidence import Suspect
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import parsed
from samedevice.introspect.objects import MISSING
from samedevice.introspect.outside import is_from_outside
from samedevice.introspect.values import value


def owner(about: Suspect) -> str:
    """Who holds the tensor, in a few words."""
    held = about.holder
    if held is not None:
        kinds = {
            "attribute": "plain attribute",
            "list": f"in the Python list {held.name}",
            "dict": f"in the Python dict {held.name}",
            "partial": f"in the partial function {held.name}",
            "state": "optimizer state",
        }
        if held.kind == "buffer" and objects.is_a(held.module, "torch.nn.modules.loss", "_Loss"):
            kinds["buffer"] = "loss buffer"
        return f"{kinds.get(held.kind, held.kind)} of {classes.name(type(held.module))}"
    if objects.is_array(about.party.operand.value):
        return "a NumPy array"
    if partial := _partial(about):
        return f"in the partial function {partial}"
    match about.came.kind:
        case "loop":
            over = value(about.came.value, about.scope) if about.came.value is not None else MISSING
            loader = objects.is_a(over, "torch.utils.data", "DataLoader")
            return "loop variable of a DataLoader" if loader else "loop variable"
        case "made":
            return _created(about)
        case "argument":
            return f"argument of {about.scope.function}"
        case "moved":
            return "result of a move"
        case "call":
            return "result of a call"
    return _variable(about)


def _partial(about: Suspect) -> str:
    """The functools.partial that has it among its arguments."""
    found = re.fullmatch(r"(.+)\.(args|keywords)\[[^\[\]]+\]", about.expression)
    of = value(parsed(found[1]), about.call) if found else MISSING
    return found[1] if found and objects.is_one_of(of, functools.partial) else ""


def _created(about: Suspect) -> str:
    if about.came.statement is not None and is_from_outside(about.name, about.scope):
        return "created outside of this function"
    if about.scope is about.scene.place or about.party.came is not None:
        return "created in this call"
    # IPython 7 calls a cell's code "<cell line: 1>".
    top = about.scope.function == "<module>" or about.scope.function.startswith("<cell line")
    return "created in the script" if top else f"created in {about.scope.function}"


def _variable(about: Suspect) -> str:
    """Of a name that nothing is known of, or of no name."""
    whole = about.expression.rpartition("[")[0]
    if whole and about.party.operand.value is not None:
        held = value(parsed(whole), about.call)
        for kind in (list, dict, tuple):
            if objects.is_one_of(held, kind):
                return f"in the Python {classes.name(kind)} {whole}"
    node = parsed(about.expression)
    if isinstance(node, ast.Attribute):
        held = value(node.value, about.call)
        if node.attr == "grad" and objects.is_tensor(held):
            return f"gradient of a tensor on {objects.device(held)}"
        return f"attribute of {classes.name(held if objects.is_one_of(held, type) else type(held))}"
    if isinstance(node, (ast.Constant, ast.JoinedStr)):
        return "written in this call"
    if not isinstance(node, ast.Name):
        return "result of an expression"
    if is_from_outside(about.expression, about.call):
        is_free = about.expression in about.call.frame.f_code.co_freevars
        return "variable of the function around" if is_free else "global variable"
    return "local variable"
