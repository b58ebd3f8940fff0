"""`make address`: a fork's address stands everywhere the old one stood, and nowhere else."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import address

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
    assert address.main(fork, ["https://github.com/new-me/mine"]) == 0
    new = texts(fork)
    assert capsys.readouterr().out.split() == ["Rewritten", "in:", *sorted(set(FILES) - {"docs/other.md"})]
    assert new["mkdocs.yml"] == "site_url: https://new-me.github.io/mine/\nrepo_url: https://github.com/new-me/mine\n"
    assert "/github/new-me/mine/blob/main/" in new["docs/index.md"]
    assert "git+https://github.com/new-me/mine" in new["notebooks/a.ipynb"]
    assert new["docs/other.md"] == FILES["docs/other.md"]
    assert address.main(fork, ["https://github.com/old_me/thing.git"]) == 0
    assert texts(fork) == FILES


@pytest.mark.parametrize(
    "arguments", [[], ["new-me/mine"], ["https://example.org/a/b"], ["https://github.com/a/b", "c"]]
)
def test_what_is_no_address_on_github_is_refused_in_one_sentence(fork, capsys, arguments):
    assert address.main(fork, arguments) == 2
    assert "make address URL=https://github.com/OWNER/NAME" in capsys.readouterr().err
    assert texts(fork) == FILES


def test_the_project_has_one_address():
    held = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    owner, name = held.split("/")[-2:]
    pages = ["README.md", "mkdocs.yml", *(f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb"))]
    for page in pages:
        text = (ROOT / page).read_text("utf-8")
        found = set(re.findall(rf"[\w.-]+/{re.escape(name)}(?![\w-])", text))
        assert found, page
        assert found <= {f"{owner}/{name}", f"{owner}.github.io/{name}"}, page
