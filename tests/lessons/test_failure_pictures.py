"""The pictures of failures are true: what they show fails, and nothing in them is cut."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from torch import nn

from lessons import picture
from samedevice import explain, simulate_cuda
from samedevice.catalog import load
from samedevice.placement.placements import told
from site_build.failure_pictures import FAILURES, failure_picture

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
    "data_parallel_root_device": """
from torch.nn import DataParallel
model, batch = nn.Linear(3, 1), torch.ones(16, 3)""",
    "metric_or_accumulator_state": 'total, loss = torch.zeros(1), torch.tensor(0.5, device="cuda")',
    "index_on_wrong_device": 'class_weights, labels = torch.ones(3), torch.ones(16, dtype=torch.long, device="cuda")',
    "no_cuda_build_or_driver": 'model = nn.Linear(3, 1)\nmonkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")',
    "checkpoint_map_location": 'torch.save(nn.Linear(3, 1).cuda().state_dict(), "model.pt")',
}


def test_each_picture_is_the_home_pages_or_that_of_a_cause():
    assert set(MADE) == set(FAILURES)
    assert re.findall(r'\{\{ picture\("(.+?)"\) \}\}', HOME) == ["two-tensors"]
    assert set(FAILURES) - {"two-tensors"} <= set(load().causes)


@pytest.mark.parametrize("name", FAILURES)
def test_the_failure_happens_to_the_things_in_its_picture(name, tmp_path, monkeypatch, gpus):
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
    message = explain(f"{type(caught.value).__name__}: {caught.value}").message
    assert message
    assert name in {cause.id for cause in message.causes} | {"two-tensors"}


@pytest.mark.parametrize("name", FAILURES)
def test_a_picture_shows_what_fails_and_cuts_nothing(name):
    svg = parsed(failure_picture(name))
    assert {FAILURES[name].call, FAILURES[name].says} <= set(texts(svg))
    assert not [line for line in svg.iter(f"{SVG}text") if line.find(f"{SVG}title") is not None]
