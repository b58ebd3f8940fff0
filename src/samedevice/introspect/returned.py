"""A call that has returned, as if its frame were still there: its arguments, as far as the calling code tells them.

The names that the function assigns itself are gone with its frame, so they stand for nothing.
"""

import ast
import types
from dataclasses import dataclass, field
from typing import Any

from samedevice.introspect import classes, objects
from samedevice.introspect.frames import Call
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain
from samedevice.introspect.objects import MISSING
from samedevice.introspect.values import function_of, value

_FOREVER = 10**8  # the line at which a function has returned: below all of its statements


@dataclass(frozen=True, eq=False)
class _Frame:
    """What is read of a frame, for one that is gone."""

    f_code: types.CodeType
    f_locals: dict[str, Any]
    f_globals: dict[str, Any]


@dataclass(eq=False)
class Returned(Call):
    """A call that has returned.

    Attributes:
        caller: the call whose code made it.
        written: how the caller wrote it; None for a property, and for a method of which only the object is known.
        passed: what the caller wrote for each argument.
        is_part: whether only a part of what it returned is looked at, such as the first of two tensors.
    """

    caller: Call = field(kw_only=True)
    written: ast.Call | None = field(default=None, kw_only=True)
    passed: dict[str, ast.expr] = field(default_factory=dict, kw_only=True)
    is_part: bool = field(default=False, kw_only=True)

    @property
    def _columns(self) -> None:
        """Nothing runs in it any more."""

    @property
    def locals(self) -> dict[str, Any]:
        return self.frame.f_locals

    @property
    def globals(self) -> dict[str, Any]:
        return self.frame.f_globals

    @property
    def live(self) -> Call:
        """The frame that is alive and led to it."""
        caller = self.caller
        while isinstance(caller, Returned):
            caller = caller.caller
        return caller


def returned(
    function: types.FunctionType, caller: Call, written: ast.Call | None = None, owner: Any = MISSING
) -> Returned | None:
    """Describe a call of a function of the program; None for a function of a library.

    Args:
        function: what was called.
        caller: the call whose code made it.
        written: how the caller wrote it.
        owner: the object whose method it is, if it is one.
    """
    code = function.__code__
    if is_library(plain(code.co_filename)):
        return None
    given = _defaults(function)
    first = code.co_varnames[:1] if owner is not MISSING else ()
    given |= dict.fromkeys(first, owner)
    passed = _passed(code, written, len(first)) if written is not None else {}
    given |= {name: _value(node, caller) for name, node in passed.items()}
    cells = zip(code.co_freevars, function.__closure__ or (), strict=False)
    given |= {name: _content(cell) for name, cell in cells}
    own = {*code.co_varnames, *code.co_cellvars}
    names = {name: found for name, found in globals_of(function).items() if name not in own}
    call = Returned(_Frame(code, {}, names), -1, _FOREVER, caller=caller, written=written, passed=passed)  # type: ignore[arg-type]
    assigned = _assigned(call.scope)
    call.frame.f_locals.update(
        (name, found) for name, found in given.items() if found is not MISSING and name not in assigned
    )
    return call


def called_by(node: ast.Call, caller: Call) -> Returned | None:
    """Describe the call of a function, a method or a module's `forward` of the program that an expression is."""
    function = function_of(node.func, caller)
    if function is not None:
        return returned(function, caller, node, _owner(node.func, caller))
    module = value(node.func, caller)
    forward = objects.method(module, "forward") if objects.is_module(module) else None
    return returned(forward, caller, node, module) if forward is not None else None


def statement_with(call: Returned) -> ast.stmt | None:
    """Return the statement in the caller's code that made a call."""
    best = None
    for node in ast.walk(call.caller.scope) if call.caller.scope is not None else ():
        is_one = isinstance(node, ast.stmt) and not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        )
        if is_one and any(inner is call.written for inner in ast.walk(node)):
            best = node
    return best  # type: ignore[return-value]


def _value(node: ast.expr, caller: Call) -> Any:
    """Return what is passed, as far as looking suffices: of `x.device`, the name of the device."""
    if isinstance(node, ast.Attribute) and node.attr == "device":
        tensor = value(node.value, caller)
        if objects.is_tensor(tensor):
            return objects.device(tensor)
    return value(node, caller)


def _owner(node: ast.expr, caller: Call) -> Any:
    """Return what a function gets as its first argument, before those that are written."""
    if not isinstance(node, ast.Attribute):
        return MISSING
    base = caller.method_of if _is_super(node.value) else value(node.value, caller)
    if base is None or base is MISSING or objects.is_one_of(base, types.ModuleType):
        return MISSING
    is_a_class = objects.is_one_of(base, type)
    held = classes.defined(base if is_a_class else type(base), node.attr)
    if type(held) is classmethod:
        return base if is_a_class else type(base)
    return MISSING if is_a_class or type(held) is not types.FunctionType else base


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _defaults(function: types.FunctionType) -> dict[str, Any]:
    code, defaults = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    return {
        **dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)),
        **_keyword_only(function),
    }


def _keyword_only(function: types.FunctionType) -> dict[str, Any]:
    return dict(function.__kwdefaults__ or {})


def _passed(code: types.CodeType, written: ast.Call, first: int) -> dict[str, ast.expr]:
    """Return what a call passes for each argument of a function, up to a `*` or a `**`, which nobody can tell."""
    passed: dict[str, ast.expr] = {}
    for name, node in zip(code.co_varnames[first : code.co_argcount], written.args, strict=False):
        if isinstance(node, ast.Starred):
            break
        passed[name] = node
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return passed | {keyword.arg: keyword.value for keyword in written.keywords if keyword.arg in names}


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return MISSING


def _assigned(scope: ast.AST | None) -> set[str]:
    nodes = ast.walk(scope) if scope is not None else ()
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
