"""Every text about a device with which an installed PyTorch can end a program: the rule, and what it finds.

A text is about a device if a word such as "device" or "CUDA" is left in it once the phrases are gone in which such a
word says nothing of where a tensor is (`_ELSEWHERE`). In Python a text is what a `raise`, an `assert`, a
`torch._check`, an `unimplemented` or one of a few functions like them is given, also by way of a variable that is named
for it. In C++ it is a sentence among the constants of a library: the linker keeps no statements, so a message with
values in it comes in pieces.

No texts are warnings, what PyTorch's own tests say, what its compiler asserts about itself (`_COMPILER`), and what the
macros of C++ write for an assertion.
"""

import ast
import re
import struct
from collections.abc import Iterator
from pathlib import Path

_WORD = re.compile(
    r"\b(?:devices?|cuda|gpus?|cpu|accelerators?|xpu|mps|hpu|mtia|hip|meta (?:tensors?|device|storage))\b", re.I
)
_ELSEWHERE = re.compile(
    r"device[ _-]?mesh\w*|mesh_device\w*|cuda[ _-]?graphs?\w*|xpu graphs?|\bCUDA_\w+|torch[.:]+(?:cuda|xpu|mps|mtia)\b[\w.:]*"
    r"|\bcuda\.(?:bindings|h)\b|\bcuda-\w+|on-?device|multi-device context|device[ _](?:function|bitcode|library|code)\w*"
    r"|(?:cuda|cpu|gpu|hip|xpu|device|accelerator)[ _-](?:runtime|driver|arch\w*|capabilit\w*|versions?|events?|time|traces?|op|hours?"
    r"|activit\w*|profil\w*|kernels?|streams?|toolkit|context|memory|cores?|indices|frequency|buffers?|allocators?|errors?"
    r"|calls?|libs?|path|extensions?|code|backend|thread|block|fuser|allocations?|launcher|tracing|api|module|names?)\b",
    re.I,
)
_NOT_READ = ("testing/_internal/", "include/", "bin/", "share/", "utils/hipify/", "_vendor/")
_COMPILER = ("_inductor/", "_dynamo/", "_export/", "_functorch/", "fx/", "_higher_order_ops/")
_RAISES = re.compile(
    r"^[ \t]*(?:raise\b|assert\b"
    r"|(?:return )?(?:[\w.]*\.)?(?:_?check\w*|_p_assert|_log_and_throw|_?unimplemented\w*|_raise\w*)\("
    r"|(?:\w*(?:msg|message|err|error)\w*) = )",
    re.M,
)
_LONGEST = 4_000  # characters of a statement


def of_python(package: Path) -> dict[str, str]:
    """Return each text about a device in the Python files of `package`, its slots as `{}`, and the file that has it."""
    found: dict[str, str] = {}
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        if not name.startswith(_NOT_READ):
            source = file.read_text("utf-8")
            for text in _texts(source, name.startswith(_COMPILER)) if _WORD.search(source) else ():
                found.setdefault(text, f"torch/{name}")
    return found


def _texts(source: str, of_the_compiler: bool) -> Iterator[str]:
    for start in _RAISES.finditer(source):
        statement = _statement(source[start.start() : start.start() + _LONGEST])
        if statement is None or (of_the_compiler and _asserts(statement)):
            continue
        for given in _arguments(statement):
            text = " ".join(_written(given).split())
            if is_about_a_device(text):
                yield text


def _statement(head: str) -> ast.stmt | None:
    """Return the statement at the start of `head`, if it has a word for a device."""
    written, depth = "", 0
    for line in head.lstrip().splitlines(keepends=True):
        written += line
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if depth <= 0 and _WORD.search(written):  # a bracket in a text may mislead: then the parser says so
            try:
                (statement,) = ast.parse(written).body
            except SyntaxError:
                continue
            return statement
        if depth <= 0 and not written.rstrip().endswith(("\\", ",")):
            return None
    return None


def _asserts(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assert) or (
        isinstance(statement, ast.Raise) and "AssertionError" in ast.unparse(statement)
    )


def _arguments(statement: ast.stmt) -> list[ast.expr]:
    """What a statement is given: the arguments of an error, the words of a check."""
    match statement:
        case ast.Assert(msg=ast.expr() as words):
            return [words]
        case (
            ast.Raise(exc=ast.Call() as call)
            | ast.Expr(value=ast.Call() as call)
            | ast.Return(value=ast.Call() as call)
        ):
            return [*call.args, *(keyword.value for keyword in call.keywords)]
        case ast.Assign(value=value):
            return [value]
    return []


def _written(given: ast.expr) -> str:
    """The text of an expression as a message has it, `{}` for what is filled in."""
    match given:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_written(value) for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _written(left) + _written(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return re.sub(r"%[sdr]", "{}", _written(left))
        case ast.Call(func=ast.Attribute(value=text, attr="format" | "join")):
            return re.sub(r"\{\w*\}", "{}", _written(text))
        case ast.Lambda(body=body):
            return _written(body)
        case ast.IfExp(body=body):
            return _written(body)
    return "{}"


def of_library(file: Path) -> set[str]:
    """Return each piece of a text about a device among the constants of a shared library of Linux."""
    found = set()
    for constants in _constants(file):
        end = 0
        for word in _WORD_IN_BYTES.finditer(constants):
            if word.start() >= end:
                start = constants.rfind(b"\0", max(0, word.start() - 2_000), word.start()) + 1
                end = constants.find(b"\0", word.end())
                piece = constants[start:end].decode("ascii", "replace")
                if _is_a_sentence(piece):
                    found.add(" ".join(piece.split()))
    return {piece for piece in found if is_about_a_device(piece)}


_WORD_IN_BYTES = re.compile(rb"[Dd]evice|[Cc]uda|CUDA|GPU|gpu|CPU|cpu|ccelerator|XPU|xpu|MPS|mps|MTIA|HPU|[Mm]eta ")
# A signature, an expression, a format of a log, an example of code: not a sentence.
_NO_SENTENCE = re.compile(
    r"INTERNAL ASSERT|::|->|[{};�]|= ?\w+\(|\w\(\w+ \w+[,)=]|\w\((?:\*, )?(?:Device|Tensor|SymInt|PyObject|Scalar|int)\b"
    r"|^\s*def |%\w+\.\d|\bcpu%|^--|Tensor input|deprecated|please file|\.so\b"
)


def _is_a_sentence(piece: str) -> bool:
    words = piece.split()
    return len(piece) <= 700 and len(words) >= 3 and not _NO_SENTENCE.search(piece)


def _constants(file: Path) -> Iterator[bytes]:
    with file.open("rb") as library:
        head = library.read(64)
        if head[:5] != b"\x7fELF\x02":
            return
        (table,) = struct.unpack_from("<Q", head, 40)
        size, count, names = struct.unpack_from("<HHH", head, 58)
        library.seek(table)
        sections = [struct.unpack("<IIQQQQ", library.read(size)[:40]) for _ in range(count)]
        library.seek(sections[names][4])
        named = library.read(sections[names][5])
        for name, _, _, _, offset, length in sections:
            if named[name:].startswith(b".rodata\0"):
                library.seek(offset)
                yield library.read(length)


def is_about_a_device(text: str) -> bool:
    """Tell whether a word for a device is left in `text` beside phrases that say nothing of where something is."""
    return len(text) >= 16 and bool(_WORD.search(_ELSEWHERE.sub("", text)))
