"""Whether a tensor was moved in vain: the result was thrown away, or its name is from before the move.

`Module.to` gives a parameter new memory and puts another tensor in the place of a buffer (torch/nn/modules/module.py,
`_apply`), so a name that was given `encoder.weight.data` or `norm.running_mean` before still means the old tensor.
"""

import ast
import re
import types
from typing import Any

from samedevice.doctor.causes.running_totals import is_written_to
from samedevice.doctor.culprits.evidence import Suspect
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.origins import origin
from samedevice.introspect.values import function_of, returns, value, value_in

# Methods of which the result shares the tensor's memory.
_VIEWS = {
    "detach", "t", "transpose", "swapaxes", "permute", "movedim", "view", "view_as", "flatten", "squeeze", "unsqueeze",
    "expand", "expand_as", "narrow", "select", "diagonal", "unflatten", "reshape",
}  # fmt: skip


def moved_in_vain(about: Suspect) -> str:
    """The cause, where that is it."""
    tree = about.scope.scope
    held = about.holder
    if second_name(about) is not None:
        return "in_place_or_copy"
    if held is not None and held.kind == "attribute" and origins.discarded_in(held.module, held.name) is not None:
        return "in_place_or_copy"
    if tree is None or not about.name:
        return ""
    if origins.discarded_move(about.name, tree) is not None:
        return "in_place_or_copy"
    alias = about.came.value if about.came.kind == "other" else None
    if isinstance(alias, ast.Name) and origin(alias.id, tree, about.scope.line).kind == "moved":
        return "in_place_or_copy"
    root = (re.match(r"\w+", about.name) or [""])[0]
    if root in origins.moved_in_a_loop(tree):
        return "in_place_or_copy"
    if isinstance(about.came.value, ast.Call):
        helper = function_of(about.came.value.func, about.scope)
        return "in_place_or_copy" if helper is not None and _throws_away(helper, about.came.value, about.scope) else ""
    return ""


def second_name(about: Suspect) -> str | None:
    """What a module itself calls the tensor, where the name at fault was taken of its parameter or buffer."""
    held = about.holder
    if held is None:
        taken = about.came.value
    elif held.kind == "attribute" and objects.is_module(held.module):
        taken = origins.assigned(held.module, held.name)
    else:
        return None
    node = taken
    while node is not None:
        tensor: Any = value(node, about.scope) if held is None else value_in(node, held.module)
        if objects.is_tensor(tensor):
            break
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _VIEWS:
                node = inner
            case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="data" | "T" | "mT" | "H"):
                node = inner
            case _:
                return None
    if taken is None or objects.device(tensor) not in about.others or is_written_to(about):
        return None
    about.scene.want(tensor)
    owner = about.scene.holder(tensor)
    if owner is None or not owner.moves:
        return None
    # `.data` was for a name of its own: the parameter itself is where the module is, and learns.
    return text_of(taken).removesuffix(".data")


def _throws_away(helper: types.FunctionType, called: ast.Call, call: Call) -> bool:
    """Whether a helper moves what it was given, or what is in it, and returns that as it was."""
    tree = scope(helper.__code__, helper.__globals__)
    given = [value(argument, call) for argument in called.args]
    if tree is None or any(objects.is_module(one) for one in given):
        return False
    returned = {node.id for one in returns(helper) for node in ast.walk(one) if isinstance(node, ast.Name)}
    return bool(returned & {*origins.discarded_moves(tree), *origins.moved_in_a_loop(tree)})
