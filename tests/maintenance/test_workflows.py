"""GitHub's workflows: they parse, they run pinned code with the least rights, and they end.

zizmor (https://docs.zizmor.sh/audits/) knows what others could abuse, such as a fork's text inside a command. What it
does not ask, or asks less strictly, is asked here.
"""

import re
import shutil
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


def test_there_is_one_for_each_occasion():
    assert [path.name for path in WORKFLOWS] == ["cpu.yml", "gpu.yml", "pages.yml", "release.yml", "weekly.yml"]


def test_every_action_is_githubs_own_and_pinned_to_a_commit_with_its_release(workflow, request):
    text = request.node.callspec.params["workflow"].read_text("utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert len(used) == sum("uses" in step for step in steps(workflow)) > 0
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in used)


def test_an_action_has_one_commit_everywhere():
    used = {tuple(step["uses"].split("@")) for path in WORKFLOWS for step in steps(read(path)) if "uses" in step}
    assert len(used) == len({action for action, _ in used})


def test_a_token_may_read_and_a_job_that_may_more_is_listed_here():
    found = {}
    for path in WORKFLOWS:
        workflow = read(path)
        assert workflow["permissions"] == {"contents": "read"}
        assert workflow["concurrency"]["group"]
        for name, job in workflow["jobs"].items():
            if "permissions" in job:
                found[path.name, name] = job["permissions"]
    assert found == RIGHTS


def test_a_job_with_more_rights_checks_nothing_out_but_the_versions_of_what_it_installs():
    for file, name in RIGHTS:
        job = read(ROOT / ".github/workflows" / file)["jobs"][name]
        checkouts = [step["with"] for step in job["steps"] if "checkout" in step.get("uses", "")]
        assert [checkout["sparse-checkout"] for checkout in checkouts] == ["constraints.txt"] * (name == "publish")


def test_a_checkout_leaves_no_token_behind_and_no_secret_is_used(workflow, request):
    for step in steps(workflow):
        if "actions/checkout@" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False
    assert "secrets" not in request.node.callspec.params["workflow"].read_text("utf-8")


def test_no_expression_stands_inside_a_command(workflow):
    """What a title or a branch's name holds would be run; `env` hands it over as text."""
    assert not [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")]


def test_every_job_has_a_time_limit(workflow, request):
    # What is weekly is what takes long.
    weekly = request.node.callspec.params["workflow"].name == "weekly.yml"
    assert all(job["timeout-minutes"] <= (90 if weekly else 30) for job in workflow["jobs"].values())


def test_no_workflow_runs_a_forks_code_with_the_projects_rights(workflow):
    triggers = workflow[True]  # YAML reads the key `on` as the truth value
    assert "pull_request_target" not in triggers
    for job in workflow["jobs"].values():
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
    pinned = re.search(r"^torch==(.*)$", (ROOT / "constraints.txt").read_text("utf-8"), re.M)[1]
    oldest, beyond = re.search(r'"torch>=2\.(\d+),<2\.(\d+)"', (ROOT / "pyproject.toml").read_text("utf-8")).groups()
    tested = next(
        step["with"]["python-version"] for step in jobs["test"]["steps"] if "setup-python" in step.get("uses", "")
    )
    promised = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert {tested, *(row["python"] for row in rows)} == set(promised)
    named = [row["torch"] for row in rows if row["system"] == "ubuntu-latest"] + [f"torch=={pinned}"]
    releases = [f"2.{int(beyond) - 1}" if torch == "torch" else torch[7:].rpartition(".")[0] for torch in named]
    assert sorted(releases) == [f"2.{minor}" for minor in range(int(oldest), int(beyond))], "each release of torch once"
    assert {row["torch"] for row in rows if row["system"] != "ubuntu-latest"} == {f"torch=={pinned}"}
    assert {row["system"] for row in rows} == {"ubuntu-latest", "macos-latest", "windows-latest"}


def test_every_system_and_the_nightly_run_the_same_tests():
    """Those of the site need a browser, those of the commands a POSIX shell, and those of the notebooks both."""
    for file in ("cpu.yml", "weekly.yml"):
        (run,) = re.findall(
            r"python -m pytest tests [^#]*?loadfile|python -m pytest tests .*SIDE_BY_SIDE",
            (ROOT / ".github/workflows" / file).read_text("utf-8"),
        )
        left_out = re.findall(r"--ignore=(\S+)", run)
        assert left_out == ["tests/maintenance", "tests/notebooks", "tests/site"]
        assert all((ROOT / folder).is_dir() for folder in left_out)


@pytest.fixture
def zizmor():
    program = Path(sysconfig.get_path("scripts"), "zizmor")

    def zizmor(folder):
        return subprocess.run(
            [program, "--offline", "--quiet", folder], capture_output=True, text=True, encoding="utf-8"
        )

    return zizmor


def test_zizmor_finds_nothing(zizmor):
    run = zizmor(ROOT / ".github")
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    ("before", "after", "audit"),
    [
        ('run: .ci/run "$TARGET"', "run: echo ${{ github.event.pull_request.title }}", "template-injection"),
        ("contents: read", "contents: write", "excessive-permissions"),
        ("  pull_request:\n", "  pull_request_target:\n", "dangerous-triggers"),
    ],
)
def test_zizmor_finds_what_could_be_abused(zizmor, tmp_path, before, after, audit):
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    path = tmp_path / ".github/workflows/cpu.yml"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")
    run = zizmor(tmp_path / ".github")
    assert run.returncode != 0
    assert audit in run.stdout


def test_dependabot_looks_at_all_that_is_pinned():
    updates = read(ROOT / ".github/dependabot.yml")["updates"]
    assert [update["package-ecosystem"] for update in updates] == ["pip", "github-actions"]
    folders = [folder for one in updates for folder in one.get("directories", [one.get("directory")])]
    assert all((ROOT / folder.strip("/")).is_dir() for folder in folders)
    assert "/" in folders
