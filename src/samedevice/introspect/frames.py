"""The frames of a traceback that is still alive, each with the expression that was running.

Python knows the columns of each instruction, so only the failing expression is parsed, never a whole library file.
"""

import ast
import functools
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samedevice.introspect import classes, exceptions, source
from samedevice.introspect.bytecode import statements
from samedevice.introspect.libraries import is_library, is_ours, is_third_party
from samedevice.introspect.namespaces import names, plain

# What stands between a call and PyTorch's C++, on a simulated GPU and under a default device.
_PLUMBING = tuple(str(Path("torch", file)) for file in ("_ops.py", "overrides.py", "utils/_device.py"))


@dataclass(eq=False)
class Call:
    """One frame. It holds the program's objects alive: keep none."""

    frame: types.FrameType
    lasti: int
    line: int

    @property
    def file(self) -> str:
        return plain(self.frame.f_code.co_filename)

    @property
    def function(self) -> str:
        return plain(self.frame.f_code.co_name)

    @functools.cached_property
    def in_library(self) -> bool:
        return is_library(self.file)

    @functools.cached_property
    def in_third_party(self) -> bool:
        """Whether a library other than PyTorch and Python's own stands here."""
        return is_third_party(self.file)

    @functools.cached_property
    def locals(self) -> dict[str, Any]:
        return dict(names(self.frame.f_locals))

    @functools.cached_property
    def globals(self) -> dict[str, Any]:
        return names(self.frame.f_globals)

    @functools.cached_property
    def itself(self) -> str:
        """What the function calls the object whose method it is, mostly "self"; "" for a function."""
        return plain(self.frame.f_code.co_varnames[0]) if self.method_of is not None else ""

    @functools.cached_property
    def method_of(self) -> Any:
        """The object whose method this is, whatever its first argument is called; None for a function."""
        code = self.frame.f_code
        first = self.locals.get(code.co_varnames[0]) if code.co_argcount else None
        owners = classes.mro(type(first)) if first is not None else ()
        namespaces = [classes.namespace(owner) for owner in owners]
        named = [namespace[self.function] for namespace in namespaces if self.function in namespace]
        return first if any(_runs(attribute, code) for attribute in named) else None

    @functools.cached_property
    def _columns(self) -> tuple[int, int, int, int] | None:
        positions = list(self.frame.f_code.co_positions())
        found = positions[self.lasti // 2] if self.lasti // 2 < len(positions) else ()
        return found if len(found) == 4 and None not in found else None  # type: ignore[return-value]

    @functools.cached_property
    def source(self) -> str:
        """The failing expression as written, or "" where there is no source."""
        if self._columns is None:
            return ""
        first, last, start, end = self._columns
        lines = lines_of(self.frame.f_code, self.globals)[first - 1 : last]
        if len(lines) < last - first + 1:
            return ""
        lines[-1] = lines[-1].encode()[:end].decode(errors="replace")
        lines[0] = lines[0].encode()[start:].decode(errors="replace")
        return "".join(lines)

    @functools.cached_property
    def node(self) -> ast.AST | None:
        """The failing expression or statement."""
        within = self._within
        if within is not None:
            return within
        for written in (f"({self.source})", self.source):
            try:
                statement = ast.parse(written).body[0] if self.source else None
            except (SyntaxError, IndexError):
                continue
            return statement.value if isinstance(statement, ast.Expr) else statement
        return None

    @functools.cached_property
    def _within(self) -> ast.AST | None:
        """The failing node among the function's statements: an assignment shows more than its target."""
        if self.scope is None or self._columns is None:
            return None
        first, last, start, end = self._columns
        for node in ast.walk(self.scope):
            if isinstance(node, (ast.expr, ast.AugAssign, ast.Assign)) and (first, last, start, end) == (
                node.lineno,
                node.end_lineno,
                node.col_offset,
                node.end_col_offset,
            ):
                return self._assignment_of(node)
        return None

    def _assignment_of(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.Subscript, ast.Attribute, ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
            for statement in ast.walk(self.scope):  # type: ignore[arg-type]
                if isinstance(statement, ast.Assign) and node in statement.targets:
                    return statement
        return node

    @functools.cached_property
    def statement(self) -> ast.stmt | None:
        """The statement that failed."""
        if self.scope is None or self._columns is None:
            return None
        first, last, start, end = self._columns
        inside = [
            node
            for node in ast.walk(self.scope)
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return))
            and (node.lineno, node.col_offset) <= (first, start)
            and (last, end) <= (node.end_lineno or 0, node.end_col_offset or 0)
        ]
        return inside[-1] if inside else None

    @functools.cached_property
    def scope(self) -> ast.AST | None:
        """The function's own statements, at the lines and columns of its file; None in PyTorch and in Python's own."""
        if self.in_library and not self.in_third_party:
            return None
        return scope(self.frame.f_code, self.globals)


