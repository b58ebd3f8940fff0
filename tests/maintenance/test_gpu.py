"""The workflow for real GPUs: where it uses none it says why, and its first results are committed, once."""

import base64
import itertools
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
JOBS = yaml.safe_load((ROOT / ".github/workflows/gpu.yml").read_text("utf-8"))["jobs"]
MANY = [("", "a-runner"), ("schedule", "pull_request"), ("gpu", "bug"), ("us/it", "alice/it"), ("main", "other")]


def runs(job, runner, event, label, head, branch):
    """Whether GitHub would run a job that needs no other, by its `if`."""
    values = {
        "vars.GPU_RUNNER": runner,
        "github.event_name": event,
        "github.event.label.name": label,
        "github.event.pull_request.head.repo.full_name": head,
        "github.repository": "us/it",
        "github.ref_name": branch,
    }
    condition = " ".join(job["if"].split()).replace("&&", " and ").replace("||", " or ")
    for name in sorted(values, key=len, reverse=True):
        condition = re.sub(rf"{re.escape(name)}(?![\w.])", repr(values[name]), condition)
    return eval(condition, {})


def test_who_asks_for_a_gpu_gets_one_or_is_told_why_not():
    for runner, event, label, head, branch in itertools.product(*MANY):
        asked = event != "pull_request" or label == "gpu"
        of_a_fork = event == "pull_request" and head != "us/it"
        told = [name for name in ("no-runner", "fork", "test") if runs(JOBS[name], runner, event, label, head, branch)]
        expected = [] if not asked else ["no-runner"] if not runner else ["fork"] if of_a_fork else ["test"]
        assert told == expected, (runner, event, label, head)
    for name in ("no-runner", "fork"):
        (step,) = JOBS[name]["steps"]
        said = subprocess.run(["bash", "-e", "-c", step["run"]], capture_output=True, text=True, check=True).stdout
        assert re.match("::(notice|warning)", said)
        assert said.count("\n") == 1


def test_results_of_main_alone_are_committed_and_only_where_the_lessons_passed():
    assert JOBS["commit"]["needs"] == "test"
    for branch, event in itertools.product(("main", "other"), ("schedule", "workflow_dispatch", "pull_request")):
        assert runs(JOBS["commit"], "a-runner", event, "gpu", "us/it", branch) == (
            branch == "main" and event != "pull_request"
        )


@pytest.mark.parametrize(
    ("answer", "committed", "code"),
    [("", False, 0), ("gh: Not Found (HTTP 404)", True, 0), ("gh: Bad credentials (HTTP 401)", False, 1)],
    ids=["there already", "the first", "refused"],
)
def test_only_the_first_results_are_committed(tmp_path, answer, committed, code):
    (tmp_path / "results").mkdir()
    (tmp_path / "results/gpu.json").write_text("{}\n" * 100)
    gh = tmp_path / "gh"
    asked = f'echo "{answer}" >&2; [ -z "{answer}" ]'
    gh.write_text(f'#!/bin/sh\ncase "$*" in *PUT*) printf "%s\\n" "$@" > sent;; *) {asked};; esac\n')
    gh.chmod(0o755)
    step = JOBS["commit"]["steps"][-1]
    settings = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_REPOSITORY": "us/it",
        "GITHUB_REF_NAME": "main",
    }
    run = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=os.environ | settings)
    assert run.returncode == code
    assert (tmp_path / "sent").exists() == committed
    if committed:
        sent = (tmp_path / "sent").read_text().splitlines()
        assert "repos/us/it/contents/results/gpu.json" in sent
        (content,) = (line.removeprefix("content=") for line in sent if line.startswith("content="))
        assert base64.b64decode(content) == b"{}\n" * 100
        assert "branch=main" in sent
