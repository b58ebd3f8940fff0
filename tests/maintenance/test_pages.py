"""The workflow that publishes the site, and the lessons without their answers on the branch that Colab opens.

Where Pages is not on, it ends green and says where to turn it on.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
JOBS = yaml.safe_load((ROOT / ".github/workflows/pages.yml").read_text("utf-8"))["jobs"]
NOTICE = "https://github.com/alice/whatever/settings/pages"


@pytest.mark.parametrize(
    ("printed", "complained", "code", "says", "enabled"),
    [
        ("workflow", "", 0, "", "enabled=yes\n"),
        ("legacy", "", 0, NOTICE, ""),
        ('{"message": "Not Found"}', "gh: Not Found (HTTP 404)", 0, NOTICE, ""),
        ("", "gh: Bad credentials (HTTP 401)", 1, "HTTP 401", ""),
    ],
    ids=["on", "serves a branch", "off", "refused"],
)
def test_the_site_is_built_where_pages_is_on_and_else_a_notice_says_where(
    tmp_path, printed, complained, code, says, enabled
):
    gh = tmp_path / "gh"
    gh.write_text(f"#!/bin/sh\nprintf %s '{printed}'\nprintf %s '{complained}' >&2\n[ -z '{complained}' ]\n")
    gh.chmod(0o755)
    (step,) = JOBS["ask"]["steps"]
    output = tmp_path / "output"
    output.touch()
    settings = {"GITHUB_OUTPUT": str(output), "GITHUB_SERVER_URL": "https://github.com"}
    settings |= {"GITHUB_REPOSITORY": "alice/whatever", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(["bash", "-e", "-c", step["run"]], env=os.environ | settings, capture_output=True, text=True)
    assert (run.returncode, output.read_text()) == (code, enabled)
    assert says in run.stdout
    assert JOBS["build"]["if"] == "needs.ask.outputs.enabled == 'yes'"


def test_the_branch_that_colab_opens_has_every_lesson_in_one_commit_and_no_answer(tmp_path):
    """The job's own commands, pushing to a folder here instead of GitHub, twice as after two changes of main."""
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    (command,) = [step["run"] for step in JOBS["build"]["steps"] if "unanswered" in step.get("run", "")]
    assert command == "python3 tools/unanswered.py colab"
    settings = {
        "GH_TOKEN": "token",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "alice/whatever",
        "GITHUB_SHA": "abc",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{remote}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://x-access-token:token@github.com/alice/whatever",
    }
    for time in ("first", "second"):
        copies = tmp_path / time
        subprocess.run([sys.executable, ROOT / "tools/unanswered.py", copies], check=True, capture_output=True)
        (step,) = [step for step in JOBS["colab"]["steps"] if "run" in step]
        subprocess.run(["bash", "-e", "-c", step["run"]], cwd=copies, env=os.environ | settings, check=True)

    def git(*arguments):
        return subprocess.run(["git", "-C", remote, *arguments], check=True, capture_output=True, text=True).stdout

    assert git("rev-list", "--count", "colab").strip() == "1"
    stored = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert git("ls-tree", "-r", "--name-only", "colab").split() == [f"notebooks/{path.name}" for path in stored]
    for path in stored:
        was = json.loads(path.read_text("utf-8"))
        now = json.loads(git("show", f"colab:notebooks/{path.name}"))
        assert [cell["source"] for cell in now["cells"]] == [cell["source"] for cell in was["cells"]]
        asked = [number for number, cell in enumerate(was["cells"]) if "predict" in cell["metadata"].get("tags", [])]
        assert asked or path.stem.startswith("practice-")
        for number, (cell, stored_cell) in enumerate(zip(now["cells"], was["cells"], strict=True)):
            if number - 1 in asked:
                assert (cell["outputs"], cell["execution_count"]) == ([], None)
            else:
                assert cell == stored_cell


def test_copies_without_a_folder_are_refused_in_one_sentence():
    run = subprocess.run([sys.executable, ROOT / "tools/unanswered.py"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "Name the folder for the copies: python3 tools/unanswered.py FOLDER\n"
