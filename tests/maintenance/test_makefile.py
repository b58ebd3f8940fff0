"""The commands: listed with a line each, and one sentence where the machine lacks something."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def make(folder, *arguments, path=None):
    # The outer make, where there is one, must not be taken for this one's parent.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=environment | ({"PATH": path} if path else {}),
        capture_output=True,
        text=True,
    )


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
    assert shown == [name for name in phony if name in shown]
    assert len(shown) < 15
    assert {"site", "test", "test-rest", "check"} <= set(shown)
    assert "MAINTAINING.md" in last
    keepers = (ROOT / "MAINTAINING.md").read_text("utf-8")
    assert [name for name in phony if name not in shown and f"`make {name}" not in keepers] == []


def test_a_missing_python_is_named(clone):
    run = make(clone, "PYTHON=python3.99", "build")
    assert run.returncode == 2
    assert "python3.99 is missing: install Python 3.11 or newer" in run.stderr


def test_an_old_python_is_named_with_its_version(clone):
    old = python(clone, 'case "$*" in --version) echo Python 3.10.4;; *) exit 1;; esac')
    run = make(clone, f"PYTHON={old}", "build")
    assert run.returncode == 2
    assert "Python 3.10.4 is too old: install Python 3.11 or newer" in run.stderr


def test_a_python_without_venv_is_told_what_to_install(clone):
    bare = python(clone, 'case "$*" in *ensurepip*) exit 1;; esac')
    run = make(clone, f"PYTHON={bare}", "build")
    assert run.returncode == 2
    assert "cannot make virtual environments" in run.stderr
    assert "apt install python3-venv" in run.stderr


def test_another_python_than_the_one_in_venv_is_not_ignored(clone):
    (clone / ".venv/bin").mkdir(parents=True)
    python(clone, "echo Python 3.11.7").rename(clone / ".venv/bin/python")
    other = python(clone, "echo Python 3.12.1")
    run = make(clone, f"PYTHON={other}", "build")
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


def test_the_test_command_is_lint_types_and_what_bare_pytest_nbval_runs(clone):
    planned = make(clone, "--dry-run", "test").stdout
    side_by_side = " -n 2 --dist loadfile --no-loadscope-reorder"
    mypy = "mypy || { [ $? = 2 ] && .venv/bin/mypy --num-workers 0; }"  # whose workers a busy machine does not start
    for command in ("ruff check", "ruff format --check", mypy, f"pytest --nbval{side_by_side}"):
        assert f".venv/bin/{command}\n" in planned
    assert f".venv/bin/pytest -m slow{side_by_side}\n" in make(clone, "--dry-run", "test-rest").stdout


def test_no_test_is_left_out_by_both_commands():
    addopts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]["addopts"]
    assert [option for option in addopts if option.startswith("-m")] == ["-m not slow"]


def test_another_torch_has_an_environment_of_its_own_and_none_of_its_pins(clone):
    planned = make(clone, "--dry-run", "test-torch", "VERSION=2.15.0").stdout
    assert "grep -vE '^(torch|setuptools)==' constraints.txt > .venv-torch-2.15.0/constraints.txt" in planned
    assert "env -u PIP_EXTRA_INDEX_URL .venv-torch-2.15.0/bin/python -m pip install" in planned
    assert "-c .venv-torch-2.15.0/constraints.txt 'torch===2.15.0'" in planned
    assert ".venv-torch-2.15.0/bin/pytest --nbval tests/simulation tests/conformance notebooks" in planned
    assert "rm " not in planned  # pip must stay, or the next run would make the environment anew


def test_what_ci_runs_is_the_test_command_of_the_readme_and_what_that_leaves_out():
    for name in ("README.md", "CONTRIBUTING.md"):
        assert re.search(r"make test\b(?!-)", (ROOT / name).read_text("utf-8")), name
        assert "make test-rest" in (ROOT / name).read_text("utf-8"), name
    assert "\n    make test\n    make test-rest\n" in (ROOT / ".ci/run").read_text("utf-8")
    assert os.access(ROOT / ".ci/run", os.X_OK)
    jobs = yaml.safe_load((ROOT / ".github/workflows/cpu.yml").read_text("utf-8"))["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["target"] == ["test", "test-rest"]
    assert jobs["test"]["steps"][-1]["run"] == '.ci/run "$TARGET"'
