"""Run a lesson as if its simulated GPU were a real one, so that each cell that measures does: for all but the numbers.

What it measures goes into a record: python measure_on_simulated_gpus.py LESSON.ipynb RECORD.json. A line `size = ...`
is shrunk, for a CPU copies and multiplies slowly. Of a cell that raises on purpose only what it defines is executed,
and nothing after the last cell that measures. So a cell in between may fail, for want of the error that it looks at:
other tests run the whole lesson.
"""

import ast
import contextlib
import importlib
import io
import os
import re
import sys
import types

import nbformat
from IPython.core.interactiveshell import InteractiveShell

MEASURES = re.compile(r"^measured\(", re.M)


def main(lesson: str, record: str) -> None:
    sys.modules["__main__"].__spec__ = None  # a spawned child then imports no script
    measured = importlib.import_module("lessons.measured")
    measured.gpus = types.SimpleNamespace(real_gpus=lambda: ["a simulated GPU"])
    os.environ |= {"SAMEDEVICE_GPUS": "simulated", measured.KEEP: record}
    shell = InteractiveShell.instance()
    code = [cell for cell in nbformat.read(lesson, as_version=4).cells if cell.cell_type == "code"]
    while not MEASURES.search(code[-1].source):
        code.pop()
    for cell in code:
        source = re.sub(r"^( *)size = .*", r"\1size = 2**10", cell.source, flags=re.M)
        if "raises-exception" in cell.metadata.get("tags", []):
            source = definitions(source)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            result = shell.run_cell(source)
        if not result.success and MEASURES.search(source):
            sys.exit(f"{said.getvalue()}\nIn this cell:\n{source}")


def definitions(source: str) -> str:
    """Its imports, functions, classes and assignments; of the latter, one may be what raises."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
    return "\n".join(ast.unparse(node) for node in ast.parse(source).body if isinstance(node, kinds))


if __name__ == "__main__":
    main(*sys.argv[1:])
