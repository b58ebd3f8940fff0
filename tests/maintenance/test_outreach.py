"""The texts that wait to be sent: their programs print what they show, and the list has them all."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "outreach"
TEXTS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
COMPILED = "graph-break-gb5173"


@pytest.mark.slow
def test_the_compiler_names_the_graph_break_of_its_page(tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", (FOLDER / f"{COMPILED}.md").read_text("utf-8"), re.S)
    (tmp_path / "program.py").write_text(program, "utf-8")
    command = [sys.executable, "-m", "samedevice", "run", "program.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1
    assert "gb5173.html" in run.stderr and "Tensor device mismatch" in run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in TEXTS if path.stem != COMPILED], ids=lambda path: path.stem)
def test_a_program_prints_what_is_shown(path, tmp_path):
    text = path.read_text("utf-8")
    programs = re.findall(r"```python\n(.*?)```", text, re.S)
    shown = re.findall(r"```text\n(.*?)```", text, re.S)
    for program, output in zip(programs, shown, strict=True):
        for package in re.findall(r"^(?:from|import) (\w+)", program, re.M):
            if importlib.util.find_spec(package) is None:
                pytest.skip(f"{package} is not installed")
        (tmp_path / "program.py").write_text(program, "utf-8")
        run = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True)
        assert (run.stdout, run.returncode) == (output, 0), run.stderr


def test_the_list_has_every_text():
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (FOLDER / "README.md").read_text("utf-8"))
    assert sorted(set(listed)) == [path.name for path in TEXTS]
