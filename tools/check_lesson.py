"""Check one lesson or practice notebook while you write it: `make check NB=notebooks/01-two-tensors.ipynb`.

It executes the lesson, stores the outputs, and runs the tests of its form, its length and its claims. Where the outputs
are new, it executes the lesson once more and compares (nbval); where they are as they were stored, this run was the
comparison. What asks the whole site, `make test-rest` runs.
"""

import subprocess
import sys
from pathlib import Path

import notebooks

ROOT = Path(__file__).resolve().parent.parent
TESTS = [f"tests/notebooks/test_{name}.py" for name in ("every_notebook", "lessons", "practice", "claims")]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or Path(arguments[0]).resolve().parent != ROOT / "notebooks":
        print("Name one lesson to check: make check NB=notebooks/01-two-tensors.ipynb", file=sys.stderr)
        return 2
    path = Path(arguments[0]).resolve().relative_to(ROOT)
    before = path.read_text("utf-8") if path.is_file() else ""
    failed = notebooks.main(arguments)
    if failed:
        return failed
    compared = ["--nbval", str(path)] if path.read_text("utf-8") != before else []
    pytest = [sys.executable, "-m", "pytest", "-q", *compared, *TESTS, "-k", path.stem]
    return subprocess.run(pytest, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
