"""A line of code is read as Python reads it, also where it was cut, and anything else is no line."""

import ast
import time
from pathlib import Path

import pytest

from samedevice.introspect.lines import read_line

LINES = Path(__file__).with_name("lines_of_python.txt").read_text("utf-8").splitlines()  # some that Python refuses too


def expressions(text):
    line = read_line(text)
    return [line.text_of(node) for node in ast.walk(line.tree) if isinstance(node, ast.expr)]


def whole(text):
    line = read_line(text)
    nodes = [node for node in ast.walk(line.tree) if isinstance(node, ast.expr)]
    return [line.text_of(node) for node in nodes if line.is_whole(node)]


def test_a_whole_line_has_each_expression_as_it_was_written():
    line = "loss = F.mse_loss( self.net(x), y ) + 1"
    names = ["self.net", "x", "self"]
    call = "F.mse_loss( self.net(x), y )"
    assert expressions(line) == ["loss", f"{call} + 1", call, "1", "F.mse_loss", "self.net(x)", "y", "F", *names]
    assert whole(line) == expressions(line)


@pytest.mark.parametrize(
    ("cut", "parts"),
    [
        ("x = f(a, b", ["x", "f", "a"]),  # `b` may be the beginning of `b.to(device)`
        ("x = f(a, b ", ["x", "f", "a", "b"]),
        ("x = f(a, b,", ["x", "f", "a", "b"]),
        ("x = f(a + b) +", ["x", "f(a + b)", "f", "a + b", "a", "b"]),
        ("f(a, weight=", ["f", "a"]),
        ("f(a)[", ["f", "a"]),  # and `f(a)` that of `f(a)[0]`
        ("f(a  # and b", ["f", "a"]),
        ("f(a, 'b", ["f", "a"]),
        ("f(a, '\\'", ["f", "a"]),
        ('f(a, """b', ["f", "a"]),
        ("f(a, {'b': c", ["f", "a", "'b'"]),
        ("ä + f(ö, ü", ["ä", "f", "ö"]),
        ("return a.b(c[0], d[", ["a.b", "c[0]", "a", "c", "0"]),
        ("return a +", ["a"]),
    ],
)
def test_what_stands_before_a_cut_is_whole_but_for_what_may_go_on(cut, parts):
    assert whole(cut) == parts


@pytest.mark.parametrize(
    ("rest", "parts"),
    [
        ("a, b=c) + d", ["d", "a", "c"]),
        ("a + b) * c", ["c", "a + b", "a", "b"]),
        ("a], b", ["b", "a"]),
        ("a)[0], b=c)", ["0", "c", "a"]),
    ],
)
def test_what_stands_behind_a_missing_beginning_is_whole(rest, parts):
    assert whole(rest) == parts


def test_a_bracket_that_was_opened_before_the_text_may_be_a_calls():
    line = read_line("a + b) * c")
    product = line.tree.body[0].value
    assert isinstance(product.left, ast.Call)
    assert line.span(product.left) == (-2, 6)


@pytest.mark.parametrize(
    ("head", "kind", "parts"),
    [
        ("for x, y in loader:", ast.For, ["x, y", "loader", "x", "y"]),
        ("for x in f(y", ast.For, ["x", "f"]),
        ("while x > y:", ast.While, ["x > y", "x", "y"]),
        ("if x > y", ast.If, ["x"]),
        ("elif x > y:", ast.If, ["x > y", "x", "y"]),
        ("with a as b, c:", ast.With, ["a", "b", "c"]),
        ("async for x in y:", ast.AsyncFor, ["x", "y"]),
        ("if x: return y", ast.If, ["x", "y"]),
    ],
)
def test_a_head_is_read_without_what_it_heads(head, kind, parts):
    assert isinstance(read_line(head).tree.body[0], kind)
    assert whole(head) == parts


NO_LINES = [
    "",
    " ",
    "# x",
    "import torch",
    "def f(x):",
    "class A:",
    "@f(x)",
    "print x",
    "else:",
    "try:",
    "global x",
    "x y",
]
NO_LINES += [
    "if x:\n    y",
    "x = 1\ny = 2",
    "if x: y\nelse: z",
    "  x",
    "x\0y",
    "x\ry",
    "x = '\ud800'",
    "1abc",
    "$x",
    "x?y",
]
NO_LINES += ["match x:\n    case 1: pass", "f(a=1, b)", "f() = 1", "x = 'a\nb'", "b'ä'", "'a' b'b'", "0777"]


@pytest.mark.parametrize("text", NO_LINES)
def test_anything_else_is_no_line(text):
    assert read_line(text) is None


def test_lines_in_brackets_are_one():
    assert expressions("x = f(a,  # one\n      ü, b)")[1:] == ["f(a,  # one\n      ü, b)", "f", "a", "ü", "b"]


def test_places_are_characters_whatever_stands_before():
    text = 'print("\U0001f525 ä", ü + x)'
    line = read_line(text)
    spans = [line.span(node) for node in ast.walk(line.tree) if isinstance(node, ast.BinOp)]
    assert spans == [(text.index("ü"), text.index(")"))]


@pytest.mark.parametrize("text", ['f"{a["', 'f"{"', r'"\x"', r'"\N{no such}"', r'rf"\{a!}"', 'f"{a:{b}}" "c"'])
def test_nothing_in_a_text_is_read(text):
    line = read_line(text)
    assert line.text_of(line.tree.body[0].value) == text
    assert len(list(ast.walk(line.tree))) == 3


BOMBS = ["(", "[", "{", "f(", "a[", "-", "not ", "lambda: ", "a if b else ", "a.b", "a**", "a+", "{a:", "(a,", "with ("]
BOMBS += ["'", '"""', '"""\\"" \\', "\\", "1", "1.", "x;", "a<", "[a for b in ", "#\n", "\\\n", "(yield ", "lambda x=("]


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_read_in_a_moment(bomb):
    start = time.perf_counter()
    for text in (bomb * 60, bomb * 2_000):
        for tail in ("", "x", ")", "]", "}", "\\"):
            read_line(text[: 2_000 - len(tail)] + tail)
    assert time.perf_counter() - start < 1


def test_brackets_are_read_as_far_as_sixty():
    assert read_line("(" * 60 + "x" + ")" * 60)
    assert read_line("(" * 61 + "x" + ")" * 61) is None
    assert read_line("-" * 59 + "x")
    assert read_line("-" * 60 + "x") is None


@pytest.mark.parametrize("text", LINES)
def test_each_place_of_a_line_cut_anywhere_is_in_it(text):
    for length in range(len(text) + 1):
        line = read_line(text[:length])
        for node in ast.walk(line.tree) if line else ():
            if isinstance(node, ast.expr) and line.is_whole(node):
                start, end = line.span(node)
                assert text[start:end].strip() == text[start:end] != ""
