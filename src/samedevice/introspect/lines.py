"""A line of code that a text shows, as Python's own parser reads it: also one that was cut, or begins in its middle.

docs/assets/doctor/lines.js reads the same lines in the browser, into a tree of the same names. Nothing is run.
"""

import ast
import functools
import re
import warnings
from dataclasses import dataclass
from itertools import accumulate

_LONGEST = 2_000  # characters that are read
_DEEPEST = 60  # expressions within expressions, and brackets within brackets
_DIGITS = "[0-9](?:_?[0-9])*"
# The JavaScript has the same expression. Quotation marks that are missing and `*?` before an end keep it linear.
_TOKEN = re.compile(
    r"(?P<text>(?:[bB][rR]?|[rR][bBfF]?|[fF][rR]?|[uU])?(?:\"\"\"(?:[^\\]|\\.|\\\Z)*?(?:\"\"\"|\Z)"
    r"|'''(?:[^\\]|\\.|\\\Z)*?(?:'''|\Z)|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?))"
    r"|(?P<name>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*)|(?P<comment>#[^\n]*)"
    r"|(?P<number>0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+"
    rf"|(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][-+]?{_DIGITS})?[jJ]?)"
    r"|(?P<sign>(?:\*\*|//|>>|<<|[-+*/%@&|^])=|->|:=|==|!=|<=|>=|\*\*|//|<<|>>|\.\.\.|[-+*/%@&|^~<>=,.:;()\[\]{}])",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\[\\\"']|\\(?!\n)")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPENING = {")": "_(", "]": "[", "}": "{"}  # what is put before a text; a bracket like the first is a call's
_HEADS = ("for", "while", "if", "with", "async")  # a statement that another follows, which a traceback does not show
_NO_END = ("and", "or", "not", "in", "is", "if", "else", "for", "lambda", "await", "async", "return", "yield", "from")
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert, ast.Raise, ast.Delete)
_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith)
_STATEMENTS = (*_SIMPLE, *_COMPOUND, ast.Pass, ast.Break, ast.Continue)


@dataclass(frozen=True, eq=False)
class Line:
    """A line of code, or the lines of one statement.

    Attributes:
        text: as it was shown.
        tree: its statements. Formatted texts have no values, and texts an underscore for each sign of an escape.
        read: what was parsed, which is the text and what completes it.
        shift: where `read` begins in the text; less than 0 if something was put before the text.
        end: how far the text is certain. What ends behind it might go on where the text was cut.
    """

    text: str
    tree: ast.Module
    read: str
    shift: int
    end: int

    @functools.cached_property
    def _lines(self) -> list[tuple[int, str]]:
        """Each line that was parsed, and where it begins in the text."""
        lines = self.read.split("\n")
        return list(zip(accumulate((len(line) + 1 for line in lines), initial=self.shift), lines, strict=False))

    @functools.cached_property
    def counters(self) -> set[str]:
        """The names that its loops give numbers or texts: `i` of `for i in range(3)`, `k` of `for k in ("a", "b")`."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                found |= {name.id for name in ast.walk(_counted(node.target, node.iter)) if isinstance(name, ast.Name)}
        return found

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where an expression stands in the text, in characters; an end beyond the text was cut off."""
        place = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return self._place(*place[:2]), self._place(*place[2:])

    def _place(self, line: int, column: int) -> int:
        start, text = self._lines[line - 1]
        return start + (column if text.isascii() else len(text.encode()[:column].decode()))

    def text_of(self, node: ast.AST) -> str:
        """Return an expression as the text has it."""
        start, end = self.span(node)
        return self.text[max(0, start) : max(0, end)]

    def is_whole(self, node: ast.AST) -> bool:
        """Tell whether all of an expression certainly stands in the text."""
        start, end = self.span(node)
        return 0 <= start <= end <= self.end


def read_line(text: str) -> Line | None:
    """Read a line of code, or the lines of one statement; None where it is not code.

    A line that defines or imports something is not read, nor is the block of a loop on lines of its own.

    Example:
        >>> line = read_line("x = self.embed(torch.arange(T), y[")
        >>> [line.text_of(node) for node in ast.walk(line.tree) if isinstance(node, ast.Call)]
        ['self.embed(torch.arange(T), y[', 'torch.arange(T)']
    """
    text = text[:_LONGEST]
    shift = 2 if text.startswith("elif ") else 0
    before, body, after = _completed(text[shift:])
    for parts in [("", text[shift:], ""), (before, body, after)]:
        tree = None if shift and parts[0] else _parsed("".join(parts))
        if tree is not None:
            before, body, after = parts
            # What was left out behind the body: nothing in the body was cut, unless an attribute or an item follows it.
            rest = text[shift + len(body) :].lstrip()
            is_cut = (after and shift + len(body) == len(text)) or rest.startswith((".", "["))
            return Line(text, tree, "".join(parts), shift - len(before), shift + len(body) - bool(is_cut))
    return None


