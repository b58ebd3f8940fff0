"""`samedevice run --gpus real`: nothing is simulated, and an error is explained from the frames that failed.

The errors are such as PyTorch raises on a machine without a GPU too: with tensors on meta, or because there is none.
"""

import json
from pathlib import Path

import pytest

from samedevice.doors.cli import main

RUN = ("-m", "samedevice", "run")
REAL = (*RUN, "--gpus", "real")

BROKEN = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 3)
        self.scale = torch.ones(3, device="meta")

    def forward(self, x):
        return torch.addcmul(self.layer(x), self.layer(x), self.scale)


print("begun", __name__)
Net()(torch.ones(2, 8))
"""
CULPRIT = "`self.scale` (shape (3,)) is on meta. It is a plain attribute of Net."
MESSAGE = "RuntimeError: Tensor on device meta is not on the expected device cpu!\n"
NO_CUDA = """
import torch

x = torch.ones(3)
x = x.cuda()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", [["train.py"], ["-m", "pkg.train"], *(pytest.param([name], marks=pytest.mark.slow) for name in ("pkg", "-"))]
)
def test_a_device_error_is_explained_and_nothing_else_is_said(python, tmp_path, way):
    (tmp_path / "pkg").mkdir()
    for name in ("train.py", "pkg/train.py", "pkg/__main__.py"):
        (tmp_path / name).write_text(BROKEN)
    run = python(*REAL, *way, input=BROKEN)
    assert (run.returncode, run.stdout) == (1, "begun __main__\n")
    diagnosis, _, trace = run.stderr.partition("Traceback (most recent call last):\n")
    assert CULPRIT in diagnosis
    assert "samedevice:" not in diagnosis
    assert trace.endswith(f"[5 frames of libraries: --full shows all]\n{MESSAGE}")
    assert "doors" not in trace and "runpy" not in trace


@pytest.mark.slow
def test_cuda_on_a_build_without_it_fails_as_under_python(python, tmp_path):
    (tmp_path / "train.py").write_text(NO_CUDA)
    run, plain = python(*REAL, "--full", "train.py"), python("train.py")
    assert run.returncode == plain.returncode == 1
    assert run.stderr.endswith(plain.stderr)
    assert '+ x = x.to("cuda" if torch.cuda.is_available() else "cpu")' in run.stderr


@pytest.mark.parametrize("end", ["", "import sys; sys.exit(3)", "1 / 0"])
def test_a_program_without_a_device_error_runs_as_under_python(python, tmp_path, end):
    look = "import sys\nprint([name for name in sys.modules if name.split('.')[0] in ('torch', 'yaml', 'rich')])\n"
    look += "print([name for name in sys.modules if name.startswith(('samedevice.doctor', 'samedevice.simulation'))])\n"
    (tmp_path / "train.py").write_text(f"{look}{end}\n")
    run, plain = python(*REAL, "train.py"), python("train.py")
    assert (run.returncode, run.stdout, run.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert run.stdout == "[]\n[]\n"


@pytest.mark.weekly
@pytest.mark.slow
def test_the_environment_says_real_where_no_number_is_given(python, tmp_path):
    (tmp_path / "train.py").write_text(NO_CUDA)
    run = python(*RUN, "--json", "found.json", "train.py", SAMEDEVICE_GPUS="real")
    assert "Torch not compiled with CUDA enabled" in run.stderr
    assert json.loads((tmp_path / "found.json").read_text("utf-8"))["message"]["id"] == "SD065"
    assert python(*RUN, "train.py", SAMEDEVICE_GPUS="simulated").returncode == 0


@pytest.mark.parametrize(
    ("choice", "options", "says"),
    [
        ("", ["--gpus", "real", "--rng", "cpu"], "--rng is for simulated GPUs only"),
        ("", ["--gpus=real", "--summary"], "--summary is for simulated GPUs only"),
        ("", ["--gpus", "real", "--gpu-type", "T4"], "--gpu-type is for simulated GPUs only"),
        ("real", ["--summary"], "--summary is for simulated GPUs only"),
        ("real", ["--gpus", "2"], "SAMEDEVICE_GPUS=real forbids simulated GPUs: leave out --gpus 2"),
        ("simulated", ["--gpus", "real"], "SAMEDEVICE_GPUS=simulated forbids real GPUs: leave out --gpus real"),
        ("none", [], "SAMEDEVICE_GPUS is 'none': set it to real or to simulated, or unset it"),
        ("", ["--gpus", "Real"], "'Real' is neither a number from 1 to 16 nor real"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(capsys, monkeypatch, tmp_path, choice, options, says):
    monkeypatch.setenv("SAMEDEVICE_GPUS", choice)
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise AssertionError('it ran')")
    assert main(["run", *options, "train.py"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("samedevice: ") and says in err


@pytest.mark.slow
def test_under_torchrun_each_process_has_a_simulated_gpu_by_default(python, tmp_path):
    (tmp_path / "train.py").write_text("import torch\nprint(torch.cuda.device_count())\n")
    for processes, gpus in {"3": 3, "40": 16, "many": 1}.items():
        run = python(*RUN, "train.py", LOCAL_WORLD_SIZE=processes, LOCAL_RANK="0")
        assert run.stdout == f"{gpus}\n"


@pytest.mark.weekly
@pytest.mark.slow
def test_its_own_hook_is_called_after_the_diagnosis(python, tmp_path):
    hook = "import sys\nsys.excepthook = lambda kind, error, trace: print('hook', error, file=sys.stderr)\n"
    (tmp_path / "train.py").write_text(hook + BROKEN)
    run = python(*REAL, "train.py")
    diagnosis, _, rest = run.stderr.partition("\nhook ")
    assert CULPRIT in diagnosis
    assert rest == MESSAGE.removeprefix("RuntimeError: ")
    assert run.returncode == 1


def test_an_interrupt_ends_it_as_under_python(python, tmp_path):
    (tmp_path / "train.py").write_text("raise KeyboardInterrupt\n")
    run, plain = python(*REAL, "train.py"), python("train.py")
    assert (run.returncode, run.stderr) == (plain.returncode, plain.stderr)


IMPATIENT = """
from samedevice import doctor

def explain(error):
    raise KeyboardInterrupt

doctor.explain = explain
"""


@pytest.mark.parametrize("install", ["", "import samedevice\nsamedevice.install()\n"])
def test_an_interrupt_of_the_doctor_does_not_hide_the_programs_own_error(python, tmp_path, install):
    (tmp_path / "train.py").write_text(f"{install}{IMPATIENT}\nraise RuntimeError('its own')\n")
    run = python("train.py") if install else python(*REAL, "train.py")
    assert run.returncode == 1
    assert run.stderr.startswith("Traceback ") and run.stderr.endswith("\nRuntimeError: its own\n")
    assert "KeyboardInterrupt" not in run.stderr
