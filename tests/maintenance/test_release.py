"""The release workflow: what is published was tested, the tag says what it is (its rights: test_workflows.py)."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
JOBS = WORKFLOW["jobs"]


def commands(job):
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def test_a_tag_starts_it_and_nothing_is_published_that_was_not_tried():
    assert WORKFLOW[True] == {"push": {"tags": ["v*"]}}  # YAML reads the key `on` as the truth value
    needs = {name: job.get("needs") for name, job in JOBS.items()}
    assert needs == {"build": None, "test": "build", "publish": ["build", "test"], "github-release": "publish"}
    assert commands("test") == ["make test-dist"]


def test_what_is_published_was_kept_before_packages_of_others_ran():
    steps = [step.get("run") or step["uses"].partition("@")[0] for step in JOBS["build"]["steps"]]
    assert steps.index("python3 tools/repository.py --release") < steps.index("hatchling build")
    assert steps[-1] == "actions/upload-artifact"
    assert not [step for step in steps if "test" in step]
    uploaded = [name for name, job in JOBS.items() if "actions/upload-artifact@" in str(job["steps"])]
    assert uploaded == ["build"]
    assert JOBS["build"]["steps"][-1]["with"]["path"] == "dist"


def test_what_uploads_is_pinned_and_knows_trusted_publishing():
    assert JOBS["publish"]["environment"] == "pypi"
    install, upload = commands("publish")
    assert install == "python -m pip install -q -c constraints.txt twine"
    assert upload.startswith("python -m twine upload")
    pinned = dict(re.findall(r"^([\w.-]+)==([\d.]+)", (ROOT / "constraints.txt").read_text("utf-8"), re.M))
    assert tuple(map(int, pinned["twine"].split("."))) >= (6, 1)
    assert "id" in pinned  # asks GitHub for the token


@pytest.mark.parametrize(("tag", "code"), [("v0.2.0", 0), ("v0.3.0", 1)])
def test_the_tag_has_to_be_the_version(tmp_path, tag, code):
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist/samedevice-0.2.0-py3-none-any.whl").touch()
    (step,) = (step for step in JOBS["build"]["steps"] if step.get("id") == "tag")
    settings = os.environ | {"GITHUB_REF_NAME": tag}
    run = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert run.returncode == code
    assert ("The tag v0.3.0 is not the version that was built: samedevice-0.2.0-py3" in run.stderr) == bool(code)
