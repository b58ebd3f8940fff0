"""Where a line to change goes: edits of the program's own lines, which keep all else that stands there."""

import ast
import re
import sys
import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from samedevice.introspect.frames import Call, lines_of
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain


@dataclass(frozen=True)
class Edit:
    """A change of one line of the program that a machine can apply.

    Attributes:
        file: the file, as Python has it in tracebacks.
        line: the number of the line, from 1.
        action: "replace" puts the text in the place of that line, "before" puts it above.
        text: the new line, or lines, without the indent of the line that is there; "" removes it.
        function: the function that the line is in; "<module>" for none.
        old: the line that is replaced, without its indent; "" for a line that is put above.
    """

    file: str
    line: int
    action: Literal["replace", "before"]
    text: str
    function: str
    old: str = ""


@dataclass(frozen=True)
class Part:
    """A text that takes the place of a piece of a file, or is put above a statement there.

    Attributes:
        source: the file.
        start, end: where the piece begins and ends, as (line, column in bytes); the same for what is put above.
        text: the new text, at the indent of the line.
        is_above: whether it is a line of its own, above `start`.
    """

    source: "Source"
    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    is_above: bool = False

    def clashes(self, other: "Part") -> bool:
        """Tell whether both change the same piece in different ways, or put lines for the same name in one place."""
        if self.source.file != other.source.file or self.is_above != other.is_above or self == other:
            return False
        if self.is_above:
            return self.start == other.start and self.text.partition(" = ")[0] == other.text.partition(" = ")[0]
        return self.start < other.end and other.start < self.end and self.text != other.text


