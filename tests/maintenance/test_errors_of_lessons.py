"""`make test-errors`: which cells it compares, and that it sees each way in which an error can differ."""

from pathlib import Path

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook, new_output

import errors

ROOT = Path(__file__).resolve().parents[2]


def notebook(*texts):
    """A cell for each text of an error; None raises nothing."""
    cells = []
    for number, text in enumerate(texts):
        outputs = [] if text is None else [new_output("error", ename="RuntimeError", evalue=text)]
        cells.append(new_code_cell(id=f"cell-{number}", metadata={"tags": ["raises-exception"]}, outputs=outputs))
    return new_notebook(cells=[new_code_cell(), *cells])


@pytest.mark.parametrize("raised", ["found at least two devices, cuda:1 and cpu!", None])
def test_another_error_differs_and_so_does_none(raised):
    stored = notebook("found at least two devices, cuda:0 and cpu!", "the same")
    (first, complaint), second = errors.compare(stored, notebook(raised, "the same"))
    assert first == "cell-0"
    assert "cuda:0 and cpu!" in complaint
    assert str(raised or []) in complaint
    assert second == ("cell-1", None)


def test_a_cell_that_depends_on_values_may_differ_and_has_to(monkeypatch):
    monkeypatch.setattr(errors, "OF_VALUES", {"cell-0": "for a reason"})
    assert list(errors.compare(notebook("size 6"), notebook("size 0"))) == [("cell-0", None)]
    [(_, complaint)] = errors.compare(notebook("size 6"), notebook("size 6"))
    assert complaint.endswith("though it depends on values")


def test_what_depends_on_values_is_a_cell_that_raises():
    lessons = [nbformat.read(path, 4) for path in (ROOT / "notebooks").glob("*.ipynb")]
    tagged = [
        cell.id for lesson in lessons for cell in lesson.cells if "raises-exception" in cell.metadata.get("tags", [])
    ]
    assert set(errors.OF_VALUES) <= set(tagged)
    assert len(tagged) == len(set(tagged))


def test_what_cudnn_keeps_from_starting_is_asked_without_it_and_nothing_else():
    stored = notebook("found cuda:0 and cpu", "Input type")
    first = notebook(errors.CUDNN_CANNOT_START, "Input type")

    def complaints(*runs):
        return [complaint and complaint.partition("raised ")[2] for _, complaint in errors.compare(stored, *runs)]

    assert complaints(first, notebook("found cuda:0 and cpu", "slow_conv2d")) == [None, None]
    assert complaints(first, notebook("another", "slow_conv2d")) == ["[('RuntimeError', 'another')]", None]
    assert complaints(notebook("found cuda:0 and cpu", "slow_conv2d"), stored) == [
        None,
        "[('RuntimeError', 'slow_conv2d')]",
    ]


def test_called_by_itself_it_names_its_command(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert errors.main() == 2
    said = capsys.readouterr().err
    assert "make test-errors" in said
    assert said.count("\n") == 1
