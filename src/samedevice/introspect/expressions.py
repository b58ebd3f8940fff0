"""Expressions of the source as text, and text as expressions."""

import ast
import io
import tokenize
from dataclasses import dataclass

# Python 3.12 splits an f-string into several tokens; before, it is one string.
_FSTRING_START = getattr(tokenize, "FSTRING_START", None)
_FSTRING_END = getattr(tokenize, "FSTRING_END", None)


@dataclass(frozen=True)
class Expression:
    """An expression of a program: its syntax tree, and its text as most people write it.

    Example:
        >>> Expression.of(parsed("batch['labels']")).text
        'batch["labels"]'
    """

    node: ast.expr
    text: str

    @classmethod
    def of(cls, node: ast.expr) -> "Expression":
        """Print the expression that a syntax tree stands for."""
        return cls(node, text_of(node))

    @classmethod
    def parse(cls, text: str) -> "Expression":
        """Parse a text. One that is no expression becomes a name that no program has, so it stands for nothing."""
        node = parsed(text)
        return cls(node if isinstance(node, ast.expr) else ast.Name(text, ast.Load()), text)


def text_of(node: ast.AST) -> str:
    """Print an expression or a statement, with the double quotation marks that most people write.

    Example:
        >>> print(text_of(parsed("batch['labels']")))
        batch["labels"]

    `ast.unparse` prefers single ones. A string that holds a double quotation mark or a backslash keeps its own.
    """
    text = ast.unparse(node)
    if "'" not in text:
        return text
    lines = text.splitlines(keepends=True)
    for start, end in reversed(_single_quoted(text)):
        line = lines[start[0] - 1]
        if start[0] == end[0] and not {'"', "\\"} & {*line[start[1] + 1 : end[1] - 1]}:
            lines[start[0] - 1] = f'{line[: start[1]]}"{line[start[1] + 1 : end[1] - 1]}"{line[end[1] :]}'
    return "".join(lines)


def _single_quoted(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where each string in single quotation marks begins and ends: (line, column) of its marks."""
    found = []
    begun: list[tuple[int, int] | None] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        prefix = len(token.string) - len(token.string.lstrip("rRbBuUfF"))
        begin = (token.start[0], token.start[1] + prefix)
        if token.type == tokenize.STRING and token.string[prefix:].startswith("'"):
            if not token.string[prefix:].startswith("'''"):
                found.append((begin, token.end))
        elif token.type == _FSTRING_START:
            begun.append(begin if token.string.endswith("'") and not token.string.endswith("'''") else None)
        elif token.type == _FSTRING_END:
            start = begun.pop()
            if start is not None:
                found.append((start, token.end))
    return sorted(found)


def placed(tree: ast.AST, lines: int, columns: int) -> ast.AST:
    """Shift a syntax tree, in place, to where its text stands in its file; return it.

    Args:
        tree: parsed from some of the file's lines, without their indent.
        lines: how many lines of the file stand above them.
        columns: the indent that they have in the file.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt, ast.keyword, ast.arg)):
            node.lineno += lines
            node.col_offset += columns
            if node.end_lineno is not None and node.end_col_offset is not None:
                node.end_lineno += lines
                node.end_col_offset += columns
    return tree


def parsed(text: str) -> ast.AST:
    """Parse the expression that a text is; `ast.Pass()` for any other text.

    Example:
        >>> ast.dump(parsed("batch"))
        "Name(id='batch', ctx=Load())"
    """
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):  # ValueError: a null character
        return ast.Pass()