def _counted(target: ast.expr, over: ast.expr) -> ast.expr:
    """Return what of a loop's variables gets numbers or texts; an empty tuple for none."""
    match target, over:
        case _, ast.Call(func=ast.Name(id="range")):
            return target
        case ast.Tuple(elts=[first, *_]), ast.Call(func=ast.Name(id="enumerate")):
            return first
        case _, ast.Tuple(elts=items) | ast.List(elts=items) if all(isinstance(item, ast.Constant) for item in items):
            return target
    return ast.Tuple([])


def _completed(text: str) -> tuple[str, str, str]:
    """Complete a text that was cut: what has to stand before it, what of it can be read, and what has to follow."""
    tokens = [match for match in _TOKEN.finditer(text) if match["comment"] is None]
    begun = bool(tokens) and tokens[-1][0] == ","
    while tokens and _is_no_end(tokens[-1]):
        if tokens.pop()[0] == "=" and len(tokens) > 1 and tokens[-1]["name"] and tokens[-2][0] in ("(", ","):
            tokens.pop()  # the name of an argument that was cut off
    if not tokens:
        return "", "", ""
    before, opened = "", []
    for index, sign in enumerate(match["sign"] for match in tokens):
        if sign in _CLOSING:
            opened.append(index)
        elif sign in _OPENING and opened:
            opened.pop()
        elif sign in _OPENING:
            before = _OPENING[sign] + before
    closing = "".join(_CLOSING[tokens[index][0]] for index in reversed(opened))
    # `f((a, ` begins a tuple, and `f((a))` has none.
    is_a_tuple = begun and closing[:1] == ")" and (opened[-1] == 0 or not _is_an_end(tokens[opened[-1] - 1]))
    after = _missing_quotes(tokens[-1]["text"] or "") + "," * is_a_tuple + closing
    return before, text[: tokens[-1].end()], after + (": pass" if tokens[0][0] in _HEADS else "")


def _is_no_end(token: "re.Match[str]") -> bool:
    """Tell whether no expression ends with this, so that what follows it was cut off."""
    sign = token["sign"]
    return token[0] in (*_NO_END, "[") or (sign not in (None, "...", *_OPENING, *_CLOSING))


def _is_an_end(token: "re.Match[str]") -> bool:
    """Tell whether a bracket behind this is a call's, or an index."""
    return token["sign"] in (")", "]", "}") or bool(token["text"]) or bool(token["name"] and token[0] not in _NO_END)


def _missing_quotes(text: str) -> str:
    """Return the quotation marks that end a text, unless it has them."""
    text = re.sub(r"\\.", "__", text.lstrip("rbufRBUF"), flags=re.DOTALL)
    quotes = text[:3] if text[:3] in ('"""', "'''") else text[:1]
    return "" if len(text) >= 2 * len(quotes) and text.endswith(quotes) else quotes


def _parsed(text: str) -> ast.Module | None:
    brackets = [match["sign"] for match in _TOKEN.finditer(text)]
    nesting = accumulate((sign in _CLOSING) - (sign in _OPENING) for sign in brackets)
    if max(nesting, default=0) > _DEEPEST or "\r" in text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a number such as `1if`, which is the reader's
            tree = ast.parse(_TOKEN.sub(_without_escapes, text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            node.values = []
    return tree if _depth(tree) <= _DEEPEST and _is_read(tree, text.split("\n")) else None


def _without_escapes(token: "re.Match[str]") -> str:
    """Return a token for the parser, which is not to read what stands in a text: Pythons differ in formatted ones."""
    if token["text"] is None:
        return token[0]
    text = _ESCAPE.sub(lambda escape: "_" * len(escape[0]), token[0])
    is_formatted = "f" in re.split("[\"']", text, maxsplit=1)[0].lower()
    return re.sub("[{}]", "_", text) if is_formatted else text


def _is_read(tree: ast.Module, lines: list[str]) -> bool:
    """Tell whether there are statements, all of a kind that is read, and each but the first in the line of another."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return bool(statements) and not any(
        not isinstance(statement, _STATEMENTS)
        or getattr(statement, "orelse", None)
        or (index and not lines[statement.lineno - 1].encode()[: statement.col_offset].strip())
        for index, statement in enumerate(statements)
    )


def _depth(tree: ast.Module) -> int:
    """Count how many expressions stand within each other; no further than is read."""
    depth, nodes = 0, list(ast.iter_child_nodes(tree))
    while nodes and depth <= _DEEPEST:
        depth += any(isinstance(node, ast.expr) for node in nodes)
        nodes = [inner for node in nodes for inner in ast.iter_child_nodes(node)]
    return depth
