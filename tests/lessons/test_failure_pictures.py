"""The home page's pictures are true: what they show fails, and nothing in them is cut."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from torch import nn

from lessons import picture
from lessons.site.failure_pictures import FAILURES, failure_picture
from samedevice import simulate_cuda
from samedevice.placement.model import told

HOME = (Path(__file__).parents[2] / "docs/index.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def gpus():
    with simulate_cuda(devices=2):
        yield


def parsed(svg):
    return ElementTree.fromstring(svg)


def texts(element):
    """All that can be read in an element; a name that is cut counts whole."""
    return [(line.findtext(f"{SVG}title") or line.text or "").strip() for line in element.iter(f"{SVG}text")]


MADE = {
    "two-tensors": "batch, layer = torch.ones(16, 3), nn.Linear(3, 1).cuda()",
    "input_not_moved": """
model = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 2)).cuda()
batch = torch.ones(16, 20, dtype=torch.long)""",
    "model_not_moved": 'model, images = nn.Conv2d(3, 8, 3), torch.ones(16, 3, 9, 9, device="cuda")',
    "unregistered_tensor_attribute": """
class Scaled(nn.Linear):
    def forward(self, x):
        return super().forward(x * self.scale)

model, batch = Scaled(3, 1), torch.ones(16, 3, device="cuda")
model.scale = torch.ones(3)
model.cuda()""",
    "tensor_created_in_forward_without_device": """
embed, positions = nn.Embedding(20, 8).cuda(), torch.arange(20)""",
    "split_model_activation_not_moved": """
first, second = nn.Linear(3, 8).to("cuda:0"), nn.Linear(8, 1).to("cuda:1")
hidden = first(torch.ones(16, 3, device="cuda:0"))""",
    "data_parallel_root_device": """
from torch.nn import DataParallel
model, batch = nn.Linear(3, 1), torch.ones(16, 3)""",
    "in_place_or_copy": 'total, scores = torch.zeros(10), torch.ones(10, device="cuda")',
    "metric_or_accumulator_state": """
results = [torch.zeros(1, 10), torch.ones(16, 10, device="cuda"), torch.ones(16, 10, device="cuda")]""",
    "index_on_wrong_device": 'weights, labels = torch.ones(10), torch.ones(16, dtype=torch.long, device="cuda")',
    "numpy_conversion": 'scores = torch.ones(16, 10, device="cuda")',
    "optimizer_state_device": """
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters())
model(torch.ones(16, 3)).sum().backward()
optimizer.step()
model.cuda()""",
    "wrong_default_index": """
batch = torch.ones(16, 3).to("cuda")
torch.cuda.set_device(1)
model = nn.Linear(3, 1).to("cuda")""",
    "no_cuda_build_or_driver": 'model = nn.Linear(3, 1)\nmonkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")',
    "checkpoint_map_location": 'torch.save(nn.Linear(3, 1).cuda().state_dict(), "model.pt")',
}


def test_there_is_a_picture_for_each_card():
    assert set(re.findall(r"\(errors/[\w-]+\.md#(\w+)\)", HOME)) | {"two-tensors"} == set(FAILURES) == set(MADE)


@pytest.mark.parametrize("name", FAILURES)
def test_the_failure_of_a_card_happens_to_the_things_in_its_picture(name, tmp_path, monkeypatch, gpus):
    monkeypatch.chdir(tmp_path)
    failure = FAILURES[name]
    things = {"torch": torch, "nn": nn, "monkeypatch": monkeypatch}
    exec(MADE[name], things)
    for thing in failure.things:
        if thing.name in things:
            assert told("", [thing]) == repr(picture(**{thing.name: things[thing.name]}))
    if failure.missing:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises((RuntimeError, TypeError)) as caught:
        exec(failure.call, things)
    assert f"{type(caught.value).__name__}: {caught.value}" in HOME


@pytest.mark.parametrize("name", FAILURES)
def test_the_picture_of_a_card_shows_what_fails_and_cuts_nothing(name):
    svg = parsed(failure_picture(name))
    assert {FAILURES[name].call, FAILURES[name].says} <= set(texts(svg))
    assert not [line for line in svg.iter(f"{SVG}text") if line.find(f"{SVG}title") is not None]
