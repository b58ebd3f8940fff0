"""Copies of the notebooks without the answers to what they ask, for readers who run them: those that Colab opens.

    python3 tools/unanswered.py FOLDER

writes FOLDER/notebooks/*.ipynb: the notebooks, but the cell below each question to predict has no outputs. The stored
ones keep all outputs, since nbval compares them and the site shows them. .github/workflows/pages.yml puts the copies
on the branch `colab`, and the site offers the same for download. It needs nothing but Python.
"""

import copy
import itertools
import json
import sys
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def answers(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells that answer a question to predict: each stands below a cell with the tag `predict`."""
    cells = notebook["cells"]
    return [cell for question, cell in itertools.pairwise(cells) if "predict" in question["metadata"].get("tags", [])]


def without_answers(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a notebook in which nothing that a reader is asked to predict is answered."""
    asked = copy.deepcopy(notebook)
    for cell in answers(asked):
        cell.update(outputs=[], execution_count=None)
    return asked


def write_copies(folder: Path) -> int:
    """Write a copy of each notebook below `folder` and return how many there are."""
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    (folder / NOTEBOOKS.name).mkdir(parents=True, exist_ok=True)
    for path in paths:
        write(without_answers(json.loads(path.read_text("utf-8"))), folder / NOTEBOOKS.name / path.name)
    return len(paths)


def write(notebook: dict[str, Any], path: Path) -> None:
    """Write a notebook as it is stored elsewhere."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("Name the folder for the copies: python3 tools/unanswered.py FOLDER", file=sys.stderr)
        sys.exit(2)
    print(f"{write_copies(Path(sys.argv[1]))} notebooks without their answers are in {sys.argv[1]}.")
