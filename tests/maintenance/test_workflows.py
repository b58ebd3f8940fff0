"""GitHub's workflows: they parse, they run pinned code with the least rights, and they end."""

import re
from pathlib import Path

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).resolve().parents[2] / ".github/workflows").glob("*"))


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.name)
def workflow(request):
    return yaml.safe_load(request.param.read_text("utf-8"))


def test_there_is_one_for_the_cpu_one_for_the_gpu_one_for_the_site():
    assert [path.name for path in WORKFLOWS] == ["cpu.yml", "gpu.yml", "pages.yml"]


def test_every_action_is_pinned_to_a_commit(workflow):
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in used)


def test_a_token_may_read_and_a_job_that_needs_more_says_so(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    for job in workflow["jobs"].values():
        assert "contents" not in job.get("permissions", {})


def test_every_job_has_a_time_limit(workflow):
    assert all(job["timeout-minutes"] <= 30 for job in workflow["jobs"].values())


def test_no_workflow_runs_a_forks_code_with_the_projects_rights(workflow):
    triggers = workflow[True]  # YAML reads the key `on` as the truth value
    assert "pull_request_target" not in triggers
    for job in workflow["jobs"].values():
        if "vars.GPU_RUNNER }}" in job["runs-on"]:
            assert "head.repo.full_name == github.repository" in job["if"]


def test_every_command_is_one_that_the_makefile_or_ci_run_has(workflow):
    makefile = (Path(__file__).resolve().parents[2] / "Makefile").read_text("utf-8")
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    for target in re.findall(r"make ([\w-]+)", "\n".join(commands)):
        assert re.search(rf"^{target}:", makefile, re.M)
