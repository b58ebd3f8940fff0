"""The tests of the lessons tested: `make test-mutation` breaks each lesson on purpose, one thing at a time.

Each change is made in a copy of the lesson, which pytest then runs as it runs the lessons. A cell tagged `fix` is
emptied, and the next code cell, the last one of that copy, must fail. Each stored output is corrupted once, where it
has one in the name of a device, and its cell must fail, while the cells left as they are pass. What no test noticed has
survived: it is listed, and this exits with 1. The counts go into results/mutation.json, unless a lesson was named:
`make test-mutation NB=notebooks/01-two-tensors.ipynb`. It needs a quiet machine.
"""

import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import nbformat
from nbformat import NotebookNode

import results

ROOT = Path(__file__).resolve().parent.parent
ANOTHER = {"cuda:0": "cuda:1", "cuda:1": "cuda:0", "cpu": "cuda:0", "x": "y"}
# What stops any cell, whatever is wrong with it.
NO_ANSWER = re.compile("Timeout of|Timed out|Kernel dead|Kernel aborted")


class Copy(NamedTuple):
    """A changed copy of a lesson, and the code cells that must fail in it, each with what was changed."""

    kind: str
    notebook: NotebookNode
    must_fail: dict[int, str]


def main(arguments: list[str]) -> int:
    for argument in arguments:
        if not argument.endswith(".ipynb") or not Path(argument).is_file():
            print(f"{argument} is not a notebook: name an .ipynb file, or nothing for all lessons.", file=sys.stderr)
            return 2
    figures = {kind: {"mutants": 0, "caught": 0} for kind in ("fixes", "messages")}
    survived: list[str] = []
    for path in [Path(argument) for argument in arguments] or sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        lesson = nbformat.read(path, as_version=4)
        copies = [*with_other_messages(lesson), *without_a_fix(lesson)]
        for one, failed in zip(copies, run([one.notebook for one in copies]), strict=True):
            lines = unnoticed(one, failed)
            figures[one.kind]["mutants"] += len(one.must_fail)
            figures[one.kind]["caught"] += max(len(one.must_fail) - len(lines), 0)
            survived += [f"{path.stem}: {line}" for line in lines]
        print(f"{path.stem}: {sum(len(one.must_fail) for one in copies)} changes tried.", flush=True)
    if not arguments:
        results.write("mutation", figures)
    print(*survived, f"{len(survived)} survived.", sep="\n")
    return 1 if survived else 0


def without_a_fix(lesson: NotebookNode) -> Iterator[Copy]:
    """For each cell tagged `fix`, the lesson up to the next code cell, with that cell emptied."""
    code = code_cells(lesson)
    for number, index in enumerate(code):
        if "fix" in lesson.cells[index].metadata.get("tags", []):
            mutant = copy.deepcopy(lesson)
            fix = mutant.cells[index]
            mutant.cells = mutant.cells[: code[number + 1] + 1]  # a lesson ends with its exercises
            fix.source, fix.outputs = "", []
            yield Copy("fixes", mutant, {number + 1: f"nothing needs the fix in cell {number} ({fix.id})"})


def with_other_messages(lesson: NotebookNode) -> Iterator[Copy]:
    """The lesson as it is, then copies that together corrupt each stored message once, a copy at most one in a cell."""
    yield Copy("messages", lesson, {})
    for turn in range(max(len(messages(cell)) for cell in lesson.cells)):
        mutant, must_fail = copy.deepcopy(lesson), {}
        for number, index in enumerate(code_cells(lesson)):
            stored = messages(mutant.cells[index])
            if turn < len(stored):
                holder, key = stored[turn]
                before = holder[key]
                holder[key] = corrupted(before)
                must_fail[number] = f"cell {number} passes with {holder[key]!r} stored for {before!r}"
        yield Copy("messages", mutant, must_fail)


def code_cells(notebook: NotebookNode) -> list[int]:
    """The indices of the code cells, in nbval's order, which counts these alone."""
    return [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]


def messages(cell: NotebookNode) -> list[tuple[NotebookNode, str]]:
    """What is stored under a cell and is compared (no images, no tracebacks), each as its holder and its key there."""
    if cell.source.startswith("try:\n    from lessons import"):  # what start() prints differs between machines
        return []
    keys = {"stream": "text", "error": "evalue"}
    outputs = cell.get("outputs", [])
    found = [(output, keys[output.output_type]) for output in outputs if output.output_type in keys]
    shown = [output.data for output in outputs if output.output_type not in keys]
    return found + [(data, kind) for data in shown for kind in data if kind.startswith("text/")]


def corrupted(text: str) -> str:
    """The text with the GPU it names last replaced by the other, else the CPU by a GPU, else its last character."""
    for pattern in (r"\bcuda:[01]\b", r"\bcpu\b", r"\S"):
        if found := list(re.finditer(pattern, text)):
            last = found[-1]
            return text[: last.start()] + ANOTHER.get(last[0], "x") + text[last.end() :]
    return text + "x"


def run(notebooks: list[NotebookNode]) -> Iterator[dict[int, str]]:
    """Run each copy in a folder of its own; the complaint about each of its cells that failed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, report = Path(scratch), Path(scratch, "report.xml")
        shutil.copy(ROOT / "conftest.py", folder)
        for at, notebook in enumerate(notebooks):
            (folder / str(at)).mkdir()
            nbformat.write(notebook, folder / str(at) / "lesson.ipynb")
        # Outside its root, pytest would tell the copies by their cells' names alone.
        options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), "--junitxml", str(report)]
        options += ["--nbval", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider", "--color=no", str(folder)]
        settings = os.environ | {"SAMEDEVICE_GPUS": "simulated"}
        command = [sys.executable, "-m", "pytest", *options]
        pytest = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, encoding="utf-8")
        if pytest.returncode not in (0, 1):
            sys.exit(f"pytest did not run the copies of a lesson:\n{pytest.stdout}{pytest.stderr}")
        cases = list(ElementTree.parse(report).iter("testcase"))
    for at, notebook in enumerate(notebooks):
        mine = [case for case in cases if case.get("classname") == f"{at}.lesson.ipynb"]
        assert len(mine) == len(code_cells(notebook)), f"pytest ran {len(mine)} cells of a copy"
        faults = [(case, fault) for case in mine for fault in [*case.iter("failure"), *case.iter("error")]]
        yield {int(case.get("name", "").removeprefix("Cell ")): fault.text or "" for case, fault in faults}


def unnoticed(one: Copy, failed: dict[int, str]) -> list[str]:
    """A line for each change of a copy that was not noticed by the cell that had to fail, and by no other."""
    if others := sorted(failed.keys() - one.must_fail.keys()):
        changes = list(one.must_fail.values()) or ["the lesson as it is"]
        return [f"{change}: proves nothing, since cell {others[0]} fails, too" for change in changes]
    ended = {cell for cell, complaint in failed.items() if not NO_ANSWER.search(complaint)}
    return [change for cell, change in one.must_fail.items() if cell not in ended]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
