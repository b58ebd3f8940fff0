"""The roots of what a call gives: of a function that has returned, of a factory, of a move, of a dataclass.

A factory is a root itself, or what its data are, or the tensor whose device it asks for.
"""

import ast
import collections
from collections.abc import Iterator
from dataclasses import dataclass, replace

from samedevice.doctor.culprits.expected_device import device_named, expected_device
from samedevice.doctor.culprits.provenance import Provenance
from samedevice.introspect import classes, objects, origins
from samedevice.introspect.branches import did_not_run
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import Origin, creates, decided_by, device_argument, find_origin
from samedevice.introspect.paths import Path
from samedevice.introspect.returned import Returned, called_by, statement_with
from samedevice.introspect.values import value

_NUMBERS = ("len", "int", "float", "bool", "range", "str")  # functions that return no tensor
_OF_PYTHON = (list, tuple, dict, zip, enumerate, reversed, map, filter, collections.OrderedDict, collections.deque)


@dataclass(frozen=True, eq=False)
class Place:
    """Where an expression stands.

    Attributes:
        call: the frame, or the call that has returned.
        statement: the statement of it.
        name: what it gives its value to; "" for nothing.
    """

    call: Call
    statement: ast.stmt | None
    name: str = ""


class CalledRoots:
    """Finds the roots of what calls give.

    Args:
        device: where the value is whose roots are looked for.
    """

    def __init__(self, device: str) -> None:
        self._device = device

    def _roots(self, node: ast.expr, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        """Yield the roots of an expression; see roots.py."""
        raise NotImplementedError

    def _of_a_call(self, node: ast.Call, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        ran = called_by(node, place.call)
        if ran is not None:
            yield from self._of_what_it_returns(replace(ran, is_part=bool(path)), path, depth)
            return
        if creates(node):
            yield from self._of_a_factory(node, place, depth)
            return
        name, base = origins.called(node), node.func.value if isinstance(node.func, ast.Attribute) else None
        if base is None and name in _NUMBERS:
            return
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if objects.is_one_of(kind := value(node.func, place.call), type) and not any(kind is own for own in _OF_PYTHON):
            yield from self._roots_of_a_field(node, kind, place, path, depth)
            return
        match decided_by(name) if base is not None else "":
            case "values" | "facts":
                return
            case "move":
                yield from self._of_a_move(node, base, place, path, depth)  # type: ignore[arg-type]
                return
            case "like" if device_argument(node) is not None:
                yield from self._of_a_factory(node, place, depth)
                return
            case "like":
                given = given[:1] if name.endswith("_like") else []
            case "argument":
                given, base = given[:1], None
        match name, path:
            case "zip", (first, int(number), *rest) if number < len(node.args):
                given, path = [node.args[number]], (first, *rest)
            case "enumerate", (first, 1, *rest):
                given, path = node.args[:1], (first, *rest)
            case "items", (first, 1, *rest):
                path = (first, *rest)
        parts = [base, *given] if base is not None else given
        for part in parts:
            for item in part.elts if isinstance(part, ast.List | ast.Tuple) and not path else [part]:
                yield from self._roots(item, place, path, depth)

    def _is_of_a_layer(self, node: ast.Call, place: Place) -> bool:
        """Tell whether a layer computes it on a GPU, where its weights are, so that its input is there already."""
        layer = value(node.func, place.call)
        is_on_a_gpu = self._device not in ("cpu", "meta")
        return is_on_a_gpu and objects.is_module(layer) and bool(objects.parameters(layer))

    def _roots_of_a_field(
        self, node: ast.Call, kind: type, place: Place, path: Path, depth: int
    ) -> Iterator[Provenance]:
        """Yield the roots of what a dataclass or a named tuple was created with."""
        name = path[0][1:] if path and type(path[0]) is str else ""
        annotated = classes.defined(kind, "__dataclass_fields__")
        fields = classes.defined(kind, "_fields")
        names = list(annotated) if type(annotated) is dict else list(fields) if type(fields) is tuple else []
        passed = {keyword.arg: keyword.value for keyword in node.keywords} | dict(zip(names, node.args, strict=False))
        if name in passed:
            yield from self._roots(passed[name], place, path[1:], depth)

    def _of_what_it_returns(self, ran: Returned, path: Path, depth: int) -> Iterator[Provenance]:
        for statement in ast.walk(ran.scope) if ran.scope is not None else ():
            if isinstance(statement, ast.Return) and statement.value is not None and not did_not_run(statement, ran):
                yield from self._roots(statement.value, Place(ran, statement), path, depth)

    def _of_a_move(self, node: ast.Call, base: ast.expr, place: Place, path: Path, depth: int) -> Iterator[Provenance]:
        to = device_argument(node) or (node.args[0] if node.args else None)
        device = expected_device(node, place.call)
        if origins.called(node) == "to" and (to is None or _is_a_dtype(to, place.call)):
            yield from self._roots(base, place, path, depth)
        elif device == self._device:
            yield Provenance(Origin("moved", place.statement, node), place.call, place.name)

    def _of_a_factory(self, node: ast.Call, place: Place, depth: int) -> Iterator[Provenance]:
        """Yield a factory itself; what its data are, if that is a tensor; the tensor whose device it asks for."""
        data = node.args[0] if node.args and decided_by(origins.called(node)) == "data" else None
        if origins.called(node) == "tensor" and not objects.is_tensor(value(data or node, place.call)):
            data = None  # usually numbers
        asked = device_argument(node)
        if asked is None and data is not None:
            of_the_data = list(self._roots(data, place, (), depth))
            if of_the_data or objects.is_tensor(value(data, place.call)):
                yield from of_the_data
                return
        if expected_device(node, place.call) not in ("", self._device):
            return
        created = Provenance(Origin("created", place.statement, node), place.call, place.name)
        of_another = self._of_its_device(asked, place, depth) if asked is not None else []
        yield from of_another or [created]

    def _of_its_device(self, asked: ast.expr, place: Place, depth: int) -> list[Provenance]:
        """Return the roots of the tensor whose `.device` an expression is; none where it is of no tensor."""
        call = place.call
        if depth == 0 or device_named(asked, call) not in ("", self._device):
            return []
        match asked:
            case ast.Attribute(value=tensor, attr="device"):
                known = value(tensor, call)
                if objects.is_tensor(known) or (known is MISSING and text_of(tensor) != "self"):
                    return list(self._roots(tensor, place, (), depth - 1))
            case ast.Name(id=name):
                line = place.statement.lineno if place.statement is not None else call.line
                origin = find_origin(name, call.scope, line, place.statement)  # type: ignore[arg-type]
                if origin.value is not None and isinstance(origin.statement, ast.stmt):
                    return self._of_its_device(origin.value, Place(call, origin.statement), depth - 1)
                if origin.kind == "argument" and isinstance(call, Returned) and name in call.passed:
                    there = Place(call.caller, statement_with(call))
                    return self._of_its_device(call.passed[name], there, depth - 1)
        return []


def _is_a_dtype(node: ast.expr, call: Call) -> bool:
    known = value(node, call)
    kind = type(known)
    return (classes.module(kind), classes.name(kind)) == ("torch", "dtype") or text_of(node).endswith("dtype")
