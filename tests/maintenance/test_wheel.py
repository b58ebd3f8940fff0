"""The wheel, built here and looked at: it holds the code and all its data, and nothing else. And the version is git's.

`make test-wheel` installs one into an empty environment and runs it; this is the part that takes no time.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSIONED = ["pyproject.toml", ".gitattributes", ".git_archival.txt"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a folder without git, which has nobody else to say what belongs into it."""
    folder = tmp_path_factory.mktemp("exported")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    run = subprocess.run([sys.executable, "-c", build, folder / "dist"], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (built,) = (folder / "dist").iterdir()
    return built


def test_it_holds_the_code_and_its_data_and_nothing_else(wheel):
    ignored = ("__pycache__", ".egg-info")
    expected = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and not any(part in str(path) for part in ignored)
    }
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == expected
    assert {"samedevice/py.typed", "lessons/py.typed", "samedevice/catalog/messages/SD001.toml"} <= held
    assert "samedevice/skills/samedevice/SKILL.md" in held


def test_its_metadata_has_one_address_the_readme_and_no_torch_that_nobody_asked_for(wheel):
    files = zipfile.ZipFile(wheel)
    (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = message_from_bytes(files.read(name))
    addresses = dict(text.split(", ") for text in metadata.get_all("Project-URL"))
    repository = addresses["Repository"]
    owner, project = repository.split("/")[-2:]
    assert addresses == {
        "Repository": repository,
        "Documentation": f"https://{owner}.github.io/{project}/",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    assert [text for text in metadata.get_all("Requires-Dist") if "extra ==" not in text] == ["pyyaml>=6"]
    assert {"torch", "test", "site"} == set(metadata.get_all("Provides-Extra"))
    readme = (ROOT / "README.md").read_text("utf-8")
    page = metadata.get_payload()
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert all(link.startswith("https://") for link in links), "the package's page has no folder to count links from"
    raw = repository.replace("github.com", "raw.githubusercontent.com")
    shown = {link for link in links if link.startswith(raw)}
    assert shown == {f"{raw}/main/{path}" for path in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", readme)}
    assert f"{repository}/blob/main/MAINTAINING.md" in links
    assert f"{repository}/tree/main/notebooks/" in links
    assert re.sub(rf"\]\((?:{repository}/(?:blob|tree)|{raw})/main/", "](", page) == readme


def test_unpacked_it_explains_an_error_without_torch(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['torch'] = None\n"
        "import samedevice, lessons; from samedevice.doors.cli import main\n"
        "print(samedevice.__file__, lessons.__file__, sep='\\n')\n"
        "main(['--version']); main(['explain', 'SD001'])"
    )
    run = subprocess.run([sys.executable, "-I", "-c", program, tmp_path], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    code, lessons, version, title, *_ = run.stdout.splitlines()
    assert (Path(code).parents[1], Path(lessons).parents[1]) == (tmp_path, tmp_path)
    assert version == "samedevice 0.0"
    assert title.startswith("SD001: ")


def test_the_version_is_the_newest_tags_and_a_build_goes_without_one(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name in VERSIONED:
        shutil.copy(ROOT / name, source)

    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], cwd=source, check=True, capture_output=True)

    def taken(name):
        """As a clone has it, and as GitHub packs a repository."""
        git("clone", source, tmp_path / name)
        git("archive", f"--output={tmp_path}/{name}.zip", "HEAD")
        zipfile.ZipFile(tmp_path / f"{name}.zip").extractall(tmp_path / f"{name}, zip")

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--message=First")
    taken("no tag")
    git("tag", "v0.1.0")
    taken("tag")
    git("commit", "--allow-empty", "--message=Second")
    taken("later")
    versions = {
        "no tag": r"0\.1\.dev1\+g\w+",
        "no tag, zip": r"0\.0",
        "tag": r"0\.1\.0",
        "tag, zip": r"0\.1\.0",
        "later": r"0\.1\.1\.dev1\+g\w+",
        "later, zip": r"0\.1\.1\.dev1\+g\w+",
    }
    ask = (
        "import sys; from hatchling.metadata.core import ProjectMetadata as Metadata\n"
        "from hatchling.plugin.manager import PluginManager\n"
        "for folder in sys.argv[1:]: print(Metadata(folder, PluginManager()).version)"
    )
    folders = [tmp_path / name for name in versions]
    run = subprocess.run([sys.executable, "-c", ask, *folders], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    for (name, expected), found in zip(versions.items(), run.stdout.splitlines(), strict=True):
        assert re.fullmatch(expected, found), f"{name}: {found}"
