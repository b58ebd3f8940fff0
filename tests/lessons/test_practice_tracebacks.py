"""The puzzles of notebooks/practice-5-mixed.ipynb: what the page says of a program is what its runs say."""

import os
import re
from pathlib import Path

import nbformat
import pytest
import torch

from lessons import answer_of, start, traceback_of
from lessons.exercises.practice_5 import PROGRAMS
from lessons.tracebacks import run, shown_traceback

NOTEBOOK = Path(__file__).parents[2] / "notebooks/practice-5-mixed.ipynb"
CELLS = nbformat.read(NOTEBOOK, as_version=4).cells
PUZZLES = pytest.mark.parametrize("number", PROGRAMS)
# How PyTorch's own messages begin, those of a replica and of a compiler behind what hands them on.
MESSAGE = re.compile(
    r"Expected all tensors to be on the same device, but |indices should be either on cpu or on the same device as "
    r"|can't convert cuda:0 device type tensor to numpy\.|Input and hidden tensors are not at the same device"
)


@pytest.fixture(autouse=True)
def gpus(machine, capsys):
    start(gpus=2)
    capsys.readouterr()


def question(number):
    (cell,) = [cell for cell in CELLS if cell.id == f"practice-5-p{number}-question"]
    assert cell.metadata.tags == ["predict"]
    return [line for line in cell.source.splitlines() if re.match(r"\d\. ", line)]


def test_the_notebook_has_each_program_once():
    code = "\n".join(cell.source for cell in CELLS if cell.cell_type == "code")
    for function in ("traceback_of", "answer_of"):
        assert re.findall(rf'{function}\("p5-(\d+)"\)', code) == list(PROGRAMS)


@PUZZLES
def test_a_program_is_short_and_fails_with_a_message_of_pytorch(number):
    program = PROGRAMS[number]
    lines = program.source.splitlines()
    assert 15 <= len(lines) <= 40
    assert max(map(len, lines)) <= 80
    failed = run(program.source, program.file)
    assert MESSAGE.search(str(failed.error))
    assert str(failed.error).splitlines()[0] in shown_traceback(program, failed)


@PUZZLES
def test_a_traceback_has_frames_of_the_program_alone_and_no_mark(number):
    program = PROGRAMS[number]
    shown = shown_traceback(program, run(program.source, program.file))
    assert set(re.findall(r'File "([^"]+)"', shown)) == {"train.py"}
    assert not re.search(r"^[ ~^]*\^[ ~^]*$", shown, re.M)
    for line, text in re.findall(r'File "train.py", line (\d+), in \S+\n +(.+)', shown):
        assert program.source.splitlines()[int(line) - 1].strip() == text


@PUZZLES
def test_an_answer_names_a_tensor_its_device_and_a_line(number):
    program, alternatives = PROGRAMS[number], question(number)
    assert len(alternatives) == len(program.alternatives) == 4
    for line, alternative in zip(alternatives, program.alternatives, strict=True):
        text = line.partition(" <!--")[0]
        assert f"`{alternative.tensor}`, on `{alternative.device}`" in text
        for place, change in alternative.change.items():
            assert re.search(rf"[Ll]ines? (\d+ and )?{place}\b", text), text
            before = program.source
            assert all(f"`{new}`" in text for new in change.splitlines() if new not in before), text


@PUZZLES
def test_the_right_answer_is_what_the_run_says_and_its_change_mends_the_program(number):
    program, alternatives = PROGRAMS[number], question(number)
    assert [line.endswith("<!-- right -->") for line in alternatives].index(True) + 1 == program.right
    right = program.alternatives[program.right - 1]
    failed = run(program.source, program.file)
    assert failed.device(right.tensor) == right.device
    assert right.tensor in program.suspects

    mended = program.changed(right)
    on_gpus, on_cpu = run(mended, program.file), run(for_the_cpu(mended), program.file)
    assert on_gpus.error is on_cpu.error is None
    assert re.sub(r"cuda:\d", "cpu", on_gpus.printed) == on_cpu.printed


def for_the_cpu(source):
    """The program with every GPU replaced, and the model itself in place of a DataParallel, which needs GPUs."""
    source = source.replace("nn.DataParallel(tagger, device_ids=[0, 1])", "tagger")
    return re.sub(r'"cuda(:\d)?"', '"cpu"', source)


@PUZZLES
def test_each_other_answer_fails_or_ends_with_something_else(number):
    program = PROGRAMS[number]
    right = run(program.changed(program.alternatives[program.right - 1]), program.file)
    for place, alternative in enumerate(program.alternatives, 1):
        if place != program.right:
            ran = run(program.changed(alternative), program.file)
            assert ran.error is not None or ran.printed != right.printed, alternative


def test_what_the_cell_of_an_answer_prints(capsys):
    answer_of("p5-1")
    said = capsys.readouterr().out
    assert "  positions       cpu     (6, 1)\n" in said
    assert "\n  1. fails as before\n" in said
    assert "\n  3. runs and prints (4, 6, 8) on cuda:0\n" in said
    assert "\n  + positions = torch.arange(tokens.shape[1], device=x.device).unsqueeze(1)\n" in said


def test_lines_that_decide_stand_below_the_traceback(capsys):
    traceback_of("p5-1")
    said = capsys.readouterr().out
    assert said.startswith("Traceback (most recent call last):\n")
    assert '\n  19  model = Encoder(50, 8).to("cuda")\n' in said


def test_what_a_change_sets_for_all_of_pytorch_is_set_back(capsys):
    answer_of("p5-2")
    answer_of("p5-6")
    assert "CUDA_LAUNCH_BLOCKING" not in os.environ
    assert torch.cuda.current_device() == 0


@pytest.mark.parametrize("name", ["p5-9", "p9-1", "05-a", "", None])
def test_a_name_that_is_none_is_said(name, capsys):
    traceback_of(name)
    answer_of(name)
    assert capsys.readouterr().out.count("There is no puzzle") == 2


def test_before_the_first_cell_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr("lessons.gpus._started", 0)
    traceback_of("p5-1")
    assert capsys.readouterr().out.startswith("Run the first code cell of this page")
