"""No test waits for ever: one that does is ended with its name, and what interrupts a program works everywhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_pytest(folder, *arguments, start=()):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [*start, sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "no:cacheprovider"]
    settings = inherited | {"COLUMNS": "200"}  # so that no name is cut
    return subprocess.run([*command, *arguments], cwd=folder, env=settings, capture_output=True, text=True).stdout


def test_a_test_that_waits_for_ever_is_ended_with_its_name_and_what_it_started(tmp_path):
    (tmp_path / "test_waiting.py").write_text(
        "import psutil, subprocess, sys\n"
        "def test_reads_a_terminal():\n"
        "    subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "def test_next():\n"
        "    assert psutil.Process().children() == []\n",
        "utf-8",
    )
    said = run_pytest(tmp_path, "--timeout=1", tmp_path / "test_waiting.py")
    assert "::test_reads_a_terminal - Failed: Timeout (>1.0s)" in said
    assert "1 failed, 1 passed" in said


@pytest.mark.skipif(os.name == "nt", reason="signals are told otherwise there")
def test_ctrl_c_is_tested_where_a_script_started_the_tests_in_the_background():
    in_background = ("sh", "-c", "trap '' INT; exec \"$@\"", "sh")
    test = "tests/command_line/test_command_explain.py"
    said = run_pytest(ROOT, "-q", "--timeout=60", test, "-k", "at_a_terminal", start=in_background)
    assert "2 passed" in said, said
