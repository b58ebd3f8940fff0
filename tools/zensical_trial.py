"""Say how many pages Zensical, the successor of Material for MkDocs, builds of this site, and what stops it.

    pip install zensical   # into an environment of its own
    python3 tools/zensical_trial.py PATH/TO/zensical

It builds a copy of the project, in which what stops it is taken out one after the other. Nothing in CI runs this.
MAINTAINING.md says when to.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def without_relative(folder: Path) -> None:
    """Write folders in the place of the tag by which MkDocs finds them."""
    settings = folder / "mkdocs.yml"
    text = settings.read_text("utf-8").replace("!relative $docs_dir", "docs").replace("!relative $config_dir/", "")
    settings.write_text(text, "utf-8")


def without_sitemap(folder: Path) -> None:
    """Remove the template that wants a value of MkDocs' plugins."""
    (folder / "docs/overrides/sitemap.xml").unlink()


STEPS: list[tuple[str, Callable[[Path], None]]] = [
    ("as it is", lambda folder: None),
    ("without `!relative` in mkdocs.yml", without_relative),
    ("and without the template of sitemap.xml", without_sitemap),
]


def main(program: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "copy"
        ignored = shutil.ignore_patterns(".git", ".venv*", "site", "dist", ".*_cache", "__pycache__")
        shutil.copytree(ROOT, folder, ignore=ignored)
        for name, change in STEPS:
            change(folder)
            shutil.rmtree(folder / "site", ignore_errors=True)
            run = subprocess.run([program, "build"], cwd=folder, capture_output=True, text=True)
            pages = len(list((folder / "site").rglob("*.html")))
            said = [line for line in (run.stdout + run.stderr).splitlines() if "rror" in line or "ndefined" in line]
            print(f"{name}: {pages} HTML pages, exit code {run.returncode}")
            print("".join(f"    {line.strip()[:160]}\n" for line in said[:4]), end="")


if __name__ == "__main__":
    main(sys.argv[1])
