"""`make test-errors`: it sees each way in which a lesson's error can differ from that of PyTorch's CUDA build."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from record import lessons


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
    first, second = lessons.compare(stored, notebook(raised, "the same"))
    assert first.startswith("cell-0: ")
    assert "cuda:0 and cpu!" in first
    assert str(raised or []) in first
    assert second is None


def test_what_cudnn_keeps_from_starting_is_asked_without_it_and_nothing_else():
    stored = notebook("found cuda:0 and cpu", "Input type")
    first = notebook(lessons.CUDNN_CANNOT_START, "Input type")

    def complaints(*runs):
        return [complaint and complaint.partition("raised ")[2] for complaint in lessons.compare(stored, *runs)]

    assert complaints(first, notebook("found cuda:0 and cpu", "slow_conv2d")) == [None, None]
    assert complaints(first, notebook("another", "slow_conv2d")) == ["[('RuntimeError', 'another')]", None]
