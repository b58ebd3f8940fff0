"""Every text about a device with which an installed PyTorch can end a program: the rule, and what it finds.

A text is about a device if it complains (`_COMPLAINS`), and if a word such as "device" or "CUDA" is left in it once the
phrases are gone in which such a word says nothing of where a tensor is (`_ELSEWHERE`).

In Python a text is what a `raise`, an `assert`, a `torch._check`, an `unimplemented` or one of a few functions like
them is given, or a variable that is named for it. In C++ it is a sentence among the constants of a library: the linker
keeps no statements, so a message with values in it comes in pieces.

Warnings are no such texts, nor is what PyTorch's own tests say, what its compiler asserts about itself (`_COMPILER`),
or what the macros of C++ write for an assertion.
"""

import ast
import re
import struct
from collections.abc import Iterator
from pathlib import Path

_WORD = re.compile(
    r"\b(?:devices?|cuda|gpus?|cpu|accelerators?|xpu|mps|hpu|mtia|hip|meta (?:tensors?|device|storage))\b", re.I
)
_SPELT = ("evice", "uda", "CUDA", "CPU", "cpu", "GPU", "ccelerator")  # one of them is in each file that has a word
_COMPLAINS = re.compile(
    r"\b(?:same|match|mismatch|differ|expect|must|should|need|require|only|cannot|could|not|no|none|unsupported|unknown"
    r"|invalid|incorrect|unexpected|without|missing|out of range|found|support)(?:\w*)\b|n't\b",
    re.I,
)
_ELSEWHERE = re.compile(
    r"device[ _-]?mesh\w*|mesh_device\w*|cuda[ _-]?graphs?\w*|xpu graphs?|\bCUDA_\w+|\bcuda\.(?:bindings|h)\b"
    r"|\bcuda-\w+|torch[.:]+(?:cuda|xpu|mps|mtia)\b[\w.:]*|on-?device|device[ _](?:function|bitcode|library|code)\w*"
    r"|(?:cuda|cpu|gpu|hip|xpu|device|accelerator)[ _-](?:runtime|driver|arch\w*|capabilit\w*|versions?|events?|time"
    r"|traces?|op|hours?|activit\w*|profil\w*|kernels?|streams?|toolkit|context|memory|cores?|indices|frequency"
    r"|buffers?|allocators?|errors?|calls?|libs?|path|extensions?|code|backend|thread|block|fuser|allocations?|launcher"
    r"|tracing|api|module|names?)\b",
    re.I,
)
_NOT_READ = ("testing/_internal/", "include/", "bin/", "share/", "utils/hipify/", "_vendor/")
_COMPILER = ("_inductor/", "_dynamo/", "_export/", "_functorch/", "fx/", "_higher_order_ops/")

# Where a statement that may end a program begins, or has its name. Each is looked for by itself: a pattern that begins
# with a word is found in no time.
_ENDS = [
    re.compile(start)
    for start in (
        r"\n *raise ",
        r"\n *assert ",
        r"check\w*\(",
        r"_p_assert\(",
        r"_log_and_throw\(",
        r"unimplemented\w*\(",
        r"msg\w* = ",
        r"message\w* = ",
        r"err\w* = ",
    )
]
_LONGEST = 4_000  # characters of a statement


def is_about_a_device(text: str) -> bool:
    """Tell whether `text` complains, and about a device."""
    return len(text) >= 16 and bool(_COMPLAINS.search(text) and _WORD.search(_ELSEWHERE.sub("", text)))


def of_python(package: Path) -> dict[str, str]:
    """Return each text about a device in the Python files of `package`, its slots as `{}`, and the file that has it."""
    found: dict[str, str] = {}
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        source = "" if name.startswith(_NOT_READ) else file.read_text("utf-8")
        if any(word in source for word in _SPELT):
            for text in _texts(source, name.startswith(_COMPILER)):
                found.setdefault(text, f"torch/{name}")
    return found


def _texts(source: str, of_the_compiler: bool) -> Iterator[str]:
    ends = {found.end() - 1 for pattern in _ENDS for found in pattern.finditer(source)}
    for start in sorted({source.rfind("\n", 0, end) + 1 for end in ends}):
        statement = _statement(source[start : start + _LONGEST])
        if statement is None or (of_the_compiler and _asserts(statement)):
            continue
        for given in _given(statement):
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
                return next(iter(ast.parse(written).body), None)
            except SyntaxError:
                continue
        if depth <= 0 and not written.rstrip().endswith(("\\", ",")):
            return None
    return None


def _asserts(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assert) or (
        isinstance(statement, ast.Raise) and "AssertionError" in ast.unparse(statement)
    )


def _given(statement: ast.stmt) -> list[ast.expr]:
    """What a statement is given: the arguments of an error, the words of a check."""
    match statement:
        case ast.Expr(value=ast.Lambda(body=body)):  # a check that is passed on, and called later
            return _given(ast.Expr(body))
        case ast.Assert(msg=ast.expr() as words):
            return [words]
        case ast.Raise(exc=ast.Call() as call) | ast.Expr(value=ast.Call() as call):
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
        case ast.Lambda(body=body) | ast.IfExp(body=body):
            return _written(body)
    return "{}"


_WORD_IN_BYTES = re.compile(rb"[Dd]evice|[Cc]uda|CUDA|GPU|gpu|CPU|cpu|ccelerator|XPU|xpu|MPS|mps|MTIA|HPU|[Mm]eta ")
# A signature, an expression, a format of a log, an example of code: not a sentence.
_NO_SENTENCE = re.compile(
    r"INTERNAL ASSERT|::|->|[{};\ufffd]|= ?\w+\(|\w\(\w+ \w+[,)=]|%\w+\.\d|\bcpu%|^--|^\s*def |Tensor input|deprecated"
    r"|\w\((?:\*, )?(?:Device|Tensor|SymInt|PyObject|Scalar|int)\b|please file|\.so\b"
)


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
                if len(piece) <= 700 and len(piece.split()) >= 3 and not _NO_SENTENCE.search(piece):
                    found.add(" ".join(piece.split()))
    return {piece for piece in found if is_about_a_device(piece)}


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
