"""`make repository`: the new address stands everywhere the old one stood, and no other; CI says whose address it is."""

import json
import re
import runpy
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
    "README.md": "git clone https://github.com/old_me/thing && cd thing\na thing && cd thing-else\n",
}
LONG = "a-name-of-thirty-nine-characters-in-all"  # GitHub allows no longer one


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
    assert new["README.md"] == "git clone https://github.com/new-me/mine && cd mine\na thing && cd thing-else\n"
    assert new["mkdocs.yml"] == "site_url: https://new-me.github.io/mine/\nrepo_url: https://github.com/new-me/mine\n"
    assert "/github/new-me/mine/blob/main/" in new["docs/index.md"]
    assert "git+https://github.com/new-me/mine" in new["notebooks/a.ipynb"]
    assert new["docs/other.md"] == FILES["docs/other.md"]
    assert repository.main(fork, ["https://github.com/old_me/thing.git"]) == 0
    assert texts(fork) == FILES


def test_the_first_address_is_the_first_that_answers_lead_to(fork):
    file = fork / "site_addresses.py"
    file.write_text((ROOT / "src/samedevice/doctor/site_addresses.py").read_text("utf-8"), "utf-8")
    address = re.search('^REPOSITORY = "(.*)"$', file.read_text("utf-8"), re.MULTILINE)[1]
    owner, name = address.split("/")[-2:]
    repository.rewrite(fork, (owner, name), (repository.PLACEHOLDER, "thing"))
    assert runpy.run_path(str(file))["site"]() is None
    repository.rewrite(fork, (repository.PLACEHOLDER, "thing"), ("New-me", "mine"))
    now = runpy.run_path(str(file))
    assert now["error_page"]("SD031") == "https://new-me.github.io/mine/errors/sd031/"
    assert now["issue_form"]("x").startswith("https://github.com/New-me/mine/issues/new?")


@pytest.mark.parametrize(
    "arguments", [[], ["new-me/mine"], ["https://example.org/a/b"], ["https://github.com/a/b", "c"]]
)
def test_what_is_no_address_on_github_is_refused_in_one_sentence(fork, capsys, arguments):
    assert repository.main(fork, arguments) == 2
    assert "make repository URL=https://github.com/OWNER/NAME" in capsys.readouterr().err
    assert texts(fork) == FILES


@pytest.fixture
def on_github(fork, monkeypatch, tmp_path_factory):
    """Run it as in a workflow of a repository."""

    def on_github(running, option="--check", fork_of_another=False):
        event = tmp_path_factory.mktemp("event") / "event.json"
        event.write_text(json.dumps({"repository": {"fork": fork_of_another}}), "utf-8")
        settings = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": running, "GITHUB_EVENT_PATH": str(event)}
        for name, value in settings.items():
            monkeypatch.setenv(name, value) if running else monkeypatch.delenv(name, raising=False)
        return repository.main(fork, [option])

    return on_github


@pytest.mark.parametrize("running", [None, "old_me/thing", "Old_Me/Thing"])
def test_off_github_and_in_the_repository_itself_there_is_nothing_to_say(on_github, capsys, running):
    assert on_github(running) == 0
    assert on_github(running, "--release") == 0
    assert capsys.readouterr() == ("", "")


def test_while_nobody_has_named_a_repository_one_line_says_how_on_github(fork, on_github, capsys):
    (fork / "pyproject.toml").write_text(FILES["pyproject.toml"].replace("old_me", repository.PLACEHOLDER))
    assert on_github(None) == 0
    assert capsys.readouterr() == ("", "")
    assert on_github("new-me/mine") == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert said.startswith("::notice title=Address::Run `make repository URL=https://github.com/new-me/mine` once")
    assert on_github(f"{repository.PLACEHOLDER}/thing", "--release") == 2, (
        "no package is released from nobody's address"
    )


def test_a_fork_is_green_and_is_told_whose_address_it_has(fork, on_github, capsys):
    assert on_github("alice/whatever", fork_of_another=True) == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "the fork alice/whatever" in said
    assert "old_me/thing" in said
    assert "make repository" not in said
    assert texts(fork) == FILES


def test_where_the_project_has_moved_ci_says_so_and_a_release_has_to_wait(fork, on_github, capsys):
    assert on_github("new-me/mine") == 0
    assert "run `make repository URL=https://github.com/new-me/mine`" in capsys.readouterr().out
    assert on_github("new-me/mine", "--release") == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "make repository URL=https://github.com/new-me/mine" in said
    assert texts(fork) == FILES
    repository.main(fork, ["https://github.com/new-me/mine"])
    assert on_github("new-me/mine", "--release") == 0


def test_the_whole_project_takes_a_long_owner_and_another_name(tmp_path):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    before = repository.held(tmp_path)
    assert repository.main(tmp_path, [f"https://github.com/{LONG}/errors.of.devices"]) == 0
    assert repository.held(tmp_path) == (LONG, "errors.of.devices")
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert f"git clone https://github.com/{LONG}/errors.of.devices && cd errors.of.devices\n" in readme
    left = subprocess.run(
        ["git", "grep", "--untracked", "-lF", "-e", "/".join(before), "-e", f"{before[0]}.github.io"], cwd=tmp_path
    )
    assert left.returncode == 1, "the old address is left"
    assert subprocess.run([sys.executable, "-m", "ruff", "check", "-q"], cwd=tmp_path).returncode == 0
    assert subprocess.run([sys.executable, "-m", "ruff", "format", "-q", "--check"], cwd=tmp_path).returncode == 0
    assert repository.main(tmp_path, ["https://github.com/" + "/".join(before)]) == 0
    assert (tmp_path / "README.md").read_text("utf-8") == (ROOT / "README.md").read_text("utf-8")


def test_the_project_has_one_address():
    held = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    owner, name = held.split("/")[-2:]
    pages = ["README.md", "mkdocs.yml", *(f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb"))]
    for page in pages:
        text = (ROOT / page).read_text("utf-8")
        found = set(re.findall(rf"[\w.-]+/{re.escape(name)}(?![\w-])", text))
        assert found, page
        assert found <= {f"{owner}/{name}", f"{owner}.github.io/{name}"}, page
