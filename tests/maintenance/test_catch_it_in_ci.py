"""The page "Catch it before the GPU": its commands, run with its files, print what is shown."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.maintenance.sessions import files, is_as_shown, sessions

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/catch-it-in-ci.md").read_text("utf-8")
FILES, SESSIONS = files(PAGE), sessions(PAGE)
SCRIPTS = {"pytest": ("-m", "pytest", "-p", "no:cacheprovider"), "samedevice": ("-m", "samedevice")}


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command for command, _ in SESSIONS])
def test_a_command_prints_what_is_shown(command, shown, tmp_path):
    for name, text in FILES.items():
        mended = text.replace("seen = torch.zeros(3)", "seen = torch.zeros(3, device=device)")
        (tmp_path / name).write_text(mended if "--summary" in command else text, "utf-8")
    program, *arguments = shlex.split(command)
    run = subprocess.run(
        [sys.executable, *SCRIPTS[program], *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    printed = run.stdout.replace(f"{tmp_path}{os.sep}", "")
    assert is_as_shown(shown, printed), printed
    assert run.returncode == (0 if "--summary" in command or arguments[0] == "fix" else 1)


def test_the_error_of_the_test_is_one_that_a_cpu_does_not_show(tmp_path):
    (tmp_path / "test_net.py").write_text(FILES["test_net.py"], "utf-8")
    subprocess.run([sys.executable, *SCRIPTS["pytest"], "-q"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


def test_the_workflow_is_one_and_runs_what_the_page_runs():
    workflow = yaml.safe_load(FILES["devices.yml"])
    steps = workflow["jobs"]["simulated-gpus"]["steps"]
    assert [*workflow[True]] == ["push", "pull_request"]  # YAML takes `on` for a truth value
    assert steps[-1]["run"] == "pytest --simulate-cuda 2"
    ours = (ROOT / ".github/workflows/cpu.yml").read_text("utf-8")
    for step in steps[:2]:  # of the versions that our own workflows are pinned to
        action, version = step["uses"].split("@")
        assert re.search(rf"{action}@\w+ # {version}\.", ours)
