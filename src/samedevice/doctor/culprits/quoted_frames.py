"""Frames that are gone, of which a message quotes the text: those of a worker process, and of a replica.

PyTorch raises their errors again in the main process. What ran there is read from the source.
"""

import ast
import re
import textwrap
from collections.abc import Iterator

from samedevice.doctor.edits import Source
from samedevice.introspect.expressions import placed
from samedevice.introspect.libraries import is_library
from samedevice.introspect.source import lines as lines_of_file

_FRAME = re.compile(r'^ *File "([^"\n]+)", line (\d+), in (\S+)', re.MULTILINE)
_LONGEST = 40  # lines of a function below the quoted one


def last_quoted_function(text: str) -> tuple[ast.FunctionDef, int, Source] | None:
    """Return the function of the innermost frame that a text quotes of the user's files, the line, and the file."""
    for file, line, name in reversed(_FRAME.findall(text)):
        if not is_library(file):
            source = Source(file, name, lines_of_file(file, {}))
            function = _function_at(source.lines, int(line), name)
            return (function, int(line), source) if function is not None else None
    return None


def nodes_at(function: ast.AST, line: int) -> Iterator[ast.Name | ast.Call]:
    """Yield the names and calls of a function that stand in a line."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Name, ast.Call)) and node.lineno <= line <= (node.end_lineno or 0):
            yield node


def _function_at(lines: list[str], line: int, name: str) -> ast.FunctionDef | None:
    """Parse the function of that name that begins above a line, at the lines of its file."""
    for first in range(min(line, len(lines)) - 1, -1, -1):
        if re.match(rf"\s*(async )?def {re.escape(name)}\b", lines[first]):
            tree = _parsed(lines[first:], line - first)
            indent = len(lines[first]) - len(lines[first].lstrip())
            return placed(tree, first, indent) if tree is not None else None  # type: ignore[return-value]
    return None


def _parsed(lines: list[str], at_least: int) -> ast.FunctionDef | None:
    for last in range(at_least, min(len(lines), at_least + _LONGEST) + 1):
        try:
            tree = ast.parse(textwrap.dedent("".join(lines[:last]))).body[0]
        except SyntaxError:
            continue
        return tree if isinstance(tree, ast.FunctionDef) else None
    return None
