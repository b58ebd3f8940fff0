"""`make notebooks`: what is stored is the same on every machine, and nothing is stored that a cell did not promise."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import notebooks
from samedevice import explain
from samedevice.doctor import site_addresses

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
RAISES = {"tags": ["raises-exception"]}
# A frame that lies in the simulation, without the simulation.
OUR_FRAME = """\
exec(compile("def call(f): f()", "/somewhere/src/samedevice/simulation/calls.py", "exec"))
import json
call(lambda: json.loads("{"))"""


def store(*paths):
    return subprocess.run(
        [sys.executable, ROOT / "tools/notebooks.py", *paths], capture_output=True, text=True, timeout=120
    )


def write(path, *cells):
    nbformat.write(new_notebook(cells=list(cells)), path)
    return path


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A notebook whose cells print what differs between machines, stored."""
    path = write(
        tmp_path_factory.mktemp("stored") / "a.ipynb",
        new_markdown_cell("# Title", metadata={"editor": "here"}),
        new_code_cell("import os, warnings\nprint(os.environ['SAMEDEVICE_GPUS'])\nwarnings.warn('w')"),
        new_code_cell("print(os.__file__, nbformat := __import__('nbformat').__file__)\nobject()"),
        new_code_cell(OUR_FRAME, metadata=RAISES | {"execution": {"iopub.execute_input": "2026-01-01T00:00:00Z"}}),
        new_code_cell(
            "raise RuntimeError('Caught.\\nOriginal Traceback (most recent call last):\\n  File x\\nRuntimeError: y')",
            metadata=RAISES,
        ),
    )
    run = store(path)
    assert run.returncode == 0, run.stderr
    assert "a.ipynb: stored" in run.stdout
    return path


def outputs(path, number):
    return nbformat.read(path, as_version=4).cells[number].outputs


def test_stored_twice_a_notebook_does_not_change(stored):
    before = stored.read_bytes()
    run = store(stored)
    assert "a.ipynb: unchanged" in run.stdout
    assert stored.read_bytes() == before


def test_a_cell_more_changes_the_numbers_below_it_and_nothing_else(stored, tmp_path):
    notebook = nbformat.read(stored, as_version=4)
    notebook.cells.insert(1, new_code_cell("print('new')"))
    longer = write(tmp_path / "a.ipynb", *notebook.cells)
    assert store(longer).returncode == 0
    cells = nbformat.read(longer, as_version=4).cells
    assert [cell.execution_count for cell in cells[1:]] == list(range(1, len(cells)))
    assert "Cell In[4], line 3" in cells[4].outputs[0].traceback
    del cells[1]
    assert without_numbers(cells) == without_numbers(nbformat.read(stored, as_version=4).cells)


def without_numbers(cells):
    return re.sub(r"(Cell In\[|\"execution_count\": )\d+", r"\1", json.dumps(cells))


def test_gpus_are_simulated_whatever_the_machine_has(stored):
    assert outputs(stored, 1)[0].text == "simulated\n"


def test_paths_and_addresses_are_cut(stored):
    assert outputs(stored, 1)[1].text.startswith("cell.py:3: UserWarning: w\n")
    assert outputs(stored, 2)[0].text == "os.py nbformat/__init__.py\n"
    assert outputs(stored, 2)[1].data["text/plain"] == "<object at 0x...>"


def test_a_traceback_keeps_the_cell_whole_the_library_short_and_the_simulation_out(stored):
    lines = outputs(stored, 3)[0].traceback
    assert not any("\x1b" in line for line in lines)
    assert '----> 3 call(lambda: json.loads("{"))' in lines
    frames = [line for line in lines if line.startswith("File ")]
    assert len(frames) == 3
    assert all(frame.startswith("File json/") for frame in frames)


def test_a_replicas_traceback_is_cut_from_the_message(stored):
    error = outputs(stored, 4)[0]
    assert error.evalue == "Caught.\nRuntimeError: y"
    assert "Original Traceback" not in error.traceback[-1]


def test_how_many_gpus_a_machine_has_is_cut_from_an_error():
    assert notebooks.portable("device 7 but torch.cuda.device_count() is 8. Use") == (
        "device 7 but torch.cuda.device_count() is 1. Use"
    )
    assert notebooks.portable("torch.cuda.device_count() is 0.") == "torch.cuda.device_count() is 0."


def test_what_a_command_prints_is_the_same_on_every_machine():
    from_a_terminal = (
        "samedevice: 2 simulated GPUs, on the CPU; 1 real GPU of this machine stays unused without --gpus real.\r\n"
        '  File "/private/tmp/samedevice-lesson-k3_9xa/train.py", line 18, in train\r\n'
        "/tmp/a b/samedevice-lesson-abc/train.py:18: in train\r\n"
        "1 failed, 1 passed in 71.23s (0:01:11)\r\n"
    )
    assert notebooks.portable(from_a_terminal) == (
        "samedevice: 2 simulated GPUs, on the CPU.\n"
        '  File "train.py", line 18, in train\n'
        "train.py:18: in train\n"
        "1 failed, 1 passed in 1.00s\n"
    )


def test_metadata_says_nothing_of_editor_day_and_version(stored):
    notebook = nbformat.read(stored, as_version=4)
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert [dict(cell.metadata) for cell in notebook.cells] == [{}, {}, {}, RAISES, RAISES]


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        (new_code_cell("raise ValueError('a')"), ["Cell 1 raised ValueError: a", "not tagged raises-exception"]),
        (new_code_cell("pass", metadata=RAISES), ["Cell 1 is tagged raises-exception", "raised nothing"]),
    ],
)
def test_a_cell_that_breaks_its_promise_is_named_and_nothing_is_stored(tmp_path, cell, parts):
    path = write(tmp_path / "b.ipynb", new_code_cell("1 + 1"), cell)
    before = path.read_bytes()
    run = store(path)
    assert run.returncode == 1
    assert "b.ipynb: " in run.stderr
    assert all(part in run.stderr for part in parts)
    assert path.read_bytes() == before


