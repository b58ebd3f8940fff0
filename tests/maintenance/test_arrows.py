"""The arrows between the packages: the contracts of import-linter fail where one is turned round."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TURNED = {
    "samedevice/introspect/values.py": "from samedevice.doctor.diagnosis import Diagnosis",
    "samedevice/catalog/rows.py": "from samedevice.doctor.text import rank",
    "samedevice/placement/model.py": "from samedevice.simulation.device import devices",
    "samedevice/doctor/examine.py": "from samedevice.simulation.device import devices",
    "samedevice/simulation/device/devices.py": "from samedevice import plurals",
    "samedevice/doctor/text/rank.py": "from samedevice.doctor.culprits import failure",
    "samedevice/doctor/culprits/owner.py": "from samedevice.doctor.causes import registry",
    "samedevice/doctor/causes/rewriting.py": "from samedevice.doctor.causes import registry",
    "samedevice/doctor/report.py": "import lessons",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def contracts(folder):
    """What `lint-imports` says of the packages in a folder."""
    program = "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports_command as main; main()"
    command = [sys.executable, "-c", program, "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_the_arrows_point_one_way(project):
    run = contracts(project)
    assert run.returncode == 0, run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("file", TURNED)
def test_an_arrow_that_is_turned_round_breaks_a_contract(project, file):
    path = project / "src" / file
    before = path.read_text(encoding="utf-8")
    path.write_text(f"{before}\n{TURNED[file]}\n", encoding="utf-8")
    try:
        run = contracts(project)
    finally:
        path.write_text(before, encoding="utf-8")
    assert run.returncode == 1
    assert " BROKEN" in run.stdout
