"""torch.distributed.split_group: the parts of a group of NCCL, which is bound to a GPU.

Two processes split one in tests/command_line/test_command_run.py.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import distributed as dist

from samedevice.simulation.patches import process_group_nccl

pytestmark = [
    pytest.mark.skipif(not process_group_nccl._available, reason="this torch has no gloo"),
    pytest.mark.filterwarnings("ignore"),
]
GPU = torch.device("cuda", 1)


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> Iterator[None]:
    yield
    dist.destroy_process_group()


def begin(backend: str) -> Any:
    dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, device_id=GPU)
    return dist.group.WORLD


@pytest.mark.parametrize("times", [1, 2])
def test_a_part_is_a_group_of_nccl(times: int) -> None:
    begin("nccl")
    parts = [dist.split_group(split_ranks=[[0]]) for _ in range(times)]
    for part in parts:
        assert part is not None
        backend = part._get_backend(torch.device("cuda"))
        assert (type(backend), dist.get_backend(part), part.bound_device_id) == (dist.ProcessGroupNCCL, "nccl", GPU)
        x = torch.ones(2, device=GPU)
        dist.all_reduce(x, group=part)
        assert (x.tolist(), x.device) == ([1, 1], GPU)
        with pytest.raises(RuntimeError, match="No backend type associated with device type cpu"):
            dist.all_reduce(torch.ones(2), group=part)
        dist.destroy_process_group(part)
    dist.all_reduce(torch.ones(2, device=GPU))


def test_a_part_of_a_group_for_both_takes_tensors_of_both() -> None:
    begin("cpu:gloo,cuda:nccl")
    part = dist.split_group(split_ranks=[[0]])
    for device in ("cpu", GPU):
        x = torch.ones(2, device=device)
        dist.all_reduce(x, group=part)
        assert x.device == torch.device(device)


def test_who_is_in_no_part_has_none() -> None:
    assert begin("nccl").split_group([1], group_name="others") is None
