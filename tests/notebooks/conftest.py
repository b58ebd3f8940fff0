"""A notebook and its code, and pytest started from a test, as a person starts it."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def run_pytest():
    """Call with pytest's arguments and with environment variables: the finished process, with the project's options."""

    def run(*arguments, **environment):
        # An outer pytest and its xdist worker leave variables that an inner one would take for its own.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-c",
            ROOT / "pyproject.toml",
            "-p",
            "no:cacheprovider",
            "--color=no",
        ]
        return subprocess.run(
            [*command, *arguments],
            cwd=ROOT,
            env=inherited | environment,
            capture_output=True,
            text=True,
            timeout=600,
        )

    return run


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


@pytest.fixture
def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]
