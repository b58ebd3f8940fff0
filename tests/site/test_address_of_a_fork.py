"""A fork's site is the fork's, untouched: GitHub tells where a workflow runs, and git where a clone comes from."""

import subprocess

import pytest
from tests.site.conftest import ROOT, build, link_builder, with_navigation

import repository as repository_tool
from site_build.repository import leading_here, published_address, repository

WRITTEN = "https://github.com/up/stream"
HELD = "/".join(repository_tool.held(ROOT))
PAGE = f"""# Home

`pip install "samedevice @ git+https://github.com/{HELD}"` and [a file](https://github.com/{HELD}/blob/main/a.py)
"""


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with git, whose remotes are given by name."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)

    def clone(**remotes):
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        for name, address in remotes.items():
            subprocess.run(["git", "remote", "add", name, address], cwd=tmp_path, check=True)
        return tmp_path

    return clone


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/alice/what.ever",
        "https://github.com/alice/what.ever.git",
        "https://alice:token@github.com/alice/what.ever.git",
        "git@github.com:alice/what.ever.git",
        "ssh://git@github.com/alice/what.ever",
    ],
)
def test_a_clone_is_of_its_remote_on_github(clone, address):
    assert repository(clone(origin=address), WRITTEN) == "https://github.com/alice/what.ever"


def test_origin_comes_first_and_a_remote_elsewhere_says_nothing(clone):
    folder = clone(elsewhere="https://example.org/a/b", backup="https://github.com/me/backup")
    assert repository(folder, WRITTEN) == "https://github.com/me/backup"
    subprocess.run(["git", "remote", "add", "origin", "https://github.com/me/mine"], cwd=folder, check=True)
    assert repository(folder, WRITTEN) == "https://github.com/me/mine"


def test_without_a_remote_it_is_the_address_that_is_written(clone, tmp_path):
    assert repository(tmp_path, WRITTEN) == WRITTEN
    assert repository(clone(origin="/srv/git/thing"), WRITTEN) == WRITTEN


def test_what_github_says_comes_before_a_remote(clone, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "alice/whatever")
    assert repository(clone(origin="https://github.com/me/mine"), WRITTEN) == "https://github.com/alice/whatever"


@pytest.mark.parametrize(
    ("where", "published"),
    [
        ("Alice/Whatever", "https://alice.github.io/Whatever/"),
        ("alice/Alice.github.io", "https://alice.github.io/"),  # a site at the root of its host
    ],
)
def test_pages_serves_a_repository_below_its_owners_name(where, published):
    assert published_address(f"https://github.com/{where}") == published


def test_the_text_of_a_page_leads_to_the_fork_and_nothing_else_changes():
    text = "up/stream https://github.com/up/stream/issues https://up.github.io/stream/errors/ https://github.com/a/b"
    here = leading_here(text, WRITTEN, "https://github.com/alice/x")
    assert here == (
        "alice/x https://github.com/alice/x/issues https://alice.github.io/x/errors/ https://github.com/a/b"
    )
    assert leading_here(text, WRITTEN, WRITTEN) == leading_here(text, None, WRITTEN) == text


def test_a_fork_builds_a_site_of_its_own_without_an_edit(tmp_path):
    for name in ("docs", "notebooks"):
        (tmp_path / name).mkdir()
    link_builder(tmp_path)
    (tmp_path / "docs/hook.py").write_bytes((ROOT / "docs/hook.py").read_bytes())
    for name in ("overrides", "assets"):
        (tmp_path / "docs" / name).symlink_to(ROOT / "docs" / name)
    (tmp_path / "docs/index.md").write_text(PAGE, "utf-8")
    (tmp_path / "mkdocs.yml").write_text(with_navigation("index.md"), "utf-8")
    built = build(tmp_path, tmp_path / "site", GITHUB_REPOSITORY="alice/whatever")
    assert built.returncode == 0, built.log
    page = built.read("index.html")
    (canonical,) = built.page("").select("link[rel=canonical]")
    assert canonical["href"] == "https://alice.github.io/whatever/"
    assert "git+https://github.com/alice/whatever" in page
    assert "https://github.com/alice/whatever/blob/main/a.py" in page
    assert 'data-repository="https://github.com/alice/whatever"' in page
    assert "<loc>https://alice.github.io/whatever/</loc>" in built.read("sitemap.xml")
    everything = [path.read_text("utf-8") for path in built.folder.rglob("*.html")]
    assert not [text for text in everything if HELD in text or HELD.replace("/", ".github.io/") in text]
