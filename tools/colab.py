"""Run the lessons as Colab runs them: `make test-colab`.

On Colab a lesson is a file alone, and its first cell installs the rest. So it is here: .venv-colab has Colab's versions
(tests/colab/requirements.txt) and nothing of this project, the folder is empty and outside the checkout, and the cell
runs as it stands. Only git is told that the project's address is this checkout, with what is not committed yet.

The kernel is .venv-colab's. .venv starts it and compares, because Colab's page is not of the kernel's environment.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

import results
import verify

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv-colab/bin/python"
LESSONS = (
    "01-two-tensors",  # where most readers begin
    "17-data-parallel",  # two GPUs, and Colab has one: simulated on every runtime there, threads and all
)
VERSIONS = """\
import importlib.metadata, json, platform, torch
names = "ipython", "ipykernel", "jupyter_client", "traitlets", "tornado", "numpy", "matplotlib", "rich", "pip"
print(json.dumps({
    "python": platform.python_version(), "torch": torch.__version__, "gpus_found": torch.cuda.device_count(),
    "versions": {name: importlib.metadata.version(name) for name in names},
}))"""
COMMIT = """\
import importlib.metadata, json
print(json.loads(importlib.metadata.distribution("samedevice").read_text("direct_url.json"))["vcs_info"]["commit_id"])"""
FAILS = 'import torch\nx = torch.ones(2, device="cuda")\nx + torch.ones(2)'
SAYS = "was given one tensor on cuda:0 and one on cpu"


def main() -> int:
    if not PYTHON.exists():
        print(f"{PYTHON.relative_to(ROOT)} is missing: call this as make test-colab, which makes it.", file=sys.stderr)
        return 2
    if not shutil.which("git"):
        print("git is missing: install it. pip asks it for this project, on Colab too.", file=sys.stderr)
        return 2
    starts = start_cells()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        [address] = {found for cell in starts for found in re.findall(r"git\+(https://[^\"\s]+)", cell)}
        commit = like_colab(folder, address)
        about = json.loads(printed(run(folder, [VERSIONS])[0]))
        print(f"A kernel of Python {about['python']}, torch {about['torch']}, IPython {about['versions']['ipython']}.")
        started = [
            check(f"start cell of {len(starts[cell])} notebooks", started_by, folder, cell, commit) for cell in starts
        ]
        extension = check("%load_ext samedevice", explained, folder, next(iter(starts)))
        lessons = {lesson: whole(folder, lesson) for lesson in LESSONS}
    # Not "lessons": from these the site says on what GPUs a lesson was last verified.
    figures = {"start_cells": len(starts), "started": sum(started), "extension": extension, "lessons_whole": lessons}
    results.write("colab", about | figures)
    return 0 if all(started) and extension and all(lesson["passed"] for lesson in lessons.values()) else 1


def start_cells() -> dict[str, list[str]]:
    """Return each start cell, and the notebooks that it stands in: the number of GPUs is all that may differ."""
    cells: dict[str, list[str]] = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        code = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        cells.setdefault(code[0], []).append(path.stem)
    return cells


def like_colab(folder: Path, address: str) -> str:
    """Change the environment, which kernels inherit; return the commit that the project's address then leads to."""
    for ours in ("PYTHONPATH", "SAMEDEVICE_GPUS"):
        os.environ.pop(ours, None)
    origin, jupyter = folder / "origin", folder / "jupyter"
    os.environ |= {
        "JUPYTER_PATH": str(jupyter),
        "IPYTHONDIR": str(folder / "ipython"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{origin.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": address,
    }
    spec = {
        "argv": [str(PYTHON), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Colab",
        "language": "python",
        "env": {"PYDEVD_DISABLE_FILE_VALIDATION": "1"},  # else each kernel prints a notice of the debugger's
    }
    (jupyter / "kernels/colab").mkdir(parents=True)
    (jupyter / "kernels/colab/kernel.json").write_text(json.dumps(spec), "utf-8")
    subprocess.run(["git", "init", "--quiet", origin], check=True)
    git = ["git", f"--git-dir={origin}/.git", f"--work-tree={ROOT}"]
    subprocess.run([*git, "add", "--all"], check=True)
    who = ["-c", "user.name=colab", "-c", "user.email=colab@localhost"]
    subprocess.run([*git, *who, "commit", "--quiet", "--message", "This checkout"], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def forget() -> None:
    """Take out of .venv-colab what the last start cell has put in."""
    command = [str(PYTHON), "-m", "pip", "uninstall", "--quiet", "--yes", "samedevice"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def run(folder: Path, cells: list[str]) -> list[NotebookNode]:
    """Execute cells as a notebook alone in an empty folder, with nothing of this project installed."""
    forget()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    empty = tempfile.mkdtemp(dir=folder)
    NotebookClient(
        notebook, timeout=300, kernel_name="colab", allow_errors=True, resources={"metadata": {"path": empty}}
    ).execute()
    return notebook.cells


def check(what: str, checked: Any, *arguments: Any) -> bool:
    """Call a check, which returns what is wrong or None; print a line and return whether it passed."""
    begin = time.perf_counter()
    complaint = checked(*arguments)
    print(f"{what}: {complaint or 'passed'} ({time.perf_counter() - begin:.0f} s)", flush=True)
    return complaint is None


def started_by(folder: Path, cell: str, commit: str) -> str | None:
    """Check that a start cell gets the lesson its GPUs, with what it has installed itself."""
    start, came_from = run(folder, [cell, COMMIT])
    if errors(start) or not re.search(r"^\d (simulated|real) GPUs?\b.*\.$", printed(start), re.M):
        return f"it ended with {errors(start)} and {printed(start)!r}"
    if printed(came_from).strip() != commit:
        return f"it installed {printed(came_from)!r} {errors(came_from)}, and this checkout is {commit}"
    return None


def explained(folder: Path, cell: str) -> str | None:
    """Check that a diagnosis follows an uncaught device error, and `explain()`; any other error is shown as ever."""
    _, loaded, failed, asked, other = run(
        folder, [cell, "%load_ext samedevice", FAILS, "import samedevice\nsamedevice.explain()", "1 / 0"]
    )
    if loaded.outputs:
        return f"loading it showed {loaded.outputs}"
    if [out.output_type for out in failed.outputs] != ["error", "display_data"] or SAYS not in shown(failed):
        return f"a device error showed {failed.outputs}"
    if SAYS not in shown(asked):
        return f"explain() showed {asked.outputs}"
    if [name for name, _ in errors(other)] != ["ZeroDivisionError"] or len(other.outputs) != 1:
        return f"1 / 0 showed {other.outputs}"
    return None


def whole(folder: Path, lesson: str) -> dict[str, object]:
    """Execute every cell of a lesson by Colab's kernel, and compare it by nbval and the guard (conftest.py)."""
    forget()
    alone, report = folder / lesson / "notebooks", folder / f"{lesson}.xml"
    alone.mkdir(parents=True)
    shutil.copy(ROOT / f"notebooks/{lesson}.ipynb", alone)
    # conftest.py imports from tools, which pyproject.toml would name; a kernel, which inherits PYTHONPATH, is not to.
    pytest = f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'tools')]}; import pytest; sys.exit(pytest.main())"
    command = [sys.executable, "-c", pytest, "-c", os.devnull, "--rootdir", str(alone.parent), "-ra"]
    command += [
        "-p",
        "conftest",
        "--nbval",
        "--nbval-kernel-name=colab",
        "--nbval-cell-timeout=300",
        "--junitxml",
        str(report),
    ]
    command += [f"--nbval-sanitize-with={ROOT}/tests/notebooks/sanitize.cfg", str(alone)]
    subprocess.run(command, cwd=ROOT)
    return verify.standings(report.read_text("utf-8"), "simulated")[lesson]


def errors(cell: NotebookNode) -> list[tuple[str, str]]:
    return [(out.ename, out.evalue) for out in cell.outputs if out.output_type == "error"]


def printed(cell: NotebookNode) -> str:
    return "".join(out.text for out in cell.outputs if out.output_type == "stream")


def shown(cell: NotebookNode) -> str:
    """Return the plain form of what is displayed with an HTML form too."""
    return "".join(out.data["text/plain"] for out in cell.outputs if "text/html" in out.get("data", {}))


if __name__ == "__main__":
    sys.exit(main())
