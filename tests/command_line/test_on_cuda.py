"""`samedevice run --gpus real` on PyTorch's CUDA build: errors that PyTorch raises with tensors on real GPUs.

`make test-errors` runs these over a driver that computes nothing, so they need no GPU; a machine with a GPU runs them
with the rest.
"""

import json
import os
import threading

import pytest

REAL = ("-m", "samedevice", "run", "--gpus", "real")
BEGIN = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\nmodel = nn.Linear(4, 3).cuda()\n"
ATTRIBUTE = """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(3)

    def forward(self, x):
        return x * self.scale
"""
# The program, what is on the wrong device, where, and the line that fixes it.
PROGRAMS = {
    "batch": (
        "x = torch.ones(2, 4)\nmodel(x)",
        ("x", "cpu", 'x = torch.ones(2, 4, device="cuda:0")'),
    ),
    "labels": (
        "y = torch.zeros(2).long()\nF.cross_entropy(model(torch.ones(2, 4).cuda()), y)",
        ("y", "cpu", 'y = torch.zeros(2, device="cuda:0").long()'),
    ),
    "attribute": (
        f"{ATTRIBUTE}\nmodel = nn.Sequential(model, Scale()).cuda()\nmodel(torch.ones(2, 4).cuda())",
        ("self.scale", "cpu", 'self.register_buffer("scale", torch.ones(3), persistent=False)'),
    ),
    "sum": (
        "seen = torch.zeros(3)\nseen += model(torch.ones(4).cuda()).detach()",
        ("seen", "cpu", 'seen = torch.zeros(3, device="cuda:0")'),
    ),
    "array": (
        "scores = model(torch.ones(2, 4).cuda())\nscores.detach().numpy()",
        ("scores", "cuda:0", "scores.cpu().detach().numpy()"),
    ),
    "thread": (
        "import threading\nx = torch.ones(2, 4)\n"
        "thread = threading.Thread(target=lambda: model(x))\nthread.start()\nthread.join()\nraise SystemExit(1)",
        ("x", "cpu", 'thread = threading.Thread(target=lambda: model(x.to("cuda:0")))'),
    ),
}
TWO_GPUS = "x = torch.ones(2, 4, device='cuda:1')\nmodel(x)"
REPLICAS = f"{ATTRIBUTE}\nmodel = nn.DataParallel(nn.Sequential(model, Scale()).cuda())\nmodel(torch.ones(4, 4).cuda())"
WORKER = """
from torch.utils.data import DataLoader, Dataset


class OnTheGpu(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.ones(3).cuda()


next(iter(DataLoader(OnTheGpu(), num_workers=1, multiprocessing_context="fork")))
"""


@pytest.fixture(scope="module")
def gpus():
    import torch

    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA here: make test-errors runs this over a driver of its own")
    return torch.cuda.device_count()


@pytest.fixture
def found(gpus, python, tmp_path):
    """What a program's run leaves for machines, and what it prints."""

    def run(program, **settings):
        (tmp_path / "train.py").write_text(BEGIN + program)
        ended = python(*REAL, "--json", "found.json", "train.py", **settings)
        assert ended.returncode == 1, ended.stderr
        return json.loads((tmp_path / "found.json").read_text("utf-8")), ended.stderr

    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_tensor_and_its_line_are_found(found, name):
    program, expected = PROGRAMS[name]
    data, printed = found(program)
    (culprit,) = data["culprits"]
    assert (culprit["expression"], culprit["device"], culprit["edits"][0]["text"]) == expected
    assert f"+ {expected[2]}\n" in printed
    assert "samedevice" not in printed.partition("Traceback")[2]


def test_two_gpus_are_told_apart(found, gpus):
    if gpus < 2:
        pytest.skip("needs 2 GPUs")
    data, _ = found(TWO_GPUS)
    assert [(culprit["expression"], culprit["device"]) for culprit in data["culprits"]] == [("x", "cuda:1")]


def test_an_error_of_a_replica_has_its_line(found, gpus):
    if gpus < 2:
        pytest.skip("needs 2 GPUs")
    data, printed = found(REPLICAS)
    (culprit,) = data["culprits"]
    assert culprit["edits"][0]["text"] == 'self.register_buffer("scale", torch.ones(3), persistent=False)'
    assert "Caught RuntimeError in replica 0 on device 0." in printed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
def test_cuda_in_a_forked_worker_is_named_with_its_line(found):
    data, printed = found(WORKER)
    assert data["message"]["id"] == "SD060"
    assert data["place"]["function"] == "__getitem__"
    assert printed.index("Cannot re-initialize CUDA") > printed.index("in __getitem__")


def test_ranks_on_gpus_of_their_own_have_the_same_error(gpus, python, tmp_path):
    if gpus < 2:
        pytest.skip("needs 2 GPUs")
    program = "import os, torch\nlayer = torch.nn.Linear(4, 3).cuda(int(os.environ['RANK']))\nlayer(torch.ones(2, 4))\n"
    (tmp_path / "train.py").write_text(program)
    said = {}

    def rank(number):
        folder = tmp_path / "attempt_0" / str(number)
        folder.mkdir(parents=True)
        ranks = {"RANK": str(number), "LOCAL_RANK": str(number)}
        run = python(*REAL, "train.py", **ranks, TORCHELASTIC_ERROR_FILE=str(folder / "error.json"))
        said[number] = run.stderr

    threads = [threading.Thread(target=rank, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f"different from other tensors on cuda:{number}" in text for number, text in said.items())
    assert sorted("has the same error as rank" in text for text in said.values()) == [False, True]
