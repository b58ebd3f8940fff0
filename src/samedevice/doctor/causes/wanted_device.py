"""The device where a tensor is wanted, as the program itself calls it."""

import ast
import re
from typing import Any

from samedevice.doctor.culprits.evidence import Suspect
from samedevice.doctor.culprits.failure import own
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import origin


def device_at(about: Suspect, call: Call, line: int) -> str:
    """How a frame calls the wanted device at one of its lines: a variable, the `.device` of what is there, its name."""
    home = about.home or device_of_the_text(about)
    if not home:
        return '"cuda"'
    globals_ = [(name, held) for name, held in call.frame.f_globals.items() if objects.is_device(held)]
    chosen = [
        found
        for name, held in [*about.scene.names(call), *globals_]
        for found in _devices(name, held, home)
        if not about.scene.place.in_library and _is_there(name, call, line)
    ]
    if chosen:
        return chosen[0]
    wanted = [party.tensor for party in about.rest if party.tensor is not None]
    there = [
        name
        for name, held in about.scene.names(call)
        if objects.is_tensor(held) and objects.device(held) == home and _is_there(name, call, line)
    ]
    for name in sorted(there, key=lambda name: all(call.locals.get(name) is not one for one in wanted)):
        return f"{name}.device"
    for tensor in wanted if call is about.scene.place else ():
        found = about.scene.expression(tensor, [call])
        if found and _is_there((re.match(r"\w*", found[0]) or [""])[0], call, line):
            return f"{found[0]}.device"
    for held in map(about.scene.holder, wanted) if home not in ("cpu", "cuda:0") else ():
        # Of several GPUs the number is nothing to rely on.
        if held is not None and held.moves and held.is_named and _is_there(held.root, call, line):
            return f"{held.expression}.device"
    return f'"{home}"'


def device_asked_for(about: Suspect) -> str:
    """The device that the failing `.to(device)` asks for."""
    node = about.scene.place.node
    if isinstance(node, ast.Attribute):
        statement = about.scene.place.statement
        calls = [one for one in ast.walk(statement) if isinstance(one, ast.Call)] if statement is not None else []
        node = next((one for one in calls if text_of(one.func) == text_of(node)), node)
    return text_of(node.args[0]) if isinstance(node, ast.Call) and node.args else '"cuda"'


def device_of_the_text(about: Suspect) -> str:
    """Of a generator, whose message names the device that is wanted."""
    found = re.search(r"Expected an? '(\w+(?::\d+)?)' ", about.scene.text)
    return found[1] if found else ""


def _devices(name: str, held: Any, home: str) -> list[str]:
    """The variables that hold the wanted device: one of their own, or an attribute."""
    wanted = (home, home.removesuffix(":0"))
    if objects.is_device(held) or (type(held) is str and "dev" in name.lower()):
        return [name] if str(held) in wanted else []
    if objects.is_tensor(held) or (objects.is_module(held) and name != "self"):
        return []
    return [
        f"{name}.{key}"
        for key, one in own(held)
        if (objects.is_device(one) or (type(one) is str and "dev" in key.lower())) and str(one) in wanted
    ]


def _is_there(name: str, call: Call, line: int) -> bool:
    """Whether a name has its value before a line of its frame."""
    if name == "self" or name not in call.locals or name in call.frame.f_code.co_freevars:
        return True
    if call.scope is None:
        return True
    came = origin(name, call.scope, line)
    if came.kind == "argument":
        return True
    return came.statement is not None and (getattr(came.statement, "lineno", None) or 0) < line
