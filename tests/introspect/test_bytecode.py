"""Statements are read back from bytecode as they were written, by every Python that we support."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from samedevice.introspect.bytecode import statements

READ_BACK = [
    "x = model(batch, -1, mask=mask, scale=2)",
    "x = self.layer.weight.to(device)",
    "x = y[0] + y[1:n] @ z[:, None]",
    "x = {'a': y}",
    "x = {'a': y, 'b': z}",
    "x = {name: y}",
    "x = [y, (z, 1)]",
    "x = f'cuda:{rank}'",
    "x = y <= z",
    "x += y",
    "x.y = z",
    "x[i] = z",
    "x, y = pair",
    "x = a\ny = b",
    "for x, y in pairs:\n    total = total + x",
    "model(x)",
]


@pytest.mark.parametrize("source", READ_BACK)
@pytest.mark.parametrize("in_a_function", [False, True])
def test_a_statement_is_read_back_as_it_was_written(source: str, in_a_function: bool) -> None:
    code = compile(source, "a script", "exec")
    if in_a_function:
        indented = source.replace("\n", "\n    ")
        outer = compile(f"def step(y, z):\n    {indented}\n", "a script", "exec")
        code = next(constant for constant in outer.co_consts if isinstance(constant, CodeType))

    tree: Any = statements(code)

    read = tree.body[0].body if in_a_function else tree.body
    assert "\n".join(map(ast.unparse, read)) == source


def test_code_that_cannot_be_read_is_no_error() -> None:
    source = compile(Path(subprocess.__file__).read_text("utf-8"), subprocess.__file__, "exec")

    for code in _all_code(source):
        assert isinstance(statements(code), ast.Module)


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)
