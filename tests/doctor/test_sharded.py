"""What `explain` says of DTensors, and of a sharded model on meta: in a process of its own, since it joins a group."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json

import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import init_device_mesh

from samedevice import explain, simulate_cuda


class Rents(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 8)
        self.rent = nn.Linear(8, 1)

    def encode(self, flats):
        return self.body(flats).relu()

    def forward(self, flats):
        return self.rent(self.encode(flats))


def sharded():
    return fully_shard(Rents(), mesh=init_device_mesh("cpu", (1,)))


def average_by_name():
    model = Rents()
    average = {name: p.detach().clone() for name, p in model.named_parameters()}
    fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
    with torch.no_grad():
        for name, p in model.named_parameters():
            average[name].lerp_(p, 0.1)


def average_in_a_list():
    model = Rents()
    average = [p.detach().clone() for p in model.parameters()]
    fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
    with torch.no_grad():
        for a, p in zip(average, model.parameters()):
            a.lerp_(p, 0.1)


def mask_of_a_weight():
    model, mask = sharded(), torch.ones(8, 3)
    weight = model.body.weight
    return weight * mask


def method_beside_forward():
    model, flats = sharded(), torch.rand(4, 3)
    return model.encode(flats)


def layer_alone():
    model, flats = sharded(), torch.rand(4, 3)
    return model.body(flats)


def still_on_meta():
    with torch.device("meta"):
        model = sharded()
    flats = torch.rand(4, 3)
    model(flats)


def moved_from_meta():
    with torch.device("meta"):
        model = Rents()
    model.to("cuda")


def layer_left_on_meta():
    model = Rents()
    with torch.device("meta"):
        model.rent = nn.Linear(8, 1)
    model.to("cuda")


told = {}
with simulate_cuda(devices=1):
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    for program in (average_by_name, average_in_a_list, mask_of_a_weight, method_beside_forward, layer_alone,
                    still_on_meta, moved_from_meta, layer_left_on_meta):
        try:
            program()
        except RuntimeError as error:
            culprit = explain(error).culprits[0]
            told[program.__name__] = [culprit.expression, culprit.cause, culprit.fix]
    distributed.destroy_process_group()
print(json.dumps(told))
"""
PLAIN, META = "plain_tensor_met_dtensor", "meta_device_leftover"
SPREAD = "distribute_tensor({0}, {1}.device_mesh, {1}.placements)"
TOLD = {
    "average_by_name": ["average[name]", PLAIN, "average[name] = " + SPREAD.format("average[name]", "p")],
    "average_in_a_list": [
        "a",
        PLAIN,
        f"average = [{SPREAD.format('a', 'p')} for a, p in zip(average, model.parameters())]  # once, before the loop",
    ],
    "mask_of_a_weight": ["mask", PLAIN, "mask = " + SPREAD.format("mask", "weight")],
    "method_beside_forward": [
        "flats",
        PLAIN,
        'register_fsdp_forward_method(model, "encode")  # once, after fully_shard',
    ],
    "layer_alone": [
        "flats",
        PLAIN,
        "fully_shard(model.body)  # or call the module that you sharded, not a layer of it",
    ],
    "still_on_meta": ["model.body.weight", META, 'model.to_empty(device="cpu")  # then load its weights'],
    "moved_from_meta": ["model.body.weight", META, 'model.to_empty(device="cuda")  # then load its weights'],
    "layer_left_on_meta": ["model.rent.weight", META, 'model.rent.to_empty(device="cuda")  # then load its weights'],
}


@pytest.fixture(scope="module")
def told() -> dict[str, list[str]]:
    process = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, encoding="utf-8", timeout=120)
    assert process.returncode == 0, process.stderr
    found: dict[str, list[str]] = json.loads(process.stdout)
    return found


def test_every_program_is_refused(told: dict[str, list[str]]) -> None:
    assert sorted(told) == sorted(TOLD)


@pytest.mark.parametrize("program", TOLD)
def test_the_plain_tensor_or_the_empty_one_is_named_with_the_line_to_change(
    program: str, told: dict[str, list[str]]
) -> None:
    assert told[program] == TOLD[program]
