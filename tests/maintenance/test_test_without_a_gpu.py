"""The page "Catch it before the GPU" and the home page: their commands, run with its files, print what is shown."""

import os
import re
from pathlib import Path

import pytest
import yaml
from tests.maintenance.sessions import files, is_as_shown, run, sessions

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/test-without-a-gpu.md").read_text("utf-8")
HOME = (ROOT / "docs/index.md").read_text("utf-8")
FILES, SESSIONS = files(PAGE), [*sessions(HOME), *sessions(PAGE)]


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command for command, _ in SESSIONS])
def test_a_command_prints_what_is_shown(command, shown, tmp_path):
    for name, text in FILES.items():
        mended = text.replace("seen = torch.zeros(3)", "seen = torch.zeros(3, device=device)")
        (tmp_path / name).write_text(mended if "--summary" in command else text, "utf-8")
    done = run(command, tmp_path)
    printed = done.stdout.replace(f"{tmp_path}{os.sep}", "")
    assert is_as_shown(shown, printed), printed
    assert done.returncode == (0 if "--summary" in command or " fix " in command else 1)


def test_the_error_of_the_test_is_one_that_a_cpu_does_not_show(tmp_path):
    (tmp_path / "test_net.py").write_text(FILES["test_net.py"], "utf-8")
    assert run("pytest -q", tmp_path).returncode == 0


def test_the_workflow_is_one_and_runs_what_the_page_runs():
    workflow = yaml.safe_load(FILES["devices.yml"])
    steps = workflow["jobs"]["simulated-gpus"]["steps"]
    assert [*workflow[True]] == ["push", "pull_request"]  # YAML takes `on` for a truth value
    assert steps[-1]["run"] == "pytest --simulate-cuda 2"
    ours = (ROOT / ".github/workflows/cpu.yml").read_text("utf-8")
    for step in steps[:2]:  # of the versions that our own workflows are pinned to
        action, version = step["uses"].split("@")
        assert re.search(rf"{action}@\w+ # {version}\.", ours)