def _runs(attribute: object, code: types.CodeType) -> bool:
    """Tell whether a class's attribute is a method that runs `code`; a script's `def train(model)` is not."""
    if type(attribute) is not types.FunctionType:
        return True  # a property, or what a decorator made
    return any(function.__code__ is code for function in classes.wrapped(attribute)) or code.co_varnames[0] == "self"


def lines_of(code: types.CodeType, globals_: dict[str, Any]) -> list[str]:
    """Return the lines of the file that holds `code`; none for a file that was changed since it was imported.

    From Python 3.13 on, the program of `python -c` stands for each file called <string>: it is of its own module only.
    """
    file = plain(code.co_filename)
    if file == "<string>" and globals_.get("__name__") != "__main__":
        return []
    lines = source.lines(file, globals_)
    return lines if _hold(lines, code) else []


def _hold(lines: list[str], code: types.CodeType) -> bool:
    """Tell whether `code` is still where it was compiled: its last line is there, and the first has its name."""
    first, last = _extent(code)
    if len(lines) < last:
        return False
    name = plain(code.co_name)
    if name.startswith("<"):  # a module, a lambda, a comprehension
        return True
    header = re.compile(rf"\s*(async\s+def|def|class)\s+{re.escape(name)}\b")
    begins = lines[first - 1]
    if begins.lstrip().startswith("@"):
        return any(header.match(line) for line in lines[first:last])
    return header.match(begins) is not None


def _extent(code: types.CodeType) -> tuple[int, int]:
    """Return the first line of a function or a module, and the last one that has an instruction."""
    nested = [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    lines = [line for part in (code, *nested) for *_, line in part.co_lines() if line]
    return 1 if plain(code.co_name) == "<module>" else code.co_firstlineno, max(lines, default=code.co_firstlineno)


def scope(code: types.CodeType, globals_: dict[str, Any]) -> ast.AST | None:
    """Parse the statements of a function or a module, at the lines and columns of its file, or read its bytecode."""
    lines = lines_of(code, globals_)
    if not lines:
        return statements(code)
    first, last = _extent(code)
    if plain(code.co_name) == "<module>":
        last = len(lines)
    # A last statement of several lines ends below the last line that has an instruction.
    return _parsed("".join(lines[first - 1 : last]), tuple(lines[last : last + 11]), first)


@functools.lru_cache(maxsize=512)  # in a session of pytest, many tests fail below the same frames
def _parsed(body: str, below: tuple[str, ...], first: int) -> ast.AST | None:
    """Parse the text of a function with as many lines below it as its last statement takes. Not to be changed."""
    is_indented = body.partition("\n")[0].rstrip()[:1].isspace()
    for more in range(len(below) + 1):
        text = body + "".join(below[:more])
        try:
            tree = ast.parse("if 1:\n" + text if is_indented else text)
        except SyntaxError:
            continue
        ast.increment_lineno(tree, first - 1 - (1 if is_indented else 0))
        return tree
    return None


def calls(error: BaseException) -> list[Call]:
    """Return the frames that lead to `error`, outermost first, without the simulation's and PyTorch's plumbing."""
    return [call for call in _walk(exceptions.traceback(error)) if not _is_plumbing(call)]


def _walk(traceback: types.TracebackType | None) -> Iterator[Call]:
    while traceback is not None:
        yield Call(traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno)
        traceback = traceback.tb_next


def _is_plumbing(call: Call) -> bool:
    return (
        is_ours(call.file)
        or call.file.endswith(_PLUMBING)
        or call.function in ("__torch_function__", "__torch_dispatch__")
    )
