"""Run the tests that every system can run, and write what came of them to results/unit-tests.json.

The workflows do so on Linux, macOS and Windows, and on several releases of Python and torch: tests of the package and
of the lessons' own code, against torch's recorded answers too. Those of the site need a browser, those of the commands
a POSIX shell; `make test` runs them.
"""

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import results

ROOT = Path(__file__).resolve().parents[1]
TESTS = [
    "catalog",
    "command_line",
    "conformance",
    "doctor",
    "introspect",
    "ipython",
    "lessons",
    "placement",
    "pytest_plugin",
    "simulation",
]


def main() -> int:
    import torch  # here, so that the test of the function below need not wait for it

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        paths = [*(f"tests/{name}" for name in TESTS), "tests/test_package.py"]
        run = subprocess.run(
            [sys.executable, "-m", "pytest", *paths, "-n", "2", "--dist", "loadfile", "--junitxml", report], cwd=ROOT
        )
        figures = counted(report.read_text("utf-8")) if report.exists() else {"failed": ["pytest itself"]}
    results.write("unit-tests", {"torch": torch.__version__, **figures})
    return 0 if run.returncode == 0 else 1


def counted(report: str) -> dict[str, object]:
    """How many tests passed and were skipped, and which failed, from pytest's report in JUnit's XML."""
    standings: dict[str, list[str]] = {"passed": [], "skipped": [], "failed": []}
    for case in ElementTree.fromstring(report).iter("testcase"):
        found = {child.tag for child in case}
        kind = "failed" if found & {"failure", "error"} else "skipped" if "skipped" in found else "passed"
        standings[kind].append(f"{case.get('classname')}::{case.get('name')}")
    return {
        "passed": len(standings["passed"]),
        "skipped": len(standings["skipped"]),
        "failed": sorted(set(standings["failed"])),
    }


if __name__ == "__main__":
    sys.exit(main())
