"""A small reader of Python expressions, for the line of code that a traceback shows.

Python's own parser is not used, because docs/assets/doctor/expressions.js reads the same lines in the browser in the
same way, and because a line may be cut off, or be only the first of several. Whatever it is given, it returns
something.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST = 2_000  # characters that are read
_DEEPEST = 40  # brackets within brackets
_MOST = 300  # operators, attributes, calls and subscripts, each of which may go one deeper
_TOKEN = re.compile(
    r"(?P<text>[rbufRBUF]{0,2}(?:\"\"\"|'''|\"(?:[^\"\\\n]|\\.){0,500}(?:\"|\Z)|'(?:[^'\\\n]|\\.){0,500}(?:'|\Z)))"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?[0-9][\w.]*)|(?P<comment>#[^\n]*)"
    r"|(?P<sign>(?:\*\*|//|>>|<<|[-+*/%@&|^])=|->|:=|==|!=|<=|>=|\*\*|//|<<|>>|\.\.\.|[-+*/%@&|^~<>=,.:;()\[\]{}])",
    re.ASCII,
)
_BINDING = {
    "or": 1, "and": 2, "in": 4, "not": 4, "is": 4, "==": 4, "!=": 4, "<": 4, ">": 4, "<=": 4, ">=": 4,
    "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "@": 10, "**": 12,
}  # fmt: skip
_UNARY = 11  # binds tighter than `*`, looser than `**`
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BEFORE_AN_EXPRESSION = ("return", "yield", "await", "assert", "raise", "if", "elif", "while", "del", "with", "from")
_NO_VALUE = ("for", "if", "else", "async", "as", "lambda")  # names that no expression begins with


@dataclass(frozen=True, eq=False)
class Node:
    """An expression.

    Attributes:
        kind: "name", "attribute", "call", "subscript", "operator", "unary", "literal", "group" (of brackets without a
            name before them: a list, a tuple, a dict, a comprehension) or "other".
        start, end: where it stands in the line.
        name: a name; the last name of an attribute; the sign of an operator; "for" of a comprehension.
        parts: of an attribute its object; of a call the function and the arguments; of a subscript the object and what
            is in the brackets; of an operator both sides; of a group its items.
        keywords: of a call, the names of the arguments; "" for those without.
    """

    kind: str
    start: int
    end: int
    name: str = ""
    parts: tuple["Node", ...] = ()
    keywords: tuple[str, ...] = ()

    def walk(self) -> Iterator["Node"]:
        """Yield the expression and all in it, the outermost first."""
        left = [self]
        while left:
            node = left.pop()
            yield node
            left.extend(reversed(node.parts))


@dataclass(frozen=True)
class Statement:
    """A line, as `targets` `sign` `value`: the sign is "=", "+=" and the like, "in" of a loop, or ""."""

    text: str
    targets: tuple[Node, ...]
    sign: str
    value: Node

    def text_of(self, node: Node) -> str:
        """Return an expression as the line has it."""
        return self.text[node.start : node.end]


@functools.lru_cache(maxsize=64)  # the lines of a paste are asked for more than once
def read_statement(text: str) -> Statement:
    """Read a line of code, or the lines of one statement."""
    text = text[:_LONGEST]
    return _Reader(text).statement()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [
            (match.lastgroup or "", match[0], match.start())
            for match in _TOKEN.finditer(text)
            if match["comment"] is None
        ]
        self._at = 0
        self._depth = 0
        self._made = 0

    def statement(self) -> Statement:
        is_loop = self._skip("for")
        while not is_loop and self._sign() in _BEFORE_AN_EXPRESSION:
            self._at += 1
        targets: list[Node] = []
        value = self._items(("in",) if is_loop else ())
        sign = ""
        while self._sign() == "=" or (self._sign()[-1:] == "=" and self._sign()[:-1] in _BINDING and not sign):
            sign = self._sign()
            self._at += 1
            targets.append(value)
            value = self._items()
        if self._sign() == ":" and not is_loop:  # `x: Tensor = ...`
            self._at += 1
            annotation = self._items()
            if self._sign() == "=" and annotation.end > annotation.start:
                self._at += 1
                targets, sign, value = [value], "=", self._items()
        if is_loop and self._skip("in"):
            targets, sign, value = [value], "in", self._items()
        return Statement(self._text, tuple(targets), sign, value)

    def _items(self, stop: tuple[str, ...] = ()) -> Node:
        """Read expressions between commas; more than one are a group."""
        start = self._start()
        items = [self._expression(0, stop)]
        while self._skip(","):
            if self._kind() == "" or self._sign() in ("=", ":", ")", "]", "}", *stop):
                break
            items.append(self._expression(0, stop))
        return items[0] if len(items) == 1 else Node("group", start, items[-1].end, "", tuple(items))

    def _expression(self, binding: int, stop: tuple[str, ...] = ()) -> Node:
        self._depth += 1
        node = self._operand(stop)
        while self._goes_on():
            sign = self._sign()
            if sign in stop or _BINDING.get(sign, 0) <= binding:
                break
            self._at += 1
            self._made += 1
            if (sign, self._sign()) in (("not", "in"), ("is", "not")):
                self._at += 1
            right = self._expression(_BINDING[sign] - (sign == "**"), stop)
            node = Node("operator", node.start, right.end, sign, (node, right))
        if binding == 0 and self._sign() == "if" and self._kind() == "name" and self._depth < _DEEPEST:
            self._at += 1
            parts = [node, self._expression(0)]
            if self._skip("else"):
                parts.append(self._expression(0))
            node = Node("other", node.start, parts[-1].end, "if", tuple(parts))
        self._depth -= 1
        return node

    def _operand(self, stop: tuple[str, ...]) -> Node:
        start = self._start()
        kind, text, _ = self._tokens[self._at] if self._at < len(self._tokens) else ("", "", 0)
        if self._depth > _DEEPEST:
            return Node("other", start, start)
        if text in ("-", "+", "~", "not", "*", "**", "await"):
            self._at += 1
            part = self._expression(3 if text == "not" else _UNARY, stop)
            return Node("unary", start, part.end, text, (part,))
        if kind == "name" and text not in _NO_VALUE and text not in stop:
            self._at += 1
            if text in ("None", "True", "False"):
                return self._rest(Node("literal", start, self._end(), text))
            return self._rest(Node("name", start, self._end(), text))
        if kind in ("text", "number") or text == "...":
            self._at += 1
            while self._kind() == "text":  # "a" "b"
                self._at += 1
            return self._rest(Node("literal", start, self._end(), text))
        if text in _CLOSING:
            items, name = self._brackets(_CLOSING[text])
            inner = items[0] if text == "(" and len(items) == 1 and not name else None
            if inner is not None and self._text[inner.end : self._end()].strip() == ")":
                node = Node(inner.kind, inner.start, inner.end, inner.name, inner.parts, inner.keywords)
                return self._rest(node, start)
            return self._rest(Node("group", start, self._end(), name, tuple(items)))
        if text == "lambda":
            while self._kind() and self._sign() not in (":", ")", "]", "}"):
                self._at += 1
            if self._skip(":"):
                body = self._expression(0, stop)
                return Node("other", start, body.end, "lambda", (body,))
        return Node("other", start, start)

    def _rest(self, node: Node, start: int | None = None) -> Node:
        """Read the attributes, calls and subscripts that follow an expression."""
        begin = node.start if start is None else start
        is_bracketed = start is not None
        while self._goes_on():
            sign = self._sign()
            if sign == "." and self._kind(1) == "name":
                self._at += 2
                node = Node("attribute", begin, self._end(), self._tokens[self._at - 1][1], (node,))
            elif sign == "(":
                items, keywords = self._arguments()
                node = Node("call", begin, self._end(), "", (node, *items), tuple(keywords))
            elif sign == "[":
                items, _ = self._brackets("]")
                node = Node("subscript", begin, self._end(), "", (node, *items))
            else:
                break
            self._made += 1
            is_bracketed = False
        # Brackets round the whole belong to it: `(a + b)`.
        return Node(node.kind, begin, self._end(), node.name, node.parts, node.keywords) if is_bracketed else node

    def _arguments(self) -> tuple[list[Node], list[str]]:
        items: list[Node] = []
        keywords: list[str] = []
        self._at += 1
        self._depth += 1
        while self._kind() and not self._skip(")") and self._depth < _DEEPEST:
            begin = self._at
            keyword = ""
            if self._kind() == "name" and self._sign(1) == "=":
                keyword = self._sign()
                self._at += 2
            items.append(self._expression(0))
            keywords.append(keyword)
            self._skip_a_comprehension(")")
            self._skip(",")
            self._at += self._at == begin  # what cannot be read is left out
        self._depth -= 1
        return items, keywords

    def _brackets(self, closing: str) -> tuple[list[Node], str]:
        """Read what is in brackets: the items, and "for" where it is a comprehension."""
        items: list[Node] = []
        name = ""
        self._at += 1
        self._depth += 1
        while self._kind() and not self._skip(closing) and self._depth < _DEEPEST:
            begin = self._at
            if self._sign() not in (",", ":"):
                items.append(self._expression(0))
            if self._skip_a_comprehension(closing):
                name = "for"
            while self._sign() in (",", ":", ":=", "="):
                self._at += 1
            self._at += self._at == begin
        self._depth -= 1
        return items, name

    def _skip_a_comprehension(self, closing: str) -> bool:
        if self._sign() not in ("for", "async") or self._kind() != "name":
            return False
        depth = 0
        while self._kind():
            sign = self._sign()
            if depth == 0 and sign == closing:
                break
            depth += (sign in _CLOSING) - (sign in _CLOSING.values())
            self._at += 1
        return True

    def _goes_on(self) -> bool:
        """Tell whether the expression may become larger."""
        return self._depth < _DEEPEST and self._made < _MOST

    def _kind(self, ahead: int = 0) -> str:
        return self._tokens[self._at + ahead][0] if self._at + ahead < len(self._tokens) else ""

    def _sign(self, ahead: int = 0) -> str:
        """Return the token, unless it is a text or a number."""
        is_there = self._kind(ahead) in ("sign", "name")
        return self._tokens[self._at + ahead][1] if is_there else ""

    def _skip(self, sign: str) -> bool:
        is_there = self._sign() == sign
        self._at += is_there
        return is_there

    def _start(self) -> int:
        return self._tokens[self._at][2] if self._at < len(self._tokens) else len(self._text)

    def _end(self) -> int:
        _, text, start = self._tokens[self._at - 1]
        return start + len(text)
