"""`torchrun` starts real processes, which find each other; it shows what they print, and raises what they raise."""

import os
import re
import subprocess
import sys

import pytest

from lessons import torchrun
from samedevice import explain

PROGRAM = """
import os
import torch
from torch import distributed as dist, nn

dist.init_process_group("gloo")
rank = dist.get_rank()
net = nn.Linear(1, 1)
print(f"rank {rank} of {dist.get_world_size()}", os.environ["LOCAL_RANK"])
"""
LEFT_OUT = """
net = nn.parallel.DistributedDataParallel(nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)]))
net.module.forward = lambda x: net.module[0](x) + (net.module[1](x) if rank == 0 else 0)
for step in range(3):
    net(torch.ones(1, 1)).sum().backward()
    print(f"rank {rank} made step {step}")
"""
SUM = """
one = torch.ones(1)
dist.all_reduce(one)
print("all ranks together:", one.item())
dist.destroy_process_group()
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Call with the rest of a program: it is train.py in the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(rest):
        (tmp_path / "train.py").write_text(PROGRAM + rest, "utf-8")

    return write


def test_each_rank_knows_its_number_and_they_reduce_together(program, capsys):
    program(SUM)
    torchrun("--nproc-per-node=2 train.py")
    assert capsys.readouterr().out == (
        "rank 0 of 2 0\nall ranks together: 2.0\nrank 1 of 2 1\nall ranks together: 2.0\n"
    )


@pytest.mark.weekly
@pytest.mark.slow
def test_the_first_error_is_raised_as_torchrun_itself_prints_it(program, capsys, monkeypatch):
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "INFO")
    program(LEFT_OUT)
    with pytest.raises(RuntimeError) as raised:
        torchrun("--nproc-per-node=2 train.py")
    text = str(raised.value)
    assert text.startswith("Expected to have finished reduction in the prior iteration before starting a new one.")
    assert text.endswith("did not receive grad for rank 1: 2 3")
    assert capsys.readouterr().out == (
        "rank 0 of 2 0\nrank 1 of 2 1\nrank 1 made step 0\n"
        "[rank1] failed in train.py, line 14: net(torch.ones(1, 1)).sum().backward()\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "train.py"]
    process = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=200)
    own = [line[9:] for line in process.stderr.splitlines() if line.startswith("[rank1]: ")]
    assert "\n".join(own).endswith(f"RuntimeError: {text}")


# A rank whose peer goes away while gloo connects the two fails itself: rank 0 waits until rank 1 has left the barrier.
ABORTS = """
import sys, time
from pathlib import Path

dist.barrier()
if rank == 1:
    Path("connected").touch()
    time.sleep(1)
    print("rank 1 is at its end, too")
else:
    while not Path("connected").exists():
        time.sleep(0.01)
    sys.stderr.write("terminate called without an active exception\\n")
    sys.stderr.flush()
    os.abort()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has another code for it")
def test_a_rank_that_aborts_when_it_has_ended_did_not_fail(program, capsys):
    program(ABORTS)
    torchrun("--nproc-per-node=2 train.py")
    assert capsys.readouterr().out.endswith("rank 1 is at its end, too\n")


COMPILED = """
import torch
from torch._subclasses import FakeTensorMode

def three_years(flats):
    return flats * torch.arange(1, 4)

with FakeTensorMode():
    torch.compile(three_years, backend="eager")(torch.empty(64, 3, device="cuda"))
"""


@pytest.mark.weekly
@pytest.mark.slow
def test_of_torch_compile_it_shows_the_call_and_raises_what_quotes_the_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(COMPILED, "utf-8")
    with pytest.raises(RuntimeError) as raised:
        torchrun("--nproc-per-node=1 train.py")
    call = 'torch.compile(three_years, backend="eager")(torch.empty(64, 3, device="cuda"))'
    assert capsys.readouterr().out == f"[rank0] failed in train.py, line 9: {call}\n"
    text = str(raised.value)
    assert "found at least two devices, cuda:0 and cpu!" in text or "two different devices cuda:0, cpu" in text
    assert '   File "train.py", line 6, in three_years\n    return flats * torch.arange(1, 4)\n' in text
    diagnosis = explain(raised.value)
    assert diagnosis.message is not None
    assert diagnosis.message.id in ("SD100", "SD101")


