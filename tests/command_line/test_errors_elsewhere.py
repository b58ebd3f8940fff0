"""Errors that are raised elsewhere than where they are seen: in workers, replicas and ranks, under Hydra."""

import json
import os
import sys
import threading

import pytest

RUN = ("-m", "samedevice", "run")
REAL = (*RUN, "--gpus", "real")
SAYS = "`self.scale` (shape (3,)) is on meta. It is a plain attribute of Scaled."
LOADER = """
import sys
import torch
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self):
        self.scale = torch.ones(3, device="meta")

    def __len__(self):
        return 4

    def __getitem__(self, index):
        x = torch.ones(3)
        return torch.addcmul(x, x, self.scale)


if __name__ == "__main__":
    for batch in DataLoader(Scaled(), num_workers=1, multiprocessing_context=sys.argv[1]):
        print(batch)
"""
INSTALL = "import samedevice\nsamedevice.install()\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "start"), [(REAL, "spawn"), (RUN, "fork"), ((), "spawn")], ids=["real", "simulated", "install"]
)
def test_an_error_of_a_dataloaders_worker_is_explained_from_its_frames(python, tmp_path, command, start):
    if start == "fork" and not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    (tmp_path / "train.py").write_text(LOADER if command else INSTALL + LOADER)
    run = python(*command, "train.py", start)
    assert run.returncode == 1
    assert run.stderr.count(SAYS) == 1
    diagnosis, _, trace = run.stderr.partition("Traceback (most recent call last):\n")
    assert SAYS in diagnosis
    assert "in __getitem__" in diagnosis
    assert "Caught RuntimeError in DataLoader worker process 0.\nOriginal Traceback" in trace
    assert "doors" not in trace


@pytest.mark.slow
def test_machines_and_the_program_have_the_same_of_it(python, tmp_path):
    asks = "    from samedevice import explain\n    try:\n        next(iter(DataLoader(Scaled(), num_workers=1)))\n"
    asks += "    except RuntimeError as error:\n        print(explain(error).culprits[0].expression)\n"
    (tmp_path / "train.py").write_text(LOADER.replace("    for batch", f"{asks}    for batch"))
    run = python(*REAL, "--json", "found.json", "train.py", "spawn")
    assert run.stdout == "self.scale\n"
    (culprit,) = json.loads((tmp_path / "found.json").read_text("utf-8"))["culprits"]
    assert (culprit["expression"], culprit["shape"]) == ("self.scale", [3])
    assert culprit["edits"]


REPLICAS = """
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.scale = torch.ones(3)

    def forward(self, x):
        return self.layer(x) * self.scale


model = nn.DataParallel(Scaled().cuda())
model(torch.ones(4, 3, device="cuda"))
"""


@pytest.mark.slow
def test_an_error_of_a_replica_is_explained_from_its_frames(python, tmp_path):
    (tmp_path / "train.py").write_text(REPLICAS)
    run = python(*RUN, "--gpus", "2", "--json", "found.json", "train.py")
    assert "`self.scale` (shape (3,)) is on cpu. It is a plain attribute of Scaled." in run.stderr
    assert "Caught RuntimeError in replica 0 on device 0." in run.stderr
    (culprit,) = json.loads((tmp_path / "found.json").read_text("utf-8"))["culprits"]
    assert culprit["edits"][0]["text"] == 'self.register_buffer("scale", torch.ones(3), persistent=False)'


PROCESSES = """
import sys
import torch
from torch.multiprocessing import start_processes


def work(rank):
    if rank == 1:
        scale = torch.ones(3, device="meta")
        torch.addcmul(torch.ones(3), torch.ones(3), scale)


if __name__ == "__main__":
    start_processes(work, nprocs=2, start_method=sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_an_error_of_a_process_of_torchs_is_explained_from_its_frames(python, tmp_path, start):
    if start == "fork" and not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    (tmp_path / "train.py").write_text(PROCESSES)
    run = python(*REAL, "train.py", start)
    assert run.returncode == 1
    diagnosis, _, trace = run.stderr.partition("Traceback (most recent call last):\n")
    assert '+ scale = torch.ones(3, device="cpu")' in diagnosis
    assert "-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n" in trace
    assert "doors" not in trace


ENDED = """
import sys
import torch
from torch.multiprocessing import start_processes


def work(rank):
    x = torch.ones(3)
    try:
        torch.addcmul(x, x, torch.ones(3, device="meta"))
    except RuntimeError:
        sys.exit(3)


if __name__ == "__main__":
    start_processes(work, nprocs=1, start_method="fork")
"""


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_process_of_torchs_that_ends_itself_ends_as_it_would(python, tmp_path):
    (tmp_path / "train.py").write_text(ENDED)
    run, plain = python(*REAL, "train.py"), python("train.py")
    assert (run.returncode, run.stderr) == (1, plain.stderr)
    assert "process 0 terminated with exit code 3" in plain.stderr


RANKS = """
import os
import pathlib
import time
import torch

rank = int(os.environ["LOCAL_RANK"])
x, scale = torch.ones(3), torch.ones(3, device="meta")
pathlib.Path(f"ready-{rank}").touch()
while not all(pathlib.Path(f"ready-{other}").exists() for other in range(3)):
    time.sleep(0.01)
if rank == 2:
    torch.addcmul(x, scale, x)
