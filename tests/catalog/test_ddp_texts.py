"""What DistributedDataParallel says is raised, in a process of its own, and the catalog knows it.

Lesson 18 raises its commonest words. These are the others, and those of a backward that an error cut short.
"""

import json

import pytest

from samedevice import explain
from samedevice.catalog import load
from warm import run

SCRIPT = """
import json
import warnings
from dataclasses import dataclass

warnings.simplefilter("ignore")
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

flats = torch.rand(4, 2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.rent, self.sale = nn.Linear(2, 8), nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, flats, head="rent"):
        return getattr(self, head)(self.body(flats))


@dataclass
class Pair:
    rent: torch.Tensor
    sale: torch.Tensor


class Paired(Net):
    def forward(self, flats):
        return Pair(super().forward(flats), super().forward(flats, "sale"))


class Checkpointed(Net):
    reentrant = True

    def forward(self, flats):
        hidden = checkpoint(self.body, flats.clone().requires_grad_(), use_reentrant=self.reentrant)
        return self.rent(hidden) + self.sale(hidden)


class Once(Checkpointed):
    reentrant = False


def steps(net, heads, **options):
    model = DistributedDataParallel(net, **options)
    for head in heads:
        model(flats, head).sum().backward()


def an_output_in_a_dataclass():
    model = DistributedDataParallel(Paired(), find_unused_parameters=True)
    for _ in range(2):
        model(flats).rent.sum().backward()


def used_first_and_then_not():
    model = DistributedDataParallel(Net(), static_graph=True)
    (model(flats) + model(flats, "sale")).sum().backward()
    for _ in range(2):
        model(flats).sum().backward()


def heads_in_turn():
    steps(Net(), ["rent", "sale", "rent"], static_graph=True)


def heads_in_turn_with_the_flag():
    steps(Net(), ["rent", "sale", "rent"], find_unused_parameters=True)


def two_forwards_with_the_flag():
    model = DistributedDataParallel(Net(), find_unused_parameters=True)
    (model(flats) + model(flats, "sale")).sum().backward()


def two_forwards_without_it():
    model = DistributedDataParallel(Net())
    for _ in range(2):
        (model(flats) + model(flats, "sale")).sum().backward()


def checkpoints_with_the_flag():
    model = DistributedDataParallel(Checkpointed(), find_unused_parameters=True)
    for _ in range(2):
        model(flats).sum().backward()


def checkpoints_that_are_not_reentrant():
    model = DistributedDataParallel(Once(), find_unused_parameters=True)
    for _ in range(2):
        model(flats).sum().backward()


def cut_short():
    net = Net()
    net.sale.requires_grad_(False)

    def fail(gradient):
        raise ValueError("out of memory")

    hook = net.body.weight.register_hook(fail)
    model = DistributedDataParallel(net)
    try:
        model(flats).sum().backward()
    except ValueError:
        hook.remove()
    return model


def a_backward_cut_short():
    cut_short()(flats)


def wrapped_again_after_that():
    model = cut_short()
    DistributedDataParallel(model.module)(flats).sum().backward()


said = {}
distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
for program in PROGRAMS:
    try:
        globals()[program]()
        said[program] = ""
    except RuntimeError as error:
        said[program] = str(error)
distributed.destroy_process_group()
print(json.dumps(said))
"""
RAISED = {
    "a_backward_cut_short": "SD090",
    "an_output_in_a_dataclass": "SD090",
    "heads_in_turn": "SD109",
    "used_first_and_then_not": "SD090",
}
MARKED_TWICE = ["checkpoints_with_the_flag", "two_forwards_with_the_flag", "wrapped_again_after_that"]
RUN = ["checkpoints_that_are_not_reentrant", "heads_in_turn_with_the_flag", "two_forwards_without_it"]


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    script = f"PROGRAMS = {[*RAISED, *MARKED_TWICE, *RUN]}\n{SCRIPT}"
    process = run(["-c", script], timeout=200)
    assert process.returncode == 0, process.stderr
    found: dict[str, str] = json.loads(process.stdout)
    return found


@pytest.mark.parametrize(("program", "message"), RAISED.items())
def test_what_it_says_is_recognised(program: str, message: str, said: dict[str, str]) -> None:
    diagnosis = explain(said[program])
    assert diagnosis.message is not None
    assert diagnosis.message.id == message


@pytest.mark.parametrize(
    ("program", "setting"),
    [("an_output_in_a_dataclass", "find_unused_parameters=True"), ("used_first_and_then_not", "static_graph=True")],
)
def test_the_text_of_a_setting_is_in_the_catalog(program: str, setting: str, said: dict[str, str]) -> None:
    (known,) = [text["text"] for text in load().messages["SD090"].texts if text["torch"].endswith(setting)]
    assert " ".join(said[program].split())[:300] == " ".join(known.split())[:300]


@pytest.mark.parametrize("program", MARKED_TWICE)
def test_a_parameter_that_is_ready_twice_is_no_device_error(program: str, said: dict[str, str]) -> None:
    assert said[program].startswith("Expected to mark a variable ready only once.")
    assert explain(said[program]).message is None


@pytest.mark.parametrize("program", RUN)
def test_what_lesson_12_and_the_catalog_advise_runs(program: str, said: dict[str, str]) -> None:
    assert said[program] == ""
