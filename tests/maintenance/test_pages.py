"""The workflow that publishes the site: where Pages is not on, it ends green and says where to turn it on."""

import os
import subprocess
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
