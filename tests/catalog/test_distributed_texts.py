"""What PyTorch says of FSDP and DTensor is raised, in a process of its own, word for word as the catalog has it."""

import json

import pytest

from samedevice import explain
from samedevice.catalog import load
from warm import run

SCRIPT = """
import json
import warnings

warnings.simplefilter("ignore")
import torch
import torch.distributed
from torch import nn
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel, fully_shard
from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

from samedevice import simulate_cuda


def two_gpus():
    FullyShardedDataParallel(nn.Sequential(nn.Linear(8, 4).to("cuda:0"), nn.Linear(4, 4).to("cuda:1")))


def cpu_and_gpu():
    FullyShardedDataParallel(nn.Sequential(nn.Linear(8, 4).to("cuda:0"), nn.Linear(4, 4)))


def another_gpu():
    FullyShardedDataParallel(nn.Linear(8, 4).to("cuda:0"), device_id=1)


def offloaded_and_moved():
    model = FullyShardedDataParallel(nn.Linear(8, 4), cpu_offload=CPUOffload(True), device_id=0)
    model.to("cuda")(torch.randn(2, 8, device="cuda"))


def moved_to_the_cpu():
    FullyShardedDataParallel(nn.Linear(8, 4).to("cuda")).cpu()(torch.randn(2, 8, device="cuda"))


def synchronized_on_the_cpu():
    FullyShardedDataParallel(nn.Linear(8, 4), sync_module_states=True)


def on_meta():
    with torch.device("meta"):
        model = nn.Linear(8, 4)
    fully_shard(model)
    model(torch.randn(2, 8, device="cuda"))


def on_meta_and_called_again():
    with torch.device("meta"):
        model = nn.Linear(8, 4)
    fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
    try:
        model(torch.randn(2, 8))
    except RuntimeError:
        model.to_empty(device="cpu")
    model(torch.randn(2, 8))


def mixed():
    distribute_tensor(torch.randn(8, 4), init_device_mesh("cpu", (1,)), [Shard(0)]) + torch.ones(8, 4)


said = {}
with simulate_cuda(devices=2):
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    for program in (two_gpus, cpu_and_gpu, another_gpu, offloaded_and_moved, moved_to_the_cpu,
                    synchronized_on_the_cpu, on_meta, on_meta_and_called_again, mixed):
        try:
            program()
        except (AttributeError, RuntimeError, ValueError) as error:
            said[program.__name__] = str(error)
    torch.distributed.destroy_process_group()
print(json.dumps(said))
"""
MESSAGES = {
    "another_gpu": "SD096",
    "cpu_and_gpu": "SD096",
    "mixed": "SD099",
    "moved_to_the_cpu": "SD097",
    "offloaded_and_moved": "SD097",
    "on_meta": "SD098",
    "synchronized_on_the_cpu": "SD097",
    "two_gpus": "SD096",
}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    process = run(["-c", SCRIPT], timeout=120)
    assert process.returncode == 0, process.stderr
    found: dict[str, str] = json.loads(process.stdout)
    return found


def test_every_program_raises(said: dict[str, str]) -> None:
    assert sorted(said) == sorted([*MESSAGES, "on_meta_and_called_again"])


def test_a_second_call_after_a_failed_one_is_named_as_that(said: dict[str, str]) -> None:
    other = explain(f"AttributeError: {said['on_meta_and_called_again']}").other
    assert other is not None
    assert other.id == "fsdp_set_up_halfway"


@pytest.mark.parametrize(("program", "message"), MESSAGES.items())
def test_the_text_is_known_word_for_word(program: str, message: str, said: dict[str, str]) -> None:
    # The devices of the two GPUs come from a set, in any order.
    text = said[program].replace("index=1", "index=0") if program == "two_gpus" else said[program]
    known = [one["text"].replace("index=1", "index=0") for one in load().messages[message].texts]
    assert " ".join(text.split()) in [" ".join(one.split()) for one in [*known, *(t.strip() for t in known)]]
    diagnosis = explain(said[program])
    assert diagnosis.message is not None
    assert diagnosis.message.id == message