@pytest.mark.slow
def test_it_reads_a_traceback_where_programs_are_told_to_colour_it(program, capsys, monkeypatch):
    """As a notebook's kernel tells them, and as Python does from 3.13 on."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    program('raise ValueError("no GPU is free")')
    with pytest.raises(RuntimeError, match=r"^no GPU is free$"):
        torchrun("--nproc-per-node=1 train.py")
    assert capsys.readouterr().out.endswith('[rank0] failed in train.py, line 10: raise ValueError("no GPU is free")\n')


def test_a_program_that_fails_before_it_has_a_rank_is_shown_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import nothing_of_that_name", "utf-8")
    with pytest.raises(RuntimeError, match="No module named 'nothing_of_that_name'"):
        torchrun("train.py")


@pytest.mark.slow
def test_ranks_that_wait_are_ended(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lessons.ranks._LONGEST", 2)
    (tmp_path / "train.py").write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(300)")
    with pytest.raises(TimeoutError, match=re.escape("after 2 s the ranks still run")):
        torchrun("train.py")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


FROZEN = """
net = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])
net.forward = lambda x: net[0](x) + net[1](x)

def train():
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        model(torch.full((1, 1), rank + 1.0)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()

def same():
    gathered = [torch.empty(1, 1) for _ in range(2)]
    dist.all_gather(gathered, net[1].weight.detach())
    return torch.equal(*gathered)

net[1].requires_grad_(False)
model = nn.parallel.DistributedDataParallel(net)
net[1].requires_grad_(True)
train()
print("unfrozen:", same())
model = nn.parallel.DistributedDataParallel(net)
train()
print("wrapped again:", same())
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_what_lesson_18_says_of_a_layer_that_was_frozen_when_ddp_wrapped_it(program, capsys):
    program(FROZEN)
    torchrun("--nproc-per-node=2 train.py")
    told = ["unfrozen: False", "wrapped again: True"]
    assert capsys.readouterr().out.splitlines() == ["rank 0 of 2 0", *told, "rank 1 of 2 1", *told]


SELECTED = """
model = nn.parallel.DistributedDataParallel(net)
x = torch.full((4, 1), 3.0)[: 4 if rank == 0 else 0]
model(x).sum().backward()
print("gradient:", net.weight.grad.item())
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_what_lesson_18_says_of_an_empty_selection_it_counts_as_zero_in_an_average(program, capsys):
    program(SELECTED)
    torchrun("--nproc-per-node=2 train.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["rank 0 of 2 0", "gradient: 6.0", "rank 1 of 2 1", "gradient: 6.0"], "(4 * 3 + 0) / 2"


SHARDS = """
from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

torch.cuda.set_device(rank)
weight = distribute_tensor(torch.ones(8, 3, device="cuda"), init_device_mesh("cuda", (2,)), [Shard(0)])
print(weight.device, weight.to_local().device, tuple(weight.to_local().shape))
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_what_lesson_21_says_of_the_device_of_a_dtensor_it_is_that_of_the_part_here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    begin = "from samedevice import simulate_cuda\nsimulate_cuda(2).start()\n"
    (tmp_path / "train.py").write_text(begin + PROGRAM.replace('"gloo"', '"nccl"') + SHARDS, "utf-8")
    torchrun("--nproc-per-node=2 train.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["rank 0 of 2 0", "cuda:0 cuda:0 (4, 3)", "rank 1 of 2 1", "cuda:1 cuda:1 (4, 3)"]
