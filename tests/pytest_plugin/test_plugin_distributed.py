"""A test of several processes in a session with --simulate-cuda: the groups that it begins with nccl work."""

import sys

import pytest

PROJECT = {
    "test_training.py": """
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def train(rank, store):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{store}", rank=rank, world_size=2)
    model = DistributedDataParallel(torch.nn.Linear(2, 1).to(rank), device_ids=[rank])
    model(torch.full((1, 2), rank + 1.0, device=rank)).sum().backward()
    assert model.module.weight.grad.tolist() == [[1.5, 1.5]]
    dist.barrier(device_ids=[rank])
    dist.destroy_process_group()


def test_two_ranks():
    mp.spawn(train, args=(tempfile.mktemp(),), nprocs=2)


def test_one_rank():
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    batch = torch.ones(2)
    try:
        dist.all_reduce(batch)
    finally:
        dist.destroy_process_group()
"""
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="NCCL is for Linux")
def test_a_test_for_nccl_runs_unchanged(run_session):
    session = run_session(PROJECT, "--simulate-cuda", "2", "-W", "default")
    assert session.reports["test_two_ranks"]["outcome"] == "passed", session
    report = session.reports["test_one_rank"]
    assert "RuntimeError: No backend type associated with device type cpu" in report["text"]
    assert "samedevice explain SD093" in report["said"]
    assert "UserWarning: samedevice: gloo does the work of NCCL, on the CPU" in session.out
