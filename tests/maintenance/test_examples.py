"""The README's example prints what the README shows, and its links lead to files."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_each_example_prints_what_is_shown():
    examples = re.findall(r"```python\n(.*?)```", README, re.S)
    shown = re.findall(r"```text\n(.*?)```", README, re.S)
    assert examples
    for example, text in zip(examples, shown, strict=True):
        run = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
        assert (run.stdout, run.returncode) == (text, 0), run.stderr


def test_every_file_linked_to_is_there():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text("utf-8")):
            assert (ROOT / target).exists(), target
