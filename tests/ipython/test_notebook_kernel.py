"""`%load_ext samedevice` in a real kernel, as Jupyter and nbclient drive it, on simulated GPUs."""

import re

import nbclient
import nbformat
import pytest
from traitlets.config import Config

from kernel_sockets import sockets_as_files

FAILING = "def predict(batch):\n    return model(batch)\n\npredict(torch.ones(2, 3))"
CELLS = {
    "start": (
        "import sys, torch, samedevice\n"
        "simulation = samedevice.simulate_cuda(2).start()\n"
        "model = torch.nn.Linear(3, 1).to('cuda:1')"
    ),
    "alone": FAILING,
    "asked": "samedevice.explain()",
    "asked for files": (
        "from samedevice.doctor.diagnosis_json import as_data\n"
        "for told in samedevice.explain(), samedevice.explain(sys.last_value):\n"
        "    (culprit,) = as_data(told)['culprits']\n"
        "    print(told.place.file, culprit['file'], culprit['edits'][0]['file'], sep='|')"
    ),
    "load": "%load_ext samedevice",
    "followed": FAILING,
    "other": "1 / 0",
    "kept": "print(type(sys.last_value).__name__, sys.last_value)",
    "captured": f"%%capture kept\nprint('epoch 1')\n{FAILING}",
    "awaited": f"import asyncio\nprint('epoch 1')\nawait asyncio.sleep(0)\n{FAILING}",
    "run": (
        "from pathlib import Path\n"
        "Path('script.py').write_text('import torch\\n\\nmean = torch.zeros(3)\\n"
        'torch.ones(3, device="cuda") - mean\\n\')\n'
        "%run script.py\n"
        "print('goes on')"
    ),
    "unload": "%unload_ext samedevice",
    "after": FAILING,
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        allow_errors=True,
        config=Config(KernelManager=sockets_as_files()),
        resources={"metadata": {"path": str(folder)}},
    )
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("IPYTHONDIR", str(folder / "ipython"))
        client.execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def kinds(outputs):
    return [output.get("name", output.output_type) for output in outputs]


def traceback(outputs):
    """The error as it is stored, but for the number of the cell."""
    text = "\n".join(next(output for output in outputs if output.output_type == "error").traceback)
    return re.sub(r"In ?\[\d+\]", "In[]", re.sub("\x1b\\[[\\d;]*m", "", text))


def diagnosis(outputs):
    return next(output.data for output in outputs if output.output_type == "display_data")


@pytest.mark.slow
def test_the_error_lacks_our_frames_alone_and_the_diagnosis_is_an_output_of_its_own(outputs):
    assert kinds(outputs["load"]) == []
    assert kinds(outputs["alone"]) == ["error"]
    assert kinds(outputs["followed"]) == ["error", "display_data"]
    frames = traceback(outputs["alone"]).split("\n\n")
    of_the_program = [frame for frame in frames if not re.match(r"File \S+simulation\W\S+\.py:", frame)]
    assert len(of_the_program) < len(frames)
    assert traceback(outputs["followed"]) == "\n\n".join(of_the_program)
    assert outputs["followed"][0].evalue == outputs["alone"][0].evalue


def test_the_diagnosis_is_there_as_html_and_as_text(outputs):
    shown = diagnosis(outputs["followed"])
    assert set(shown) == {"text/html", "text/plain"}
    assert shown["text/html"].startswith('<div class="samedevice">')
    assert "<ins>+ batch = batch.to(model.weight.device)</ins>" in shown["text/html"]
    assert "    + batch = batch.to(model.weight.device)\n" in shown["text/plain"]
    assert "`batch` (shape (2, 3)) is on cpu" in shown["text/plain"]


def test_a_cell_has_the_name_that_the_traceback_gives_it(outputs):
    error = re.sub("\x1b\\[[\\d;]*m", "", "\n".join(outputs["followed"][0].traceback))
    if "Input In" in error:
        pytest.skip("the first of IPython 8 keep the name of a cell to themselves")
    place = diagnosis(outputs["followed"])["text/plain"].strip().splitlines()[0]
    file, _, rest = place.partition(", line ")
    assert rest == "2, in predict"
    assert file in error


def test_who_calls_explain_reads_the_name_of_the_cell_too(outputs):
    told = outputs["asked"][0].data
    first = told["text/plain"].strip().splitlines()[0]
    if "ipykernel" in first:
        pytest.skip("the first of IPython 8 keep the name of a cell to themselves")
    assert re.fullmatch(r"(Cell|Input) In ?\[\d+\], line 2, in predict", first)
    assert f"above line 2 of {first.partition(',')[0]}, in predict:" in told["text/plain"]
    assert "ipykernel" not in told["text/plain"] + told["text/html"]


def test_edits_and_data_name_the_cell_too(outputs):
    by_hand, of_the_error = (line.split("|") for line in outputs["asked for files"][0].text.splitlines())
    if "ipykernel" in by_hand[0]:
        pytest.skip("the first of IPython 8 keep the name of a cell to themselves")
    assert by_hand == of_the_error
    assert len(set(by_hand)) == 1
    assert re.fullmatch(r"(Cell|Input) In ?\[\d+\]", by_hand[0])


def test_another_error_is_all_there_is(outputs):
    assert kinds(outputs["other"]) == ["error"]
    assert outputs["kept"][0].text == "ZeroDivisionError division by zero\n"


def test_capture_takes_what_is_printed_and_leaves_traceback_and_diagnosis(outputs):
    assert kinds(outputs["captured"]) == ["error", "display_data"]


def test_a_cell_that_awaits_and_a_script(outputs):
    assert kinds(outputs["awaited"]) == ["stdout", "error", "display_data"]
    assert kinds(outputs["run"]) == ["error", "display_data", "stdout"]
    assert "`mean` (shape (3,)) is on cpu" in diagnosis(outputs["run"])["text/plain"]
    assert "script.py, line 4" in diagnosis(outputs["run"])["text/plain"]


def test_unloaded_all_is_as_it_was(outputs):
    assert kinds(outputs["unload"]) == []
    assert kinds(outputs["after"]) == ["error"]
    assert traceback(outputs["after"]) == traceback(outputs["alone"])
