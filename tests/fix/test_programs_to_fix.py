"""The programs with several device bugs are whole. Whether `samedevice fix` fixes them takes minutes: `make doctor`."""

import subprocess
import tomllib

import pytest

from fix_programs import FOLDER

PROGRAMS = sorted(path.parent.name for path in FOLDER.glob("*/train.py"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_what_is_wrong_with_it_and_how_it_was_fixed_by_hand(name, tmp_path):
    about = tomllib.loads((FOLDER / name / "about.toml").read_text("utf-8"))
    assert 2 <= len(about["bugs"]) <= 5
    assert all(address.startswith("https://") for address in about["after"])
    fixed = ["git", "apply", "--check", str(FOLDER / name / "fixed.diff")]
    files = {path.name: path for path in (FOLDER / name).rglob("*.py")}
    for path in files.values():
        copy = tmp_path / path.relative_to(FOLDER / name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    subprocess.run(fixed, cwd=tmp_path, check=True, env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})


def test_the_figures_of_the_site_are_of_these_programs(figures_on_file):
    """After a change, `make doctor` writes them anew."""
    assert figures_on_file("fix")["programs"] == len(PROGRAMS)
