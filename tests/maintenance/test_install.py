"""Everything is installed by hash but torch, and this project last."""

import pytest

import install


@pytest.fixture
def planned(monkeypatch):
    """What pip would be asked for."""

    def planned(*arguments, fails=None):
        steps = []

        def run(step, name):
            steps.append(step)
            return int(step[-1] == fails)

        monkeypatch.setattr(install.quiet_pip, "install", run)
        return install.main(list(arguments)), steps

    return planned


def test_all_that_is_installed_has_hashes_but_torch_and_this_project(planned):
    code, steps = planned("everything")
    assert code == 0
    site, test, torch, ours = steps
    for step, name in ((site, "site"), (test, "test")):
        assert step[-1] == f"--requirement=requirements/{name}.txt"
        assert {"--require-hashes", "--no-deps", "--no-build-isolation", "--only-binary=:all:"} <= set(step)
    assert torch == ["--constraint=constraints.txt", "torch"]
    assert ours == ["--no-deps", "--no-build-isolation", "--editable=."]


def test_the_site_needs_neither_torch_nor_the_tests(planned):
    _, steps = planned("site")
    assert [step[-1] for step in steps] == ["--requirement=requirements/site.txt", "--editable=."]


@pytest.mark.parametrize(
    ("version", "asked"),
    [
        ("2.11.0", ["torch==2.11.0"]),
        ("2.x", ["torch>=2.11,<2.16"]),
        ("nightly", ["--pre", "--index-url=https://download.pytorch.org/whl/nightly/cpu", "torch"]),
    ],
)
def test_another_torch_can_be_named(planned, version, asked):
    assert planned("everything", version)[1][2] == asked


def test_what_fails_ends_it(planned):
    code, steps = planned("everything", fails="--requirement=requirements/site.txt")
    assert code == 1
    assert len(steps) == 1


@pytest.mark.parametrize(
    "arguments", [[], ["all"], ["site", "2.11.0"], ["everything", "2.11.0; ls"], ["everything", "1", "2"]]
)
def test_misuse_is_one_sentence(planned, arguments, capsys):
    assert planned(*arguments) == (2, [])
    assert "tools/install.py site, or everything" in capsys.readouterr().err
