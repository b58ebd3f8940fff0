"""The browser reads each line of code into the tree that Python makes of it."""

import ast
import itertools
import json
from pathlib import Path

import pytest
from tests.doctor.text.test_failing_line import CASES
from tests.site.test_doctor_twin import mangled_lines

from samedevice.introspect.lines import read_line

ROOT = Path(__file__).parents[2]
WRITTEN = (ROOT / "tests/introspect/lines_of_python.txt").read_text("utf-8").splitlines()

# Each node in the order of `walk`: its type, its fields that are no nodes, and for an expression or an assignment its
# place, and whether it is given a value.
READ_BY_THE_PAGE = """async (lines) => {
  const { readLine, textOf, isWhole, walk } = await import(new URL("assets/doctor/lines.js", document.baseURI));
  const isSimple = (value) => value === null || typeof value === "string" || typeof value[0] === "string";
  return lines.map((text) => {
    const line = readLine(text);
    return line && [...walk(...line.body)].map((node) => {
      const { type, start, end, ...fields } = node;
      const simple = Object.fromEntries(Object.entries(fields).filter(([, value]) => isSimple(value)));
      const place = () => [start, end, textOf(line, node), isWhole(line, node), line.stored.has(node)];
      return [type, Object.keys(fields), simple, start === undefined ? null : place()];
    });
  });
}"""

SIGNS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
LEFT_OUT = (ast.expr_context, ast.arg, *SIGNS)  # nodes that the page has not, or has as names
FIELDS = {  # that the page has, in types of which it has not all
    "Assign": ["targets", "value"],
    "AnnAssign": ["target", "annotation", "value"],
    "For": ["target", "iter", "body"],
    "AsyncFor": ["target", "iter", "body"],
    "While": ["test", "body"],
    "If": ["test", "body"],
    "With": ["items", "body"],
    "AsyncWith": ["items", "body"],
    "comprehension": ["target", "iter", "ifs"],
    "JoinedStr": [],
}


def fields_of(node):
    if isinstance(node, ast.arguments):
        every = [*node.posonlyargs, *node.args, node.vararg, *node.kwonlyargs, node.kwarg]
        names = [argument.arg for argument in every if argument]
        return {"names": names, "kw_defaults": node.kw_defaults, "defaults": node.defaults}
    if not isinstance(node, ast.Constant):
        names = FIELDS.get(type(node).__name__, [name for name in node._fields if name != "ctx"])
        return {name: getattr(node, name) for name in names}
    if isinstance(node.value, str):
        return {"kind": "str", "value": node.value}
    if isinstance(node.value, bytes):
        return {"kind": "bytes", "value": node.value.decode()}
    names = {None: "None", True: "True", False: "False", ...: "Ellipsis"}
    return {"kind": next((name for value, name in names.items() if value is node.value), "number")}


def is_simple(value):
    return value is None or isinstance(value, str) or (isinstance(value, list) and value and isinstance(value[0], str))


def read_by_python(text):
    def named(value):
        if isinstance(value, list):
            return [named(one) for one in value]
        return type(value).__name__ if isinstance(value, SIGNS) else value

    line = read_line(text)
    if line is None:
        return None
    nodes = []
    for node in itertools.islice(ast.walk(line.tree), 1, None):
        if isinstance(node, LEFT_OUT):
            continue
        fields = {name: named(value) for name, value in fields_of(node).items()}
        simple = {name: value for name, value in fields.items() if is_simple(value)}
        place = None
        if isinstance(node, ast.expr | ast.Assign | ast.AugAssign):
            is_stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
            place = [*line.span(node), line.text_of(node), line.is_whole(node), is_stored]
        nodes.append([type(node).__name__, list(fields), simple, place])
    return nodes


def read_otherwise(page, lines):
    answers = page.evaluate(READ_BY_THE_PAGE, lines)
    return [line for line, answer in zip(lines, answers, strict=True) if answer != read_by_python(line)]


@pytest.mark.weekly
def test_lines_of_programs_and_lessons(visit):
    lines = [case["line"].strip("\n") for case in CASES.values()]
    files = [*(ROOT / "tests/doctor/real_programs").glob("*.py"), *(ROOT / "src/lessons").rglob("*.py")]
    sources = [file.read_text("utf-8") for file in files]
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        sources += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines += [line.strip() for source in sources for line in source.split("\n")]
    assert sum(read_line(line) is not None for line in set(lines)) > 5_000
    assert read_otherwise(visit(), list(set(lines))) == []


def test_every_form_of_expression_and_statement_alone_and_below_another(visit):
    lines = [*WRITTEN, *map("\n".join, itertools.pairwise(WRITTEN)), *(f"f({line}\n)" for line in WRITTEN)]
    heads = ["\f", " \f", "\n", "\\\n", " \\\n", "\ufeff", "# a\n", "", "\v", "\0", "\r", "\u2028", "(\f"]
    tails = [
        " x",
        "x \\\n",
        "x\\",
        "x \\\n\n",
        "x\n ",
        "x\n  # a",
        "'\0'",
        "'\u2028'",
        "x\xa0y",
        "x # \\\n",
        "'\ud800'",
    ]
    assert read_otherwise(visit(), [*lines, *(head + tail for head in heads for tail in tails)]) == []


def test_lines_that_were_cut_anywhere(visit):
    assert read_otherwise(visit(), [line[:end] for line in WRITTEN for end in range(len(line))]) == []


def test_mangled_lines(visit):
    assert read_otherwise(visit(), list(mangled_lines(2_000))) == []


def test_bombs(visit):
    bombs = ["(", "[", "{", "f(", "a[", "-", "not ", "lambda: ", "a if b else ", "a.b", "a**", "a+", "{a:", "(a,", "'"]
    bombs += ["with (", '"""', '"""\\"" \\', "\\", "1", "x;", "a<", "[a for b in ", "#\n", "\\\n", "(yield ", "f(a="]
    lines = [bomb * times + tail for bomb in bombs for times in (30, 59, 60, 61, 2_000) for tail in ("", "x", ")", "]")]
    assert read_otherwise(visit(), lines) == []
