"""What `steps_on_ranks` runs and tells: a program's lines on several ranks, and what each has after each of them."""

import pytest
from bs4 import BeautifulSoup

from lessons import steps_on_ranks

SETUP = """
import torch
from torch import distributed as dist, nn
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
"""
PROGRAM = """
layer = nn.Linear(3, 8, bias=False)
parts = distribute_tensor(layer.weight.detach(), mesh, [Shard(0)])
uneven = distribute_tensor(torch.ones(3), mesh, [Shard(0)])
copies = distribute_tensor(torch.ones(3), mesh, [Replicate()])
print("nothing that is kept")
whole = parts.full_tensor()
"""


@pytest.fixture(scope="module")
def shown():
    return steps_on_ranks(PROGRAM, setup=SETUP)


@pytest.mark.slow
def test_text_has_each_line_and_what_every_rank_has_of_what_is_new(shown):
    told = [line.split("  ")[-1].strip() for line in repr(shown).splitlines()]
    assert told == [
        "layer.weight: (8, 3) on each rank",
        "parts: (4, 3) of (8, 3) on each rank",
        "uneven: (2,) of (3,) on rank 0 and (1,) of (3,) on rank 1",
        "copies: (3,) on each rank",
        "nothing new",
        "whole: (8, 3) on each rank",
    ]


@pytest.mark.slow
def test_a_notebook_draws_a_panel_for_each_rank(shown):
    last = BeautifulSoup(shown._repr_html_(), "html.parser").find_all("svg")[-1]
    said = last.find("desc").text
    assert "On rank 0: layer.weight (8, 3), parts (8, 3) (here (4, 3)), uneven (3,) (here (2,))," in said
    assert "On rank 1: layer.weight (8, 3), parts (8, 3) (here (4, 3)), uneven (3,) (here (1,))," in said


@pytest.mark.slow
def test_what_a_rank_raises_is_raised():
    with pytest.raises(RuntimeError, match="rank 1 has no flats"):
        steps_on_ranks(
            "if rank == 1: raise ValueError('rank 1 has no flats')", setup="import os; rank = int(os.environ['RANK'])"
        )


def test_a_program_has_a_line():
    with pytest.raises(TypeError, match="steps_on_ranks takes a program"):
        steps_on_ranks("")
