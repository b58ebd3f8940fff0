"""The workflow that publishes the site: where Pages is not on, it ends green and says where to turn it on."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
JOBS = yaml.safe_load((ROOT / ".github/workflows/pages.yml").read_text("utf-8"))["jobs"]


@pytest.fixture
def ask(tmp_path):
    """Run the step that asks, with a `gh` that answers so; its exit code, what it printed, and the job's output."""

    def ask(printed, complained, code):
        gh = tmp_path / "gh"
        gh.write_text(f"#!/bin/sh\nprintf %s '{printed}'\nprintf %s '{complained}' >&2\nexit {code}\n")
        gh.chmod(0o755)
        (step,) = JOBS["ask"]["steps"]
        output = tmp_path / "output"
        output.touch()
        settings = {
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "alice/whatever",
        }
        run = subprocess.run(
            ["bash", "-e", "-c", step["run"]], env=os.environ | settings, capture_output=True, text=True
        )
        return run.returncode, run.stdout, output.read_text()

    return ask


def test_where_pages_is_built_by_workflows_the_site_is_built(ask):
    assert ask("workflow", "", 0) == (0, "", "enabled=yes\n")
    assert JOBS["build"]["needs"] == "ask"
    assert JOBS["build"]["if"] == "needs.ask.outputs.enabled == 'yes'"
    assert JOBS["deploy"]["needs"] == "build"


@pytest.mark.parametrize(
    "answer", [('{"message": "Not Found"}', "gh: Not Found (HTTP 404)", 1), ("legacy", "", 0)], ids=["off", "a branch"]
)
def test_where_it_is_off_or_serves_a_branch_a_notice_says_where_to_turn_it_on(ask, answer):
    code, printed, output = ask(*answer)
    assert (code, output) == (0, "")
    assert printed.startswith("::notice")
    assert "https://github.com/alice/whatever/settings/pages" in printed
    assert printed.count("\n") == 1


def test_another_answer_is_a_failure(ask):
    code, printed, output = ask("", "gh: Bad credentials (HTTP 401)", 1)
    assert (code, output) == (1, "")
    assert "HTTP 401" in printed
