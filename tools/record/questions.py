"""Questions in single lines: the questions of tests/conformance/questions, one file a family.

A question is a line of Python as users write it, right or wrong: an expression, after `;` more of them, or a `with`
block. Its answer is what the last expression gives: of tensors the device, the type and the shape, of plain values the
value, of other objects the type; or it is the error. `g`, `c` and `h` make tensors of ones on cuda:0, the CPU and
cuda:1. Functions, classes and imports of a file are there for all of its questions.
"""

import ast
import functools
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.nested._internal import nested_tensor

from record.errors import text

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "conformance" / "questions"
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def questions() -> Iterator[tuple[str, str]]:
    """Yield every (family, question), in the order of the files."""
    for path in sorted(FOLDER.glob("*.py")):
        for question in _split(path)[1]:
            yield path.stem, question


@functools.cache
def _split(path: Path) -> tuple[types.CodeType, list[str]]:
    """Return the definitions of a file, and its questions: the statements that begin on one line are one question."""
    source = path.read_text("utf-8")
    lines = source.splitlines()
    definitions: list[ast.stmt] = []
    ends: dict[int, int] = {}
    for statement in ast.parse(source).body[1:]:  # the first says what the file is about
        if isinstance(statement, _DEFINITIONS):
            definitions.append(statement)
        else:
            ends[statement.lineno] = statement.end_lineno or statement.lineno
    code = compile(ast.Module(definitions, []), path.name, "exec")
    return code, ["\n".join(lines[first - 1 : last]) for first, last in ends.items()]


def definitions(family: str) -> types.CodeType:
    """Return what the questions of a family find defined, as code to be executed."""
    return _split(FOLDER / f"{family}.py")[0]


def ask(family: str, question: str) -> dict[str, Any]:
    """Return the answer to one question: {"ok": what it gives} or {"error": type, "message": text}."""
    torch.cuda.init()
    nested_tensor._tensor_id_counter = 1  # the names of ragged sizes in texts: j1, j2, whatever was asked before
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()  # what was compiled before makes sizes dynamic, which texts of torch 2.11 show
    module = types.ModuleType(family)
    scope: dict[str, Any] = vars(module)
    scope |= {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    for name, device in (("g", "cuda:0"), ("c", "cpu"), ("h", "cuda:1")):
        scope[name] = _ones(device)
    exec(definitions(family), scope)
    if "compiled" in scope:
        sys.modules[family] = module  # torch.compile of 2.11 imports it, to read what a function names
    block: Any = ast.parse(question)
    program = block
    while isinstance(block.body[-1], ast.With):
        block = block.body[-1]
    last = block.body[-1]
    if isinstance(last, ast.Expr):
        block.body[-1] = ast.copy_location(ast.Assign([ast.Name("answer", ast.Store())], last.value), last)
    try:
        exec(compile(ast.fix_missing_locations(program), question, "exec"), scope)
        return {"ok": _told(scope.get("answer"))}
    except Exception as error:
        said = text(error)
        if said.startswith("The following operation failed"):  # TorchScript: between them is a traceback, with paths
            lines = str(error).strip().splitlines()
            said = f"{lines[0]} ... {lines[-1]}"
        if said.startswith("Caught"):  # in a replica of torch.nn.DataParallel: likewise
            lines = [line for line in str(error).splitlines() if line.strip()]
            said = f"{lines[0]} ... {lines[-1]}"
        # What follows lists the backends of a build, which differ without a word about devices.
        return {"error": type(error).__name__, "message": said.partition(". This could be because")[0]}


def _ones(device: str) -> Any:
    def ones(*shape: int, **options: Any) -> torch.Tensor:
        return torch.ones(shape, device=device, **options)

    return ones


def _told(x: Any) -> Any:
    """Return what JSON can hold of a result, without the numbers in tensors: no kernel may have computed them."""
    if isinstance(x, torch.Tensor):
        kind = "" if type(x).__name__ == "Tensor" else f"{type(x).__name__} "
        layout = "" if x.layout is torch.strided else f" {str(x.layout).removeprefix('torch.')}"
        size = f"{x.dim()}-D nested" if x.is_nested else str(list(x.shape))
        return f"{kind}{x.device} {str(x.dtype).removeprefix('torch.')} {size}{layout}"
    if x is None or type(x) in (bool, int, str):
        return x
    if isinstance(x, (torch.device, torch.dtype, torch.layout, torch.Size)):
        return str(x)
    if isinstance(x, dict):
        return {str(key): _told(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_told(value) for value in x]
    return type(x).__name__
