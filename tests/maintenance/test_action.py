"""action.yml: its steps, run as they stand in an environment of their own, find a device error in somebody's tests."""

import json
import os
import re
import shutil
import site
import subprocess
import venv
from pathlib import Path

import pytest
import yaml

import repository

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="the steps are for bash")]
ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
PAGE = (ROOT / "docs/test-without-a-gpu.md").read_text("utf-8")
TEST = re.search(r'```python title="test_net.py"\n(.*?)```', PAGE, re.S)[1]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The action as a runner has it: the files of the repository, without git."""
    folder = tmp_path_factory.mktemp("action")
    for name in ("pyproject.toml", "README.md", "LICENSE", "action.yml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A Python with torch, pytest and pip, all of the environment around it, and without samedevice of its own."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "ours.pth").write_text("\n".join(site.getsitepackages()), "utf-8")
    return folder


def run(step, inputs, checkout, environment, folder):
    """Run a step's lines with the values that its expressions stand for."""
    values = {"github.action_path": str(checkout)} | {f"inputs.{name}": value for name, value in inputs.items()}
    own = {name: values[text.strip("${ }")] for name, text in step["env"].items()}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SAMEDEVICE_"))}
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],  # what `shell: bash` means there
        cwd=folder,
        env=inherited
        | own
        | {"PATH": f"{environment}/bin:{os.environ['PATH']}", "PIP_NO_BUILD_ISOLATION": "no", "GITHUB_ACTIONS": "true"},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_its_steps_find_the_error_and_annotate_its_line(checkout, environment, tmp_path):
    inputs = {name: value["default"] for name, value in ACTION["inputs"].items()}
    assert inputs == {"gpus": "2", "arguments": ""}
    install, tests = ACTION["runs"]["steps"]
    assert {step["shell"] for step in (install, tests)} == {"bash"}
    installed = run(install, inputs, checkout, environment, tmp_path)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    (tmp_path / "test_net.py").write_text(TEST, "utf-8")
    found = run(tests, inputs, checkout, environment, tmp_path)
    assert found.returncode == 1, found.stderr
    assert "2 simulated GPUs, on the CPU" in found.stdout
    assert re.search(r"^::error file=test_net\.py,line=9,title=SD002%3A .*register_buffer", found.stdout, re.M)
    fixed = TEST.replace("self.scale = torch.ones(3)", 'self.register_buffer("scale", torch.ones(3), persistent=False)')
    (tmp_path / "test_net.py").write_text(fixed, "utf-8")
    arguments = '-q test_net.py -k "step and not nothing"'
    passed = run(tests, {"gpus": "1", "arguments": arguments}, checkout, environment, tmp_path)
    assert passed.returncode == 0, passed.stdout
    assert "1 passed" in passed.stdout and "::error" not in passed.stdout


@pytest.fixture(scope="module")
def pytest_alone(tmp_path_factory):
    """Stand in for pytest: it prints what it was given."""
    folder = tmp_path_factory.mktemp("pytest_alone")
    (folder / "pytest.py").write_text(
        "import json\n\ndef main(arguments):\n    print(json.dumps(arguments))\n", "utf-8"
    )
    return folder


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", []),
        ('tests -k "a and b"', ["tests", "-k", "a and b"]),
        ("-k 'not slow' tests/test_*.py", ["-k", "not slow", "tests/test_*.py"]),
        ("tests\n--maxfail=1\n", ["tests", "--maxfail=1"]),
        ("$(touch found) `touch found`; touch found", ["$(touch", "found)", "`touch", "found`;", "touch", "found"]),
    ],
)
def test_pytest_gets_the_callers_words_and_bash_runs_none(arguments, words, checkout, environment, pytest_alone):
    _, step = ACTION["runs"]["steps"]
    (pytest_alone / "test_one.py").touch()  # which a `*` of bash's would find
    got = run(step, {"gpus": "2", "arguments": arguments}, checkout, environment, pytest_alone)
    assert json.loads(got.stdout) == ["--simulate-cuda", "2", *words], got.stderr
    assert not (pytest_alone / "found").exists()


def test_what_a_caller_gives_is_never_part_of_a_commands_text():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"], "an expression in `run` is pasted into the script"


def test_the_page_shows_how_to_use_it():
    (shown,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    (step,) = yaml.safe_load(shown)
    assert step["uses"] == "/".join(repository.held(ROOT)) + "@main"
    assert set(step["with"]) <= set(ACTION["inputs"])
