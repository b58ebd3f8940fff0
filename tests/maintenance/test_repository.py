"""`make repository`: a fork's address stands everywhere the old one stood, and no other; CI asks for it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import repository

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "pyproject.toml": '[project]\n[project.urls]\nRepository = "https://github.com/old_me/thing"\n',
    "mkdocs.yml": "site_url: https://old_me.github.io/thing/\nrepo_url: https://github.com/old_me/thing\n",
    "notebooks/a.ipynb": '{"source": ["pip install \\"x @ git+https://github.com/old_me/thing\\""]}',
    "docs/index.md": "https://colab.research.google.com/github/old_me/thing/blob/main/a.ipynb\n",
    "docs/other.md": "https://github.com/old_me/thing-else and https://github.com/not-old_me/thing\n",
}


@pytest.fixture
def fork(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def texts(folder):
    return {name: (folder / name).read_text() for name in FILES}


def test_the_address_is_rewritten_everywhere_and_back(fork, capsys):
    assert repository.main(fork, ["https://github.com/new-me/mine"]) == 0
    new = texts(fork)
    assert capsys.readouterr().out.split() == ["Rewritten", "in:", *sorted(set(FILES) - {"docs/other.md"})]
    assert new["mkdocs.yml"] == "site_url: https://new-me.github.io/mine/\nrepo_url: https://github.com/new-me/mine\n"
    assert "/github/new-me/mine/blob/main/" in new["docs/index.md"]
    assert "git+https://github.com/new-me/mine" in new["notebooks/a.ipynb"]
    assert new["docs/other.md"] == FILES["docs/other.md"]
    assert repository.main(fork, ["https://github.com/old_me/thing.git"]) == 0
    assert texts(fork) == FILES


@pytest.mark.parametrize(
    "arguments", [[], ["new-me/mine"], ["https://example.org/a/b"], ["https://github.com/a/b", "c"]]
)
def test_what_is_no_address_on_github_is_refused_in_one_sentence(fork, capsys, arguments):
    assert repository.main(fork, arguments) == 2
    assert "make repository URL=https://github.com/OWNER/NAME" in capsys.readouterr().err
    assert texts(fork) == FILES


@pytest.mark.parametrize("running", [None, "old_me/thing", "Old_Me/Thing"])
def test_off_github_and_in_the_repository_itself_the_check_says_nothing(fork, capsys, monkeypatch, running):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    if running:
        monkeypatch.setenv("GITHUB_REPOSITORY", running)
    assert repository.main(fork, ["--check"]) == 0
    assert capsys.readouterr() == ("", "")


def test_on_github_the_check_fails_with_the_command_while_the_address_is_anothers(fork, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "new-me/mine")
    assert repository.main(fork, ["--check"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "make repository URL=https://github.com/new-me/mine" in said
    assert texts(fork) == FILES
    repository.main(fork, ["https://github.com/new-me/mine"])
    assert repository.main(fork, ["--check"]) == 0


def test_ci_asks_before_it_installs_anything(tmp_path):
    for name in (".ci/run", "tools/repository.py", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "Makefile").write_text("test test-rest:\n\t@echo make $@ ran.\n")
    (tmp_path / "chromium").symlink_to(sys.executable)  # so that it has nothing to install
    path = os.pathsep.join([str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]])
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "MAKE", "MFLAGS"))
    }

    def ci(*target, **settings):
        command, environment = [tmp_path / ".ci/run", *target], inherited | {"PATH": path} | settings
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    assert (ci().returncode, ci().stdout) == (0, "make test ran.\nmake test-rest ran.\n")
    assert ci("test-rest").stdout == "make test-rest ran.\n"
    refused = ci(GITHUB_REPOSITORY="a/b")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "make repository URL=https://github.com/a/b" in refused.stderr


def test_the_project_has_one_address():
    held = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    owner, name = held.split("/")[-2:]
    pages = ["README.md", "mkdocs.yml", *(f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb"))]
    for page in pages:
        text = (ROOT / page).read_text("utf-8")
        found = set(re.findall(rf"[\w.-]+/{re.escape(name)}(?![\w-])", text))
        assert found, page
        assert found <= {f"{owner}/{name}", f"{owner}.github.io/{name}"}, page