@dataclass(frozen=True)
class Change:
    """What to change: a line to read, and the parts of files that make the change where that is known.

    Attributes:
        text: the line, or advice in a few words.
        parts: the parts; empty for advice.
    """

    text: str
    parts: tuple[Part, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The parts as edits of whole lines."""
        files = {part.source.file: part.source for part in self.parts}
        return tuple(edit for source in files.values() for edit in _edits(source, self.parts))

    @property
    def stands_already(self) -> bool:
        """Whether the program has it as it is: the lines to replace are the same, those to put above stand above."""
        return bool(self.parts) and all(_stands(edit, self.parts) for edit in self.edits)

    def __add__(self, other: "Change") -> "Change":
        """Make another change in the same go, unless it is of the same piece of a file, or of the same name there."""
        if any(part.clashes(mine) for part in other.parts for mine in self.parts):
            return self
        return Change(self.text, (*self.parts, *other.parts))


@dataclass(frozen=True)
class Source:
    """The lines of the file that a function stands in; none for a library's, and where there is no source."""

    file: str
    function: str
    lines: list[str]
    torch: str = "torch"
    nn: str = "nn"

    @classmethod
    def of(cls, code: types.CodeType, globals_: dict[str, object]) -> "Source":
        """Read the lines of the function or the module whose code this is."""
        file = plain(code.co_filename)
        lines = [] if is_library(file) else lines_of(code, globals_)
        local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        return cls(
            file, plain(code.co_name), lines, *(_called(name, globals_, local) for name in ("torch", "torch.nn"))
        )

    @classmethod
    def of_call(cls, call: Call) -> "Source":
        """Read the lines of a frame's file."""
        return cls.of(call.frame.f_code, call.globals)

    @classmethod
    def of_method(cls, method: types.FunctionType) -> "Source":
        """Read the lines of a function's file."""
        return cls.of(method.__code__, globals_of(method))

    def named(self, text: str) -> str:
        """Write code with the file's own names of torch and of torch.nn: `th.zeros(3)` after `import torch as th`."""
        if (self.torch, self.nn) == ("torch", "nn"):
            return text
        text = re.sub(r"(?<![\w.\"'])(?:torch\.)?nn\.(?=[A-Z])", f"{self.nn}.", text)
        return re.sub(r"(?<![\w.\"'])torch\.(?!nn\b)", f"{self.torch}.", text)

    def replaced(self, node: ast.AST, text: str) -> tuple[Part, ...]:
        """Put a text in the place of an expression or a statement, at its lines and columns of the file."""
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0
        if not 0 < first <= last <= len(self.lines):
            return ()
        return (Part(self, (first, node.col_offset), (last, node.end_col_offset), self.named(text)),)  # type: ignore[attr-defined]

    def after(self, node: ast.expr, text: str) -> tuple[Part, ...]:
        """Put a text right behind an expression, such as `.to(device)`."""
        last, end = node.end_lineno or 0, node.end_col_offset or 0
        return (Part(self, (last, end), (last, end), text),) if 0 < last <= len(self.lines) else ()

    def passed_to(self, assignment: ast.Assign, head: str, tail: str) -> tuple[Part, ...]:
        """Write `head` in the place of `x = `, and `tail` behind the value: `self.register_buffer("x", ...)`."""
        start, value = (assignment.lineno, assignment.col_offset), assignment.value
        if value.lineno != assignment.lineno or not 0 < assignment.lineno <= (assignment.end_lineno or 0) <= len(
            self.lines
        ):
            return ()
        line = self.lines[assignment.lineno - 1].encode()
        between = line[assignment.col_offset : value.col_offset]
        sign = between.rfind(b"=")
        begin = assignment.col_offset + sign + 1 + len(between[sign + 1 :]) - len(between[sign + 1 :].lstrip())
        end = (assignment.end_lineno or 0, assignment.end_col_offset or 0)
        return (Part(self, start, (assignment.lineno, begin), self.named(head)), Part(self, end, end, tail))

    def with_keyword(self, call: ast.Call, name: str, text: str) -> tuple[Part, ...]:
        """Give a call another argument, or another value for that argument, and leave the rest as it is written.

        It is () where a comment stands behind the last argument, or where there is no source.
        """
        for keyword in call.keywords:
            if keyword.arg == name:
                return self.replaced(keyword.value, text)
        last, stop = call.end_lineno or 0, (call.end_col_offset or 0) - 1
        if not 0 < call.lineno <= last <= len(self.lines):
            return ()
        passed = [*call.args, *(keyword.value for keyword in call.keywords)]
        before = passed[-1] if passed else call.func
        first, begin = before.end_lineno or 0, before.end_col_offset or 0
        if passed and len(passed) == 1 and isinstance(before, ast.GeneratorExp):
            return ()  # it would need brackets of its own
        rows = [line.encode() for line in self.lines[first - 1 : last]]
        rows[-1] = rows[-1][:stop]
        between = b"".join(rows)[begin:]
        if b"#" in between or self.lines[last - 1].encode()[stop : stop + 1] != b")":
            return ()
        kept = between.rstrip()
        above = kept.rpartition(b"\n")[0]
        line = first + kept.count(b"\n")
        column = begin + len(kept) if line == first else len(kept) - len(above) - 1
        new = f"{name}={self.named(text)}"
        if passed and kept.endswith(b","):
            new = f" {new}," if b"\n" in between[len(kept) :] else f" {new}"
        elif passed:
            new = f", {new}"
        return (Part(self, (line, column), (line, column), new),)

    def above(self, statement: ast.stmt, text: str) -> tuple[Part, ...]:
        """Put a line above a statement, if the statement begins its line."""
        place = (statement.lineno, 0)
        return (Part(self, place, place, self.named(text), is_above=True),) if self.begins_its_line(statement) else ()

    def below(self, statement: ast.stmt, text: str) -> tuple[Part, ...]:
        """Put a line below a statement, if the statement is all of one line."""
        if not self.begins_its_line(statement) or statement.end_lineno != statement.lineno:
            return ()
        end = (statement.lineno, len(self.lines[statement.lineno - 1].rstrip().encode()))
        return (Part(self, end, end, f"\n{self.named(text)}"),)

    def begins_its_line(self, statement: ast.stmt) -> bool:
        """Tell whether nothing but an indent stands before a statement in its line."""
        if not 0 < statement.lineno <= len(self.lines):
            return False
        line = self.lines[statement.lineno - 1]
        return not line.encode()[: statement.col_offset].strip() and not line.lstrip().startswith("elif ")


def _called(module: str, globals_: dict[str, object], local: set[str]) -> str:
    """Return what a file calls torch or torch.nn: the usual name unless it is another's there, and its own is known."""
    usual = module.rpartition(".")[2]
    found = sys.modules.get(module)
    names = [name for name, object_ in list(globals_.items()) if object_ is found and found is not None]
    if usual in names or usual in local or not names:
        return (
            usual
            if usual in names or usual in local or module == "torch"
            else f"{_called('torch', globals_, local)}.nn"
        )
    return names[0]


def _stands(edit: Edit, parts: Iterable[Part]) -> bool:
    if edit.action == "replace":
        return edit.text == edit.old
    source = next(part.source for part in parts if part.source.file == edit.file and part.start[0] == edit.line)
    for line in reversed(source.lines[: edit.line - 1]):
        if line.strip() == edit.text.strip():
            return True  # in a branch that did not run, or in vain
        if line.lstrip().startswith(("def ", "async def ")):
            break
    return False


def _edits(source: Source, parts: Iterable[Part]) -> list[Edit]:
    """Make one edit of each line that the parts change, and of each line that they put above another."""
    here = list(dict.fromkeys((p.start, p.end, p.text, p.is_above) for p in parts if p.source.file == source.file))
    functions = {part.start[0]: part.source.function for part in parts if part.source.file == source.file}
    changed: dict[int, str] = {}
    pieces = sorted((piece[:3] for piece in here if not piece[3]), reverse=True)
    for start, end, text in pieces:
        if any(other[0] <= start and end <= other[1] and other[:2] != (start, end) for other in pieces):
            continue  # a part of it is changed as a whole
        (first, begin), (last, stop) = start, end
        above = changed.get(first, source.lines[first - 1]).encode()
        below = changed.get(last, source.lines[last - 1]).encode()
        changed[first] = (above[:begin] + text.encode() + below[stop:]).decode(errors="replace")
        changed |= {line: "" for line in range(first + 1, last + 1)}
    edits = [
        Edit(source.file, start[0], "before", text, functions[start[0]])
        for start, _, text, is_above in here
        if is_above
    ]
    edits += [
        Edit(
            source.file,
            line,
            "replace",
            text.strip(),
            functions.get(line, source.function),
            source.lines[line - 1].strip(),
        )
        for line, text in changed.items()
    ]
    return sorted(edits, key=lambda edit: (edit.line, edit.action))


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
