"""Where a line to change goes: edits of the program's own lines, which keep all else that stands there."""

import ast
import types
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from samedevice.introspect.frames import Call, lines_of
from samedevice.introspect.libraries import is_library


@dataclass(frozen=True)
class Edit:
    """A change of one line of the program that a machine can apply.

    Attributes:
        file: the file, as Python has it in tracebacks.
        line: the number of the line, from 1.
        action: "replace" puts the text in the place of that line, "before" puts it above.
        text: the new line, or lines, without the indent of the line that is there; "" removes it.
        function: the function that the line is in; "<module>" for none.
    """

    file: str
    line: int
    action: Literal["replace", "before"]
    text: str
    function: str


@dataclass(frozen=True)
class Change:
    """What to change: a line to read, and the edits that make it where that is known.

    Attributes:
        text: the line, or advice in a few words.
        edits: the edits; empty for advice.
    """

    text: str
    edits: tuple[Edit, ...] = ()

    def __add__(self, other: "Change | None") -> "Change":
        """Join the edits of another change to this one."""
        return replace(self, edits=merged([*self.edits, *other.edits])) if other is not None else self


@dataclass(frozen=True)
class Source:
    """The lines of the file that a function stands in; none for a library's, and where there is no source."""

    file: str
    function: str
    lines: list[str]

    @classmethod
    def of(cls, code: types.CodeType, globals_: dict[str, object]) -> "Source":
        """Read the lines of the function or the module whose code this is."""
        lines = [] if is_library(code.co_filename) else lines_of(code, globals_)
        return cls(code.co_filename, code.co_name, lines)

    @classmethod
    def of_call(cls, call: Call) -> "Source":
        """Read the lines of a frame's file."""
        return cls.of(call.frame.f_code, call.frame.f_globals)

    @classmethod
    def of_method(cls, method: types.FunctionType) -> "Source":
        """Read the lines of a function's file."""
        return cls.of(method.__code__, method.__globals__)

    def replaced(self, nodes: Iterable[tuple[ast.AST, str]]) -> tuple[Edit, ...]:
        """Put text in the place of expressions or statements.

        Arguments:
            nodes: each with its text, at the lines and columns of the file; none within another.
        """
        changed: dict[int, str] = {}
        for node, text in sorted(nodes, key=lambda pair: _start(pair[0]), reverse=True):
            (first, start), (last, end) = _start(node), _end(node)
            if not 0 < first <= last <= len(self.lines):
                return ()
            above = changed.get(first, self.lines[first - 1]).encode()
            below = changed.get(last, self.lines[last - 1]).encode()
            changed[first] = (above[:start] + text.encode() + below[end:]).decode(errors="replace")
            changed |= {line: "" for line in range(first + 1, last + 1)}
        return tuple(self._edit(line, "replace", text.strip()) for line, text in sorted(changed.items()))

    def before(self, statement: ast.stmt, text: str) -> tuple[Edit, ...]:
        """Put a line above a statement, if the statement begins its line."""
        if not self.begins_its_line(statement):
            return ()
        return (self._edit(statement.lineno, "before", text),)

    def after(self, statement: ast.stmt, text: str) -> tuple[Edit, ...]:
        """Put a line below a statement, if the statement is all of one line."""
        if not self.begins_its_line(statement) or statement.end_lineno != statement.lineno:
            return ()
        line = self.lines[statement.lineno - 1].strip()
        return (self._edit(statement.lineno, "replace", f"{line}\n{text}"),)

    def begins_its_line(self, statement: ast.stmt) -> bool:
        """Tell whether nothing but an indent stands before a statement in its line."""
        if not 0 < statement.lineno <= len(self.lines):
            return False
        line = self.lines[statement.lineno - 1]
        return not line.encode()[: statement.col_offset].strip() and not line.lstrip().startswith("elif ")

    def _edit(self, line: int, action: Literal["replace", "before"], text: str) -> Edit:
        return Edit(self.file, line, action, text, self.function)


def statement_of(call: Call) -> ast.stmt | None:
    """Return the statement that failed, or the head of the loop or the condition that did."""
    if call.statement is not None:
        return call.statement
    best = None
    for node in ast.walk(call.scope) if call.scope is not None else ():
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            body = getattr(node, "body", None)
            head = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno
            if node.lineno <= call.line <= max(head or 0, node.lineno):
                best = node
    return best


def merged(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return edits without those that stand twice, and without a second one of a line that is replaced."""
    kept: dict[tuple[object, ...], Edit] = {}
    for edit in edits:
        key = (edit.file, edit.line, edit.action, edit.text if edit.action == "before" else "")
        kept.setdefault(key, edit)
    return tuple(kept.values())


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0
