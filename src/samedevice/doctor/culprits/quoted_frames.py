"""Frames that are gone: PyTorch tells a worker's and a replica's error again, in text, and its C++ shows none at all.

What ran there is read from the source: the lines that the text names, a module's forward, a Function's backward.
"""

import ast
import copy
import linecache
import re
import textwrap
import types
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.causes.rewriting import moved_to, replaced, replaced_in
from samedevice.doctor.culprits.failure import Scene
from samedevice.doctor.culprits.operands import Party
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.origins import Origin, called, device_argument, origin
from samedevice.introspect.values import Operand, returns

_FRAME = re.compile(r'^ *File "([^"\n]+)", line (\d+), in (\S+)', re.MULTILINE)


def made_in_a_replica(scene: Scene) -> Iterator[Party]:
    """What the failing line of a replica made on the first GPU, or was given so some lines above."""
    found = _last_of_the_users(scene.text)
    there = re.search(r"in replica (\d+) on device (\d+)", scene.text)
    named = re.findall(r"cuda:\d+", scene.text)
    if found is None or there is None:
        return
    function, line = found
    where = next((one for one in named if one != f"cuda:{there[2]}"), "cuda:0")
    given = [one.arg for one in function.args.args if one.arg != "self"]
    for node in _at(function, line):
        if isinstance(node, ast.Name) and objects.is_tensor(held := _global(node.id, function, scene)):
            moved = moved_to(node, f"{given[0]}.device") if given else node
            came, text = Origin("other", None, None), replaced(function, node, moved)
            yield Party(held, objects.device(held), scene.place, Operand(node, held), came=came, mended=text)
            continue
        came = origin(node.id, function, line) if isinstance(node, ast.Name) else Origin("made", None, node)
        made = came.value
        if isinstance(made, ast.Call) and device_argument(made) is not None:
            mended = copy.deepcopy(made)
            mended.keywords = [one for one in mended.keywords if one.arg != "device"]
            if given:
                mended.keywords.append(ast.keyword("device", ast.parse(f"{given[0]}.device", mode="eval").body))
            begins = f"{node.id} = " if isinstance(node, ast.Name) else ""
            yield Party(None, where, scene.place, Operand(node, None), came=came, mended=begins + text_of(mended))


def _global(name: str, function: ast.FunctionDef, scene: Scene) -> Any:
    if origin(name, function, 10**9) != Origin("other", None, None):
        return None
    return next((call.frame.f_globals[name] for call in scene.user if name in call.frame.f_globals), None)


def touched_in_a_worker(scene: Scene) -> Iterator[Party]:
    """The move to a GPU in the last line of the user's that a forked worker ran."""
    found = _last_of_the_users(scene.text)
    if found is None:
        return
    function, line = found
    for node in _at(function, line):
        if not isinstance(node, ast.Call):
            continue
        moves = called(node) in ("to", "cuda") and isinstance(node.func, ast.Attribute)
        if moves or device_argument(node) is not None:
            without = copy.deepcopy(node)
            without.keywords = [one for one in without.keywords if one.arg != "device"]
            mended = node.func.value if moves else without  # type: ignore[attr-defined]
            came = Origin("moved" if moves else "made", None, node)
            text = replaced(function, node, mended)
            yield Party(None, "cuda:0", scene.place, Operand(node, None), came=came, mended=text)
            return


def returned_gradient(scene: Scene) -> Iterator[Party]:
    """What the backward of the user's own Function returned."""
    found = re.search(r"Function (\w+)Backward returned an invalid gradient at index (\d+).*but got (\S+)", scene.text)
    names = (names for call in scene.user for names in (call.locals, call.frame.f_globals))
    kind = next((one[found[1]] for one in names if found[1] in one), None) if found else None
    backward = _function(kind, "backward")
    if found is None or backward is None:
        return
    tree = scope(backward.__code__, backward.__globals__)
    for returned in returns(backward)[-1:]:
        several = isinstance(returned, ast.Tuple) and int(found[2]) < len(returned.elts)
        node = returned.elts[int(found[2])] if several else returned  # type: ignore[attr-defined]
        came = origin(node.id, tree, 10**9) if isinstance(node, ast.Name) and tree is not None else None
        came = came or Origin("made", None, node)
        given = backward.__code__.co_varnames[1 : backward.__code__.co_argcount]
        mended = moved_to(node, f"{given[0]}.device") if given else None
        text = text_of(ast.Return(replaced_in(returned, node, mended))) if mended is not None else ""
        yield Party(None, found[3], scene.place, Operand(node, None), came=came, mended=text)


def returned_by_replicas(whole: Any, scene: Scene, likely: list[str]) -> tuple[Party | None, str]:
    """What the forward of a wrapped module returned when it could not be joined, and why."""
    first = likely[0] if likely else "library_bug"
    forward = objects.method(objects.attribute(whole, "module"), "forward")
    returned = returns(forward) if forward is not None else []
    if forward is None or not returned:
        return None, first
    tree, node = scope(forward.__code__, forward.__globals__), returned[-1]
    came = origin(node.id, tree, 10**9) if isinstance(node, ast.Name) and tree is not None else None
    came = came if came is not None and came.value is not None else Origin("other", None, node)
    if first == "data_parallel_output_shape":
        text = f"pad {text_of(node)} to one shape in every replica"
        return Party(None, "cuda:0", scene.place, Operand(node, None), came=came, mended=text), first
    text = f"return {text_of(moved_to(node, f'{forward.__code__.co_varnames[1]}.device'))}"
    for move in ast.walk(came.value) if came.value is not None else ():
        if isinstance(move, ast.Call) and called(move) == "cpu" and isinstance(move.func, ast.Attribute):
            kept = replaced_in(came.value, move, move.func.value)
            text = f"{text_of(node)} = {text_of(kept)}" if came.statement else f"return {text_of(kept)}"
            first = "data_parallel_output_on_cpu" if "data_parallel_output_on_cpu" in likely else first
    return Party(None, "cpu", scene.place, Operand(node, None), came=came, mended=text), first


def _function(kind: Any, name: str) -> types.FunctionType | None:
    held = classes.namespace(kind).get(name) if objects.is_one_of(kind, type) else None
    held = held.__func__ if type(held) is staticmethod else held
    return held if type(held) is types.FunctionType else None


def _last_of_the_users(text: str) -> tuple[ast.FunctionDef, int] | None:
    """The function of the innermost frame that the text has of the user's files, and the line there."""
    for file, line, name in reversed(_FRAME.findall(text)):
        if not is_library(file):
            lines = linecache.getlines(file)
            for first in range(min(int(line), len(lines)) - 1, -1, -1):
                if re.match(rf"\s*(async )?def {re.escape(name)}\b", lines[first]):
                    tree = _parsed(lines[first:], int(line) - first)
                    return (ast.increment_lineno(tree, first), int(line)) if tree is not None else None
            return None
    return None


def _parsed(lines: list[str], at_least: int) -> ast.FunctionDef | None:
    for last in range(at_least, min(len(lines), at_least + 40) + 1):
        try:
            tree = ast.parse(textwrap.dedent("".join(lines[:last]))).body[0]
        except SyntaxError:
            continue
        return tree if isinstance(tree, ast.FunctionDef) else None
    return None


def _at(function: ast.FunctionDef, line: int) -> Iterator[Any]:
    for node in ast.walk(function):
        if isinstance(node, (ast.Name, ast.Call)) and node.lineno <= line <= (node.end_lineno or 0):
            yield node
