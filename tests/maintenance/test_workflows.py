"""GitHub's workflows: they run pinned code with the least rights, and commands that are there.

zizmor (https://docs.zizmor.sh/audits/) knows what others could abuse, such as a fork's text inside a command. What it
does not ask, or asks less strictly, is asked here.
"""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*"))
RIGHTS = {
    ("gpu.yml", "commit"): {"contents": "write"},
    ("gpu.yml", "remove-label"): {"pull-requests": "write"},
    ("pages.yml", "ask"): {"pages": "read"},
    ("pages.yml", "colab"): {"contents": "write"},
    ("pages.yml", "deploy"): {"pages": "write", "id-token": "write"},
    ("release.yml", "publish"): {"contents": "read", "id-token": "write"},
    ("release.yml", "github-release"): {"contents": "write"},
}


def read(path):
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.name)
def workflow(request):
    return read(request.param)


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_zizmor_finds_nothing():
    program = Path(sysconfig.get_path("scripts"), "zizmor")
    run = subprocess.run([program, "--offline", "--quiet", ROOT / ".github"], capture_output=True, encoding="utf-8")
    assert run.returncode == 0, run.stdout


def test_every_action_is_githubs_own_and_pinned_to_a_commit_with_its_release():
    for path in WORKFLOWS:
        used = re.findall(r"uses: (.*)", path.read_text("utf-8"))
        assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in used), path


def test_a_token_may_read_and_a_job_that_may_more_is_listed_here():
    found = {}
    for path in WORKFLOWS:
        workflow = read(path)
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            if "permissions" in job:
                found[path.name, name] = job["permissions"]
    assert found == RIGHTS


def test_a_job_with_more_rights_checks_nothing_out_but_the_versions_of_what_it_installs():
    for file, name in RIGHTS:
        job = read(ROOT / ".github/workflows" / file)["jobs"][name]
        checkouts = [step["with"] for step in job["steps"] if "checkout" in step.get("uses", "")]
        assert [checkout["sparse-checkout"] for checkout in checkouts] == ["constraints.txt"] * (name == "publish")


def test_no_secret_is_used_and_no_expression_stands_inside_a_command(workflow):
    """What a title or a branch's name holds would be run; `env` hands it over as text."""
    assert "secrets" not in str(workflow)
    assert not [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")]


def test_every_job_ends_and_runs_a_forks_code_with_no_rights_of_the_project(workflow):
    assert "pull_request_target" not in workflow[True]  # YAML reads the key `on` as the truth value
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"]
        if "vars.GPU_RUNNER }}" in job["runs-on"]:
            assert "head.repo.full_name == github.repository" in job["if"]


def test_every_command_is_one_that_is_there(workflow):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    commands = "\n".join(step["run"] for step in steps(workflow) if "run" in step)
    matrices = [job.get("strategy", {}).get("matrix", {}) for job in workflow["jobs"].values()]
    targets = [row["target"] for matrix in matrices for row in matrix.get("include", []) if "target" in row]
    targets += [target for matrix in matrices for target in matrix.get("target", [])]
    for target in [*re.findall(r"make ([a-z][\w-]+)", commands), *targets]:
        assert re.search(rf"^{target}:", makefile, re.M), target
    for tool in re.findall(r"python3? (tools/\S+\.py)", commands):
        assert (ROOT / tool).exists()


def test_each_python_and_torch_that_is_promised_has_a_job():
    jobs = read(ROOT / ".github/workflows/cpu.yml")["jobs"]
    rows = jobs["matrix"]["strategy"]["matrix"]["include"]
    pinned = re.search(r"^torch==.*$", (ROOT / "constraints.txt").read_text("utf-8"), re.M)[0]
    oldest, beyond = re.search(r'"torch>=2\.(\d+),<2\.(\d+)"', (ROOT / "pyproject.toml").read_text("utf-8")).groups()
    (tested,) = (step["with"]["python-version"] for step in jobs["test"]["steps"] if "python" in step.get("uses", ""))
    promised = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert {tested, *(row["python"] for row in rows)} == set(promised)
    named = [row["torch"] for row in rows if row["system"] == "ubuntu-latest"] + [pinned]
    releases = [f"2.{int(beyond) - 1}" if torch == "torch" else torch[7:].rpartition(".")[0] for torch in named]
    assert sorted(releases) == [f"2.{minor}" for minor in range(int(oldest), int(beyond))], "each release of torch once"
    assert {row["torch"] for row in rows if row["system"] != "ubuntu-latest"} == {pinned}
    assert {row["system"] for row in rows} == {"ubuntu-latest", "macos-latest", "windows-latest"}
