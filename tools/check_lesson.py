"""Check one lesson while you write it: `make check NB=notebooks/01-two-tensors.ipynb`.

It executes the lesson and stores the outputs, executes it again and compares (nbval), and runs the tests of its form,
its length and its claims. What asks the whole site, `make test-rest` runs.
"""

import subprocess
import sys
from pathlib import Path

import notebooks

ROOT = Path(__file__).resolve().parent.parent
TESTS = ["tests/notebooks/test_lessons.py", "tests/notebooks/test_claims.py"]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or Path(arguments[0]).resolve().parent != ROOT / "notebooks":
        print("Name one lesson to check: make check NB=notebooks/01-two-tensors.ipynb", file=sys.stderr)
        return 2
    stored = notebooks.main(arguments)
    if stored:
        return stored
    path = Path(arguments[0]).resolve().relative_to(ROOT)
    pytest = [sys.executable, "-m", "pytest", "--nbval", "-q", str(path), *TESTS, "-k", path.stem]
    return subprocess.run(pytest, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
