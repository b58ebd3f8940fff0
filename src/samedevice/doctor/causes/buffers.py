"""What a method of a module made: a tensor kept from before the move, or put in a buffer's place after it."""

import ast

from samedevice.doctor.causes.moves import is_where_wanted
from samedevice.doctor.causes.rewriting import made_there
from samedevice.doctor.culprits.evidence import Suspect
from samedevice.introspect import classes, objects, origins
from samedevice.introspect.origins import device_argument, kind_of
from samedevice.placement.holders import Holder


def kept_from_a_call(about: Suspect, held: Holder) -> bool:
    """Whether a plain attribute is None until a call makes it where its input is, and keeps it."""
    if held.kind != "attribute" or objects.attribute(held.module, held.name) is not about.party.tensor:
        return False
    empty = origins.assigned_in(held.module, held.name, "__init__") or _in_class(held)
    if not isinstance(empty, ast.Constant) or empty.value is not None:
        return False
    made = list(origins.assigned_anew(held.module, held.name))
    return any(kind_of(one) == "call" or _asks_for_a_device(one) for one in made)


def empty_at_first(held: Holder) -> str:
    """The statement for `__init__`: a buffer that is None stays a buffer when it is given a tensor."""
    line = f'self.register_buffer("{held.name}", None, persistent=False)'
    return f"{line}  # in __init__, in place of {held.name} = None" if _in_class(held) else line


def put_in_its_place(about: Suspect, held: Holder) -> ast.expr | None:
    """What a method gave a buffer, without a device, while the module is where it is wanted."""
    if held.kind != "buffer" or not is_where_wanted(about, held):
        return None
    for made in origins.assigned_anew(held.module, held.name):
        if kind_of(made) == "made" and not _asks_for_a_device(made):
            return made
    return None


def where_it_was(held: Holder, made: ast.expr) -> str:
    """That method's line, with the device of the tensor that it replaces."""
    return f"self.{held.name} = {made_there(made, f'self.{held.name}.device')}"


def _asks_for_a_device(made: ast.expr) -> bool:
    return any(device_argument(node) is not None for node in ast.walk(made) if isinstance(node, ast.Call))


def _in_class(held: Holder) -> ast.Constant | None:
    named = [
        classes.namespace(owner)[held.name]
        for owner in classes.mro(type(held.module))
        if held.name in classes.namespace(owner)
    ]
    return ast.Constant(None) if named and named[0] is None else None