def test_what_is_no_notebook_is_refused_in_one_sentence(tmp_path):
    run = store("README.md")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "README.md is not a notebook" in run.stderr
    torn = tmp_path / "torn.ipynb"
    torn.write_text("<<<<<<< HEAD\n{")
    run = store(torn)
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    assert "torn.ipynb: not JSON" in run.stderr


@pytest.mark.parametrize(
    "line",
    [
        "File /tmp/Gerät 1 ü/a venv/lib/python3.11/site-packages/torch/nn/modules/linear.py:134, in f(self)",
        "File ~/Gerät 1 ü/.venv/lib/python3.11/site-packages/torch/nn/modules/linear.py:134, in f(self)",
        "File C:\\Users\\A B (1)\\venv\\Lib\\site-packages\\torch/nn/modules/linear.py:134, in f(self)",
        "File .venv/lib/python3.11/site-packages/torch/nn/modules/linear.py:134, in f(self)",
    ],
)
def test_folders_may_have_spaces_in_their_names(line):
    assert notebooks.portable(line) == "File torch/nn/modules/linear.py:134, in f(self)"
    assert notebooks.portable(f"1/2 of /a b/lib/python3.12/os.py, {line[5:]}").startswith("1/2 of os.py, torch/nn")


def test_a_long_line_of_paths_is_read_in_no_time():
    begin = time.process_time()
    notebooks.portable("a/ b /x " * 3000)
    assert time.process_time() - begin < 2


def test_what_fails_while_writing_leaves_the_notebook_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "a.ipynb"
    path.write_text("before")

    def full(*_):
        raise OSError("no space left")

    for owner, name in ((os, "fsync"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, full)
            with pytest.raises(OSError, match="no space left"):
                notebooks.replace(path, "after")
        assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.ipynb", "before")]


@pytest.mark.skipif(os.name == "nt", reason="signals and modes are told otherwise there")
def test_killed_while_writing_leaves_the_notebook_as_it_was(tmp_path):
    path = write(tmp_path / "a.ipynb", new_code_cell("1 + 1"))
    path.chmod(0o640)
    before = path.read_bytes()
    program = (
        "import os, sys, notebooks\n"
        "notebooks.Path.replace = lambda *_: os.kill(os.getpid(), 9)\n"
        f"notebooks.replace(notebooks.Path({str(path)!r}), 'half')"
    )
    killed = subprocess.run([sys.executable, "-c", program], cwd=ROOT / "tools")
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2  # what was half written
    assert store(path).returncode == 0
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="signals are told otherwise there")
@pytest.mark.parametrize(
    ("number", "code", "in_a_scripts_background"),
    [(signal.SIGINT, 130, False), (signal.SIGTERM, 143, False), (signal.SIGTERM, 143, True)],
)
def test_interrupted_it_stores_what_is_done_and_ends_in_one_sentence(
    tmp_path, tmp_path_factory, number, code, in_a_scripts_background
):
    done = write(tmp_path / "done.ipynb", new_code_cell("1 + 1"))
    kernels = tmp_path / "kernels"
    busy = [
        write(
            tmp_path / f"{name}.ipynb",
            new_code_cell(f"import os, time\nopen({str(kernels)!r}, 'a').write(f'{{os.getpid()}} ')\ntime.sleep(100)"),
        )
        for name in ("first", "second")
    ]
    before = [path.read_bytes() for path in busy]
    command = [sys.executable, ROOT / "tools/notebooks.py", done, *busy]
    if in_a_scripts_background:  # a shell that runs a script starts `command &` so
        command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
    # Without a home, IPython would say where it keeps its files.
    settings = os.environ | {"IPYTHONDIR": str(tmp_path_factory.mktemp("ipython"))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings) as run:
        try:
            deadline = time.monotonic() + 60
            while not (kernels.exists() and len(kernels.read_text().split()) == 2):
                assert run.poll() is None and time.monotonic() < deadline, run.stderr.read()
                time.sleep(0.05)
            run.send_signal(number)
            out, error = run.communicate(timeout=30)
        finally:
            run.kill()
    assert (run.returncode, re.findall("^.*: stored", out, re.M)) == (code, ["done.ipynb: stored"])
    assert error == "Interrupted: notebooks not named above as stored are as they were.\n"
    assert [path.read_bytes() for path in busy] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["done.ipynb", "first.ipynb", "kernels", "second.ipynb"]
    for kernel in kernels.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(kernel), 0)


def test_an_answer_is_stored_alike_before_and_after_the_project_has_an_address(monkeypatch):
    def answer(owner):
        monkeypatch.setattr(site_addresses, "REPOSITORY", f"https://github.com/{owner}/any-name")
        shown = explain("RuntimeError: indices should be either on cpu or on the same device")._repr_html_()
        cell = new_code_cell(outputs=[new_output("display_data", {"text/html": shown})])
        notebook = new_notebook(cells=[cell])
        notebooks.scrub(notebook)
        return shown, notebook.cells[0].outputs[0].data["text/html"]

    (before, stored), (after, stored_then) = answer(site_addresses._NOBODY), answer("someone")
    assert before == stored == stored_then != after
    assert "More: <code>samedevice explain SD030</code>" in stored
