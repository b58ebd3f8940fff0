"""The commands: listed with a line each, and one sentence where the machine lacks something."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def make(folder, *arguments):
    # The outer make, where there is one, must not be taken for this one's parent.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def clone(tmp_path):
    """What make reads, without a .venv."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def python(folder, body):
    """A program that stands for a machine's Python."""
    program = folder / "python-here"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return program


def test_make_alone_lists_the_commands_for_every_day_and_maintaining_has_the_others(clone):
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)[1].split()
    *listed, last = make(clone).stdout.splitlines()
    assert all(len(line.split()) > 4 for line in listed)
    shown = [line.split()[1] for line in listed]
    assert {"site", "test", "test-rest", "check"} <= set(shown)
    assert "MAINTAINING.md" in last
    keepers = (ROOT / "MAINTAINING.md").read_text("utf-8")
    assert [name for name in phony if name not in shown and f"`make {name}" not in keepers] == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (None, "is missing: install Python 3.11 or newer"),
        (
            'case "$*" in --version) echo Python 3.10.4;; *) exit 1;; esac',
            "Python 3.10.4 is too old: install Python 3.11",
        ),
        ('case "$*" in *ensurepip*) exit 1;; esac', "on Debian and Ubuntu: apt install python3-venv"),
    ],
    ids=["no Python", "an old one", "one without venv"],
)
def test_what_a_machine_lacks_is_named(clone, body, says):
    run = make(clone, f"PYTHON={python(clone, body) if body else 'python3.99'}", "build")
    assert run.returncode == 2
    assert says in run.stderr


def test_another_python_than_the_one_in_venv_is_not_ignored(clone):
    (clone / ".venv/bin").mkdir(parents=True)
    python(clone, "echo Python 3.11.7").rename(clone / ".venv/bin/python")
    run = make(clone, f"PYTHON={python(clone, 'echo Python 3.12.1')}", "build")
    assert run.returncode == 2
    assert ".venv holds Python 3.11.7" in run.stderr


def test_what_is_installed_is_not_installed_again_until_the_versions_change(clone):
    (clone / ".venv/bin").mkdir(parents=True)
    for name in (".venv/bin/pip", ".venv/.site", ".venv/.everything"):
        (clone / name).touch()
    assert "install" not in make(clone, "--dry-run", "test", "site").stdout
    os.utime(clone / "constraints.txt", (4e9, 4e9))
    assert make(clone, "--dry-run", "test").stdout.count("pip install -q -c constraints.txt -e '.[test]'") == 1


def test_the_site_is_built_without_torch_and_the_tests(clone):
    planned = make(clone, "--dry-run", "build").stdout
    assert "pip install -q -c constraints.txt -e '.[site]'" in planned
    assert "'.[test]'" not in planned


def test_another_torch_has_an_environment_of_its_own_and_none_of_its_pins(clone):
    planned = make(clone, "--dry-run", "test-torch", "VERSION=2.15.0").stdout
    assert "grep -vE '^(torch|setuptools)==' constraints.txt > .venv-torch-2.15.0/constraints.txt" in planned
    assert "-c .venv-torch-2.15.0/constraints.txt 'torch===2.15.0' -e '.[test]'" in planned
    assert "rm " not in planned  # pip must stay, or the next run would make the environment anew


def test_ci_runs_the_test_command_of_the_readme_and_what_that_leaves_out():
    for name in ("README.md", "CONTRIBUTING.md"):
        assert re.search(r"make test\b(?!-)", (ROOT / name).read_text("utf-8")), name
    assert "\n    make test\n    make test-rest\n" in (ROOT / ".ci/run").read_text("utf-8")
    assert os.access(ROOT / ".ci/run", os.X_OK)
