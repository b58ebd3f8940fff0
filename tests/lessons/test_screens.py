"""The screens of the two-minute page are true: what they show is where it is, and their lines do what is said."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from torch import nn

from lessons import picture
from samedevice import simulate_cuda
from samedevice.placement.picture import as_thing
from samedevice.placement.placements import told
from site_build.screens import SCREENS, screen_picture

PAGE = (Path(__file__).parents[2] / "docs/two-minutes.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


class Centred(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.mean = torch.zeros(3)

    def forward(self, x):
        return self.layer(x - self.mean)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x)


@pytest.fixture(autouse=True)
def gpus():
    with simulate_cuda(devices=2):
        yield


MADE = {
    "device": 'model, batch = Plain().to("cuda"), torch.ones(16, 3)',
    "meet": 'model, batch = Plain().to("cuda"), torch.ones(16, 3)',
    "to": 'model, batch = Plain().to("cuda"), torch.ones(16, 3)',
    "misses": "model = Centred()",
    "find": 'self, x = Centred().to("cuda"), torch.ones(16, 3, device="cuda")',
}


def ran(name):
    """Make what the screen begins with and run its line: what there is then, and the error if it failed."""
    things = {"torch": torch, "nn": nn, "Plain": Plain, "Centred": Centred}
    exec(MADE[name], things)
    try:
        exec(SCREENS[name].code, things)
    except RuntimeError as error:
        return things, error
    return things, None


def test_the_page_shows_each_screen_with_its_line():
    shown = re.findall(r'\{\{ screen\("(\w+)"\) \}\}\n\n```python\n(.+)\n```', PAGE)
    assert [name for name, _ in shown] == list(SCREENS)
    assert [line.partition("  #")[0] for _, line in shown] == [screen.code for screen in SCREENS.values()]


@pytest.mark.parametrize("name", SCREENS)
def test_what_the_picture_shows_is_where_it_is_after_the_line(name):
    things, _ = ran(name)
    for thing in SCREENS[name].things:
        assert told("", [thing]) == told("", [as_thing(thing.name, eval(thing.name, things))])


@pytest.mark.parametrize("name", SCREENS)
def test_its_call_is_refused_exactly_where_it_says_so(name):
    screen, (things, _) = SCREENS[name], ran(name)
    if screen.says and screen.says.mark == "no":
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            eval(screen.call, things)
    elif screen.call:
        eval(screen.call, things)


@pytest.mark.parametrize(("name", "printed"), [("device", "cpu"), ("find", "cuda:0 cpu")])
def test_what_the_line_prints_is_what_the_page_says(name, printed, capsys):
    ran(name)
    assert capsys.readouterr().out == f"{printed}\n"
    assert f"{SCREENS[name].code}  # {printed}\n" in PAGE


def test_the_second_line_is_refused_and_the_fourth_leaves_the_mean():
    _, error = ran("meet")
    assert str(error).startswith("Expected all tensors")
    assert f"{SCREENS['meet'].code}  # RuntimeError\n" in PAGE
    things, _ = ran("misses")
    assert "mean" in repr(picture(model=things["model"]))
    assert things["model"].mean.device.type == "cpu"


@pytest.mark.parametrize("name", SCREENS)
def test_a_picture_cuts_nothing(name):
    svg = ElementTree.fromstring(screen_picture(name))
    assert not [line for line in svg.iter(f"{SVG}text") if line.find(f"{SVG}title") is not None]
