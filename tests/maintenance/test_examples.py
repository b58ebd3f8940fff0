"""The examples of the README and of pages print what stands below them, and links in Markdown lead to files."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINKING = ["README.md", "CONTRIBUTING.md", "MAINTAINING.md", "AGENTS.md", "CODE_OF_CONDUCT.md"]
PAGES = ["README.md", "docs/find-the-tensor.md", "docs/simulated-cuda.md"]


@pytest.mark.parametrize("page", PAGES)
def test_each_example_prints_what_is_shown(page, tmp_path):
    text = (ROOT / page).read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.S)
    shown = re.findall(r"```(?:text|console| \{\.console \.columns\})\n(.*?)```", text, re.S)
    assert examples
    for example, output in zip(examples, shown, strict=True):
        program = tmp_path / "train.py"
        program.write_text(example, "utf-8")
        run = subprocess.run([sys.executable, program], capture_output=True, text=True)
        assert (run.stdout.replace(f"{tmp_path}/", "").rstrip(), run.returncode) == (output.rstrip(), 0), run.stderr


def test_the_readme_is_read_in_three_minutes():
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 700


@pytest.mark.parametrize("page", LINKING)
def test_every_file_linked_to_is_there_and_the_link_counts_from_the_page(page):
    text = (ROOT / page).read_text("utf-8")
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert targets
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    raw = ours.replace("github.com", "raw.githubusercontent.com")
    for target in targets:
        assert target.startswith("https:") or (ROOT / target).exists(), target
        # A fork, a branch and a checkout have their own file; at build time the package's page gets the whole address.
        assert not target.startswith((f"{ours}/blob/", f"{ours}/tree/", raw)), target