torch.addcmul(x, x, scale)
"""


@pytest.mark.weekly
@pytest.mark.slow
def test_alike_errors_of_ranks_are_explained_once(python, tmp_path):
    """torchrun ends the other ranks soon after the first has failed; here nobody does."""
    (tmp_path / "train.py").write_text(RANKS)
    said, folder = {}, tmp_path / "run" / "attempt_0"

    def rank(number):
        (folder / str(number)).mkdir(parents=True)
        settings = {
            "RANK": str(number + 4),
            "LOCAL_RANK": str(number),
            "TORCHELASTIC_ERROR_FILE": str(folder / str(number) / "error.json"),
        }
        said[number] = python(*REAL, "train.py", **settings)

    threads = [threading.Thread(target=rank, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.returncode for run in said.values()] == [1, 1, 1]
    assert all("RuntimeError: Tensor on device meta is not on the expected" in run.stderr for run in said.values())
    explained = sorted(number for number, run in said.items() if "`scale` (shape (3,)) is on meta." in run.stderr)
    assert 2 in explained and len(explained) == 2, "that of rank 2 is another"
    first, other = explained[0], 1 - explained[0]
    says = f"samedevice: rank {other + 4} has the same error as rank {first + 4}, which explains it.\nTraceback "
    assert said[other].stderr.startswith(says)
    for _ in range(2):  # without torchrun each says its own
        run = python(*REAL, "train.py", LOCAL_RANK="0", TORCHELASTIC_ERROR_FILE="error.json")
        assert run.stderr.count("`scale` (shape (3,)) is on meta.") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="torchrun needs libuv there")
def test_under_torchrun_an_error_is_explained(python, tmp_path):
    (tmp_path / "train.py").write_text(RANKS.replace("range(3)", "range(2)"))
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    run = python(*torchrun, *REAL, "train.py")
    assert run.returncode == 1
    assert run.stderr.count("`scale` (shape (3,)) is on meta.") == 1


# hydra._internal.utils.run_and_report does this: it prints the error's traceback itself, and calls no hook.
ENDS = """
import sys, traceback
import torch

def step(x, scale):
    torch.addcmul(x, x, scale)

try:
    step(torch.ones(3), torch.ones(3, device="meta"))
except Exception:
    traceback.print_exc()
    sys.exit({code})
"""


@pytest.mark.slow
@pytest.mark.parametrize(("code", "explained"), [(3, 1), (0, 0)])
def test_a_program_that_catches_a_device_error_and_ends_has_it_explained(python, tmp_path, code, explained):
    (tmp_path / "train.py").write_text(ENDS.format(code=code))
    run = python(*REAL, "train.py")
    assert run.returncode == code
    assert run.stderr.count("is on meta.") == explained
    assert run.stderr.startswith("Traceback ")


CODE = """
import enum

class Code(enum.IntEnum):
    FAILED = 0

    def __eq__(self, other):
        raise ValueError("compared")

"""


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize(("code", "explained"), [("Code.FAILED", 0), ("[0]", 1)])
def test_the_code_that_a_program_ends_with_is_not_compared(python, tmp_path, code, explained):
    (tmp_path / "train.py").write_text(CODE + ENDS.format(code=code))
    run, plain = python(*REAL, "train.py"), python("train.py")
    assert run.returncode == plain.returncode
    assert run.stderr.count("is on meta.") == explained
    assert "compared" not in run.stderr


HYDRA_UTILS = """
import sys, traceback

def run_and_report(func):
    try:
        return func()
    except Exception:
        traceback.print_exc()
        sys.exit(1)

def main(func):
    run_and_report(lambda: func(None))
"""


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("notes", [False, True])
def test_hydra_ends_the_process_by_itself_and_its_error_is_explained_first(python, tmp_path, notes):
    """The names are those of hydra-core 1.3."""
    (tmp_path / "hydra" / "_internal").mkdir(parents=True)
    (tmp_path / "hydra" / "__init__.py").write_text("from hydra._internal.utils import main\n")
    (tmp_path / "hydra" / "_internal" / "__init__.py").touch()
    (tmp_path / "hydra" / "_internal" / "utils.py").write_text(HYDRA_UTILS)
    program = f"import samedevice\nsamedevice.install(notes={notes})\nimport hydra, torch\n"
    program += "def train(config):\n    x = torch.ones(3)\n    torch.addcmul(x, x, torch.ones(3, device='meta'))\n"
    (tmp_path / "train.py").write_text(f"{program}hydra.main(train)\n")
    run = python("train.py")
    assert run.returncode == 1
    before, _, after = run.stderr.partition("Traceback ")
    assert ("is on meta." in before, "is on meta." in after) == (not notes, notes)
    assert run.stderr.count("is on meta.") == 1
    run = python(*REAL, "train.py")
    assert run.stderr.count("is on meta.") == 1


# lightning.pytorch.trainer.call does this: it moves the model back to the CPU before the error goes on.
LIGHTNING_CALL = """
def _interrupt(trainer, exception):
    print("interrupted by", type(exception).__name__)

def fit(trainer, step):
    try:
        step()
    except BaseException as exception:
        _interrupt(trainer, exception)
        trainer.scale = trainer.scale.new_ones(3, device="cpu")
        raise
"""
LIGHTNING = """
import torch
from lightning.pytorch.trainer.call import fit

class Scaled:
    def __init__(self):
        self.scale = torch.ones(3, device="meta")

    def step(self):
        torch.addcmul(torch.ones(3), torch.ones(3), self.scale)

scaled = Scaled()
fit(scaled, scaled.step)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", [REAL, ()], ids=["real", "install"])
def test_an_error_under_lightning_is_explained_before_the_model_moves(python, tmp_path, command):
    """The names are those of lightning 2.6."""
    folder = tmp_path / "lightning" / "pytorch" / "trainer"
    folder.mkdir(parents=True)
    (folder / "call.py").write_text(LIGHTNING_CALL)
    (tmp_path / "train.py").write_text(LIGHTNING if command else INSTALL + LIGHTNING)
    run = python(*command, "train.py")
    assert (run.returncode, run.stdout) == (1, "interrupted by RuntimeError\n")
    assert run.stderr.count(SAYS) == 1
