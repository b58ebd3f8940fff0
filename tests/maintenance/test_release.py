"""The release workflow: what is published was tested, the tag says what it is (its rights: test_workflows.py)."""

import os
import re
import subprocess
import sys
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
    assert JOBS["build"]["steps"][-1]["with"]["path"].split() == ["dist", "notes.md"]


def test_what_uploads_is_pinned_and_knows_trusted_publishing():
    assert JOBS["publish"]["environment"] == "pypi"
    install, upload = commands("publish")
    assert install == "python -m pip install -q -c constraints.txt twine"
    assert upload.startswith("python -m twine upload")
    pinned = dict(re.findall(r"^([\w.-]+)==([\d.]+)", (ROOT / "constraints.txt").read_text("utf-8"), re.M))
    assert tuple(map(int, pinned["twine"].split("."))) >= (6, 1)
    assert "id" in pinned  # asks GitHub for the token


@pytest.mark.parametrize(
    ("tag", "entry", "says"),
    [
        ("v0.2.0", "## 0.2.0 (2027-01-05)", None),
        ("v0.3.0", "## 0.3.0 (2027-01-05)", "The tag v0.3.0 is not the version that was built: samedevice-0.2.0-py3"),
        ("v0.2.0", "## Unreleased", "under Unreleased"),
        ("v0.2.0", "## 0.1.0 (2027-01-05)", "no section of 0.2.0"),
    ],
)
def test_the_tag_has_to_be_the_version_and_the_changelog_ready(tmp_path, tag, entry, says):
    for name in ("dist", "tools", "bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "dist/samedevice-0.2.0-py3-none-any.whl").touch()
    (tmp_path / "tools/changelog.py").write_bytes((ROOT / "tools/changelog.py").read_bytes())
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{entry}\n\n- News.\n")
    python = tmp_path / "bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (step,) = (step for step in JOBS["build"]["steps"] if step.get("id") == "tag")
    run = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env=os.environ | {"GITHUB_REF_NAME": tag, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    if says:
        assert run.returncode != 0
        assert says in run.stderr
        assert run.stderr.count("\n") == 1
    else:
        assert run.returncode == 0, run.stderr
        assert (tmp_path / "notes.md").read_text() == "- News.\n"
