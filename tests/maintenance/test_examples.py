"""The examples of the README and of pages print what stands below them, and links in Markdown lead to files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/find-the-tensor.md", "docs/simulated-cuda.md"]


@pytest.mark.parametrize("page", PAGES)
def test_each_example_prints_what_is_shown(page, tmp_path):
    text = (ROOT / page).read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.S)
    shown = re.findall(r"```(?:text|console)\n(.*?)```", text, re.S)
    assert examples
    for example, output in zip(examples, shown, strict=True):
        program = tmp_path / "train.py"
        program.write_text(example, "utf-8")
        run = subprocess.run([sys.executable, program], capture_output=True, text=True)
        assert (run.stdout.replace(f"{tmp_path}/", "").rstrip(), run.returncode) == (output.rstrip(), 0), run.stderr


def test_every_file_linked_to_is_there():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text("utf-8")):
            assert (ROOT / target).exists(), target
