"""While the site is served, a page that has not changed is not rendered again, and what is served is the same."""

import os
import shutil
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tests.site.conftest import ROOT, link_builder, with_navigation

# As `mkdocs serve` does: in one process a build, and another after edits. Each is PATH|BEFORE|AFTER.
PROGRAM = """
import pathlib, sys
from mkdocs.commands.build import build
from mkdocs.config import load_config

def build_into(folder):
    build(load_config("mkdocs.yml", site_dir=folder, site_url=address), serve_url=address)

first, second, *edits = sys.argv[1:]
address = "http://127.0.0.1:8000/"
load_config("mkdocs.yml").plugins.on_startup(command="serve", dirty=False)
build_into(first)
for edit in edits:
    path, before, after = edit.split("|")
    text = pathlib.Path(path).read_text()
    assert before in text
    pathlib.Path(path).write_text(text.replace(before, after))
build_into(second)
"""
EDITS = [
    "notebooks/01-a.ipynb|Section|Renamed",  # a heading, so the contents and an anchor
    "docs/index.md|Home|House",  # in the navigation of every page
    'src/samedevice/catalog/messages/SD050.toml|title = "|title = "Edited: ',
]


def serve(project, *arguments):
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(project / "src")}
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    run = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stderr


def written(folder):
    # The gzipped sitemap holds the time of the build.
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.suffix != ".gz"}


def test_after_edits_the_served_site_is_what_a_new_process_builds(tmp_path):
    project = tmp_path / "project"
    shutil.copytree(ROOT / "docs", project / "docs", ignore=shutil.ignore_patterns("*.md", "__pycache__"))
    shutil.copytree(ROOT / "src/samedevice", project / "src/samedevice", ignore=shutil.ignore_patterns("__pycache__"))
    for other in (project / "src/samedevice/catalog/messages").iterdir():
        if other.name != "SD050.toml":
            other.unlink()
    config = with_navigation("Fix an error: [index.md, errors/index.md]", "Learn: [notebooks/*.ipynb]", "claims.md")
    (project / "mkdocs.yml").write_text(config, "utf-8")
    link_builder(project)
    (project / "docs/index.md").write_text("# Home\n\n[A](../notebooks/01-a.ipynb#section)", "utf-8")
    (project / "notebooks").mkdir()
    raised = new_output("error", ename="TypeError", evalue="can't convert cuda:0 device type tensor to numpy.")
    for name in ("01-a", "02-b"):
        cells = [new_markdown_cell(f"# {name}\n\n[other](01-a.ipynb#section)"), new_markdown_cell("## Section")]
        cells.append(new_code_cell("x.numpy()", outputs=[raised], execution_count=1))
        nbformat.write(new_notebook(cells=cells), project / f"notebooks/{name}.ipynb")

    serve(project, tmp_path / "before", tmp_path / "after", *EDITS)
    log = serve(project, tmp_path / "new", tmp_path / "again")
    # Of dead anchors a page warns that is not rendered again, too.
    assert log.count("'notebooks/02-b.ipynb' contains a link '01-a.ipynb#section'") == 2
    before, after, new, again = (written(tmp_path / name) for name in ("before", "after", "new", "again"))
    assert new == again
    assert before.keys() == after.keys() == new.keys()
    assert {name for name in new if after[name] != new[name]} == set()
    assert {name for name in new if before[name] != after[name]} != set()
