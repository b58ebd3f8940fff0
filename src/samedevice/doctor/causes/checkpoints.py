"""What is at fault where a file asks for a device that is not here: the file itself, or the `map_location` given."""

import ast
import copy
import re
from collections.abc import Iterator

from samedevice.doctor.causes.rewriting import in_line
from samedevice.doctor.culprits.evidence import Suspect
from samedevice.doctor.culprits.failure import Scene
from samedevice.doctor.culprits.operands import Party
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import Origin
from samedevice.introspect.values import Operand, value

_NAMED = re.compile(r"deserialize object on (?:an? )?(\w+) device(?: (\d+))?|(?:tagged with|not recognized:) ?([\w:]+)")


def loaded(scene: Scene) -> Iterator[Party]:
    """What was given to torch.load, or to a function that takes `map_location` for it; nothing of any other call.

    Another call, such as the `result` of a process that loaded the file, has no `map_location` to give.
    """
    place = scene.place
    if not isinstance(place.node, ast.Call) or not _takes_map_location(scene):
        return
    chosen = _map_location(place.node)
    given = [*place.node.args, *(keyword.value for keyword in place.node.keywords)]
    node = chosen if chosen is not None else next(iter(given), None)
    if node is not None:
        found = _NAMED.search(scene.text)
        kind, number, tag = found.groups() if found else ("", "", "")
        device = tag or ":".join(filter(None, [(kind or "").lower(), number]))
        came = Origin("other", None, None) if node is chosen else None
        yield Party(None, device or "another device", place, Operand(node, value(node, place)), came=came)


def mapped(about: Suspect) -> str:
    """The call, with `map_location="cpu"`."""
    node = about.scene.place.node
    if not isinstance(node, ast.Call):
        return f'torch.load({about.expression}, map_location="cpu")'
    made = copy.deepcopy(node)
    made.keywords = [one for one in made.keywords if one.arg != "map_location"]
    made.keywords.append(ast.keyword("map_location", ast.Constant("cpu")))
    return in_line(about, text_of(made), of=text_of(node))


def _takes_map_location(scene: Scene) -> bool:
    """Whether the function that the failing line calls does; one that hands all on is looked through."""
    for call in scene.below[-2::-1]:
        if "map_location" in _arguments(call):
            return True
        if call.frame.f_code.co_flags & 0x0C != 0x0C:  # *args and **kwargs
            return False
    return False


def _arguments(call: Call) -> tuple[str, ...]:
    code = call.frame.f_code
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _map_location(node: ast.Call) -> ast.expr | None:
    named = (keyword.value for keyword in node.keywords if keyword.arg == "map_location")
    return next((one for one in named if not (isinstance(one, ast.Constant) and one.value is None)), None)
