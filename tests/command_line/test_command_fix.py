"""`samedevice fix` as a person's shell runs it: programs with several device errors, and what ends it."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from samedevice.doors.fix_runs import Target, last_line

Process = subprocess.CompletedProcess[str]
Python = Callable[..., Process]

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 3)
        self.scale = torch.ones(3)

    def forward(self, x):
        return self.layer(x) * self.scale
"""
TRAIN = """\
import torch
from net import Net

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
seen = torch.zeros(3)
for _ in range(2):
    x = torch.ones(4, 8, device=device)
    seen += model(x).detach().sum(0)
print(seen.shape)
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(dedent(text))


def said(process: Process) -> str:
    return process.stderr.replace("samedevice: ", "")


@pytest.mark.slow
def test_all_device_errors_of_a_program_are_one_diff_that_git_applies(python: Python, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder, net=NET, train=TRAIN + "array = x.numpy()\n")
    before = {path: path.read_text() for path in folder.iterdir()}
    fix = python("-m", "samedevice", "fix", "--json", "found.json", "project/train.py")
    assert fix.returncode == 0, fix.stderr
    assert {path: path.read_text() for path in folder.glob("*.py")} == before
    assert '+        self.register_buffer("scale", torch.ones(3), persistent=False)\n' in fix.stdout
    assert "SD002: self.scale was on cpu\n" in fix.stdout
    assert "project/train.py runs to its end: 3 runs, 2 errors fixed in 2 files." in said(fix)
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["succeeded"], found["runs"], found["diff"], found["left"]) == (True, 3, fix.stdout, [])
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=fix.stdout, text=True, check=True)
    run = python("-m", "samedevice", "run", "project/train.py")
    assert (run.returncode, run.stdout) == (0, "torch.Size([3])\n"), run.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the script: samedevice fix train.py"),
        (["nothing.py"], "there is no script 'nothing.py'"),
        (["-"], "has no file to fix"),
        (["a.ipynb"], "is a notebook"),
        (["--rounds", "0", "a.py"], "'0' is not a number from 1 on"),
        (["--gpu-type", "T5", "a.py"], "no GPU 'T5' can be simulated, but these can:"),
        (["--gpus", "real", "a.py"], "on simulated GPUs only"),
        (["--steps", "3", "--pytest", "tests"], "--pytest takes no --steps"),
        (["broken.py"], "is not valid Python"),
        (["torchrun", "train.py"], "starts processes"),
    ],
)
def test_bad_input_is_one_sentence(python: Python, tmp_path: Path, arguments: list[str], words: str) -> None:
    write(tmp_path, broken="x = (")
    fix = python("-m", "samedevice", "fix", *arguments)
    assert (fix.returncode, fix.stdout, fix.stderr.count("\n")) == (2, "", 1)
    assert words in fix.stderr


@pytest.mark.slow
def test_a_program_that_runs_has_no_diff(python: Python, tmp_path: Path) -> None:
    write(tmp_path, train="import torch\nprint(torch.ones(2, device='cuda').sum().item())\n")
    fix = python("-m", "samedevice", "fix", "train.py")
    assert (fix.returncode, fix.stdout) == (0, "")
    assert "train.py runs to its end: 1 run, nothing fixed." in said(fix)
    assert "it used no GPU" not in fix.stderr


@pytest.mark.slow
def test_a_program_that_uses_no_gpu_is_said_to_prove_nothing(python: Python, tmp_path: Path) -> None:
    write(
        tmp_path,
        train="""\
            import torch
            import traceback

            try:
                1 / 0
            except ZeroDivisionError:
                traceback.print_exc()
            print(torch.ones(2).sum().item())
            """,
    )
    fix = python("-m", "samedevice", "fix", "train.py")
    assert fix.returncode == 0
    assert "it used no GPU, so nothing was tried" in said(fix)
    assert "it went on after: ZeroDivisionError: division by zero." in said(fix)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-m", "no_such_module"], "'no_such_module' cannot be run: No module named no_such_module."),
        (["--pytest", "-p", "no:xdist", "--no-such"], "error: unrecognized arguments: --no-such."),
    ],
)
def test_what_is_known_to_be_wrong_only_when_it_runs_is_misuse(
    python: Python, arguments: list[str], words: str
) -> None:
    fix = python("-m", "samedevice", "fix", *arguments)
    assert (fix.returncode, fix.stdout) == (2, "")
    assert words in fix.stderr


@pytest.mark.slow
def test_an_error_that_is_not_about_devices_ends_it_with_what_was_reached(python: Python, tmp_path: Path) -> None:
    train = TRAIN.replace("seen = ", "torch.save(model.state_dict(), 'model.pt')\nseen = ")
    write(tmp_path, net=NET, train=train.replace("print(seen.shape)", "raise ValueError('no data')"))
    fix = python("-m", "samedevice", "fix", "train.py")
    assert fix.returncode == 1
    assert "register_buffer" in fix.stdout
    assert "the program writes files (model.pt), and will write them again in each run." in said(fix)
    assert "this is no device error: ValueError: no data at line 11 of train.py" in said(fix)


@pytest.mark.slow
def test_a_device_error_without_a_certain_fix_is_left(python: Python, tmp_path: Path) -> None:
    write(tmp_path, train="import torch\nx = torch.ones(2, device='cuda')\nexec('x + torch.ones(2)')\n")
    fix = python("-m", "samedevice", "fix", "train.py")
    assert (fix.returncode, fix.stdout) == (1, "")
    assert "something is left" in fix.stderr
    assert "samedevice explain SD002" in fix.stderr


@pytest.mark.slow
def test_an_exit_code_of_the_program_is_named(python: Python, tmp_path: Path) -> None:
    write(tmp_path, train="import sys, torch\nsys.exit('the data is missing')\n")
    fix = python("-m", "samedevice", "fix", "train.py")
    assert fix.returncode == 1
    assert "train.py ended with exit code 1: the data is missing" in said(fix)


def test_our_own_words_are_not_the_last_ones_of_a_program() -> None:
    assert last_line("no data\nsamedevice: 1 simulated GPU, on the CPU.\n") == "no data"


def test_the_folder_of_a_program_that_is_a_folder_is_that_folder(tmp_path: Path) -> None:
    (tmp_path / "program").mkdir()
    assert Target(str(tmp_path / "program"), []).folder == (tmp_path / "program").resolve()


@pytest.mark.slow
def test_a_module_outside_the_program_is_not_changed(python: Python, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "program").mkdir()
    write(tmp_path / "elsewhere", net=NET)
    write(tmp_path / "program", train=TRAIN)
    before = (tmp_path / "elsewhere/net.py").read_text()
    environment = {"PYTHONPATH": str(tmp_path / "elsewhere")}
    command = (
        f"import os; os.chdir('program'); from samedevice.doors.cli import main; main({['fix', '--write', 'train.py']})"
    )
    fix = python("-c", command, **environment)
    assert (tmp_path / "elsewhere/net.py").read_text() == before
    assert "outside of" in fix.stderr


@pytest.mark.slow
def test_steps_end_each_run_early(python: Python, tmp_path: Path) -> None:
    write(
        tmp_path,
        train="""\
            import itertools, sys, threading, torch
            model = torch.nn.Linear(2, 1).to("cuda")
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


            def train():
                for _ in itertools.count():
                    model(torch.ones(1, 2)).sum().backward()
                    optimizer.step()


            for work in (sys.exit, train):  # both end their thread, and neither is an error
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
            train()
            """,
    )
    fix = python("-m", "samedevice", "fix", "--steps", "5", "train.py")
    assert fix.returncode == 0, fix.stderr
    assert "train.py runs for so many steps: 2 runs, 1 error fixed in 1 file." in said(fix)


@pytest.mark.slow
def test_a_program_without_end_is_stopped_by_the_time(python: Python, tmp_path: Path) -> None:
    write(tmp_path, train="import time\nwhile True:\n    time.sleep(1)\n")
    fix = python("-m", "samedevice", "fix", "--timeout", "3", "train.py")
    assert fix.returncode == 1
    assert "the time was over (3 s; --timeout gives it more)" in said(fix)


@pytest.mark.slow
def test_a_program_that_prints_something_else_than_on_the_cpu_is_pointed_out(python: Python, tmp_path: Path) -> None:
    write(
        tmp_path,
        train="""\
            import torch
            x = torch.ones(3, device="cuda" if torch.cuda.is_available() else "cpu")
            y = torch.ones(3)
            print((x + y).sum().item() if x.is_cuda else (x + y).sum().item() + 1)
            """,
    )
    fix = python("-m", "samedevice", "fix", "train.py")
    assert fix.returncode == 0
    assert "look at the changes: the program now prints '6.0', on the CPU '7.0'" in said(fix)


@pytest.mark.slow
def test_spawned_processes_read_the_edits_which_are_then_written(python: Python, tmp_path: Path) -> None:
    write(
        tmp_path,
        train="""\
            import torch
            import torch.multiprocessing as mp


            def work(rank, device):
                scale = torch.ones(2)
                print((torch.ones(2, device=device) * scale).sum().item())


            if __name__ == "__main__":
                work(0, "cuda")
                mp.spawn(work, ("cuda",))
            """,
    )
    fix = python("-m", "samedevice", "fix", "--write", "train.py")
    assert fix.returncode == 0, fix.stderr
    assert "2 runs, 1 error fixed" in fix.stderr
    assert "written: train.py." in said(fix)
    assert "scale = torch.ones(2, device=device)" in (tmp_path / "train.py").read_text()
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["train.py"]


@pytest.mark.slow
def test_an_error_in_a_worker_of_a_dataloader_is_fixed_where_it_is(python: Python, tmp_path: Path) -> None:
    write(
        tmp_path,
        data="""\
            import torch


            class Data(torch.utils.data.Dataset):
                def __len__(self):
                    return 4

                def __getitem__(self, index):
                    scale = torch.ones(2)
                    return (torch.ones(2, device="cuda") * scale).sum().item()
            """,
        train="""\
            import torch
            from data import Data

            if __name__ == "__main__":
                loader = torch.utils.data.DataLoader(Data(), num_workers=1, multiprocessing_context="spawn")
                print(len(list(loader)))
            """,
    )
    fix = python("-m", "samedevice", "fix", "train.py")
    assert fix.returncode == 0, fix.stderr
    assert "+++ b/data.py\n" in fix.stdout


@pytest.mark.slow
def test_a_test_suite_is_fixed(python: Python, tmp_path: Path) -> None:
    write(
        tmp_path,
        net=NET,
        test_net="""\
            import torch
            from net import Net


            def test_forward():
                device = "cuda" if torch.cuda.is_available() else "cpu"
                assert Net().to(device)(torch.ones(2, 8)).shape == (2, 3)


            def test_mean():
                device = "cuda" if torch.cuda.is_available() else "cpu"
                total = torch.zeros(2)
                total += torch.ones(2, device=device)
                assert total.tolist() == [1, 1]


            def test_the_number_of_gpus_is_that_of_the_options():
                assert torch.cuda.device_count() == 2
            """,
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --simulate-cuda 2 -n 2 -p no:cacheprovider\n")
    fix = python("-m", "samedevice", "fix", "--write", "--pytest")
    assert fix.returncode == 0, fix.stderr
    assert "the tests pass: " in fix.stderr
    assert python("-m", "pytest", "-n0").returncode == 0


@pytest.mark.slow
def test_an_editable_module_is_fixed_with_m(python: Python, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    write(package, __init__="", net=NET, train=TRAIN.replace("from net", "from package.net"))
    fix = python("-m", "samedevice", "fix", "-m", "package.train")
    assert fix.returncode == 0, fix.stderr
    assert "+++ b/package/net.py\n" in fix.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_signal_ends_the_program_and_prints_what_was_reached(tmp_path: Path) -> None:
    import signal
    import sys
    import time

    write(
        tmp_path,
        net=NET,
        train=TRAIN
        + "array = x.numpy()\nimport os, time\nopen('process', 'w').write(str(os.getpid()))\ntime.sleep(600)\n",
    )
    command = [sys.executable, "-m", "samedevice", "fix", "train.py"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines = []
    while not any("run 2" in line for line in lines) and process.poll() is None:
        lines.append(process.stderr.readline())
    program = tmp_path / "process"
    while not (program.exists() and program.read_text()) and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)  # SIGINT is the same
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "register_buffer" in stdout
    assert "interrupted after 2 runs" in stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(program.read_text()), 0)


@pytest.mark.slow
@pytest.mark.parametrize("is_pytest", [False, True])
def test_the_gpus_of_all_runs_are_of_the_named_model(python: Python, tmp_path: Path, is_pytest: bool) -> None:
    lines = [
        "assert torch.cuda.get_device_name(1) == 'Tesla T4'",
        'x = torch.ones(3, device="cuda")',
        "x + torch.ones(3)",
    ]
    head, indent = ("def test():", "    ") if is_pytest else ("", "")
    (tmp_path / "test_name.py").write_text("\n".join(["import torch", head, *(indent + line for line in lines), ""]))
    what = ["--pytest", "-q", "test_name.py"] if is_pytest else ["test_name.py"]
    fix = python("-m", "samedevice", "fix", "--gpus", "2", "--gpu-type", "nvidia t4", *what)
    assert fix.returncode == 0, fix.stderr
    assert "on 2 simulated GPUs (Tesla T4). " in said(fix)
    assert "2 runs, 1 error fixed in 1 file." in said(fix)
