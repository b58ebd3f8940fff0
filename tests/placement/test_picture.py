"""What `picture` tells of live objects, as text and as SVG."""

import re
import xml.etree.ElementTree as ElementTree
from collections import namedtuple

import numpy as np
import pytest
import torch
from torch import nn

from lessons import picture
from samedevice import simulate_cuda
from samedevice.placement.drawing import drawn
from samedevice.placement.placements import Placement, Thing, Verdict, told

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


def panels(shown):
    """What stands in the panel of each device, by the device."""
    found = [texts(group) for group in parsed(shown._repr_html_()).findall(f"{SVG}g") if group.get("transform")]
    return {device: lines for device, *lines in found}


def verdict(call, **things):
    return repr(picture(call, **things)).splitlines()[-1]


# What is told of each kind of thing


def test_a_tensor_has_its_name_shape_and_device():
    assert repr(picture(batch=torch.ones(16, 3), total=torch.ones((), device="cuda:1"))) == (
        "batch  (16, 3)  cpu\n"  #
        "total  ()       cuda:1"
    )


def test_a_module_has_its_parameters_and_buffers():
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).to("cuda")
    model[1].running_mean = model[1].running_mean.cpu()
    lines = repr(picture("model(x)", model=model)).splitlines()
    assert lines[0].split() == ["model.1.running_mean", "(2,)", "cpu"]
    assert ["model.0.weight", "(2,", "3)", "cuda:0"] in [line.split() for line in lines]
    assert lines[-1] == "model(x): two devices, cpu and cuda:0"


def test_a_module_on_two_devices_is_in_both_panels_with_its_own_part():
    model = nn.Sequential(nn.Linear(3, 8).to("cuda:0"), nn.Linear(8, 1).to("cuda:1"))
    assert panels(picture(model=model)) == {
        "cuda:0": ["model", "0.weight", "(8, 3)", "0.bias", "(8,)"],
        "cuda:1": ["model", "1.weight", "(1, 8)", "1.bias", "(1,)"],
    }


def test_a_weight_that_two_layers_share_is_there_once():
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    assert repr(picture(model=model)) == "model.0.weight  (3, 3)  cpu"


def test_the_parameters_of_a_recurrent_layer_are_no_plain_attributes():
    assert "plain attribute" not in repr(picture(model=nn.LSTM(3, 4)))


def test_a_replica_has_copies_of_the_parameters():
    replica = nn.parallel.replicate(nn.Linear(3, 1).to("cuda"), [0, 1])[1]
    assert repr(picture(replica=replica)) == "replica.weight  (1, 3)  cuda:1\nreplica.bias    (1,)    cuda:1"


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.scale = torch.ones(1)
        self.hidden = [nn.Linear(1, 1, bias=False)]
        self.tied = [self.layer.weight]


def test_a_plain_attribute_is_marked_and_shows_that_it_stayed():
    shown = picture("model(batch)", model=Scaled().to("cuda"))
    assert repr(shown).splitlines()[:2] == [
        "model.scale             (1,)    cpu     plain attribute",
        "model.hidden[0].weight  (1, 1)  cpu     plain attribute",
    ]
    assert panels(shown)["cpu"].count("plain attribute") == 2
    assert panels(shown)["cuda:0"] == ["model", "layer.weight", "(1, 3)", "layer.bias", "(1,)"]


def test_many_parameters_are_folded_and_what_is_marked_is_not():
    model = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])
    model.mask = torch.ones(2)
    shown = picture(model=model)
    assert len(repr(shown).splitlines()) == 5
    assert "model, 5 more" in repr(shown)
    assert "model.mask" in repr(shown)
    assert panels(shown)["cpu"][-1] == "and 5 more"


def test_an_optimizer_has_its_parameters_and_then_its_state_by_device():
    model = nn.Linear(3, 1).to("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    assert repr(picture("optimizer.step()", optimizer=optimizer)) == (
        "optimizer.params \N{MULTIPLICATION SIGN}2    cuda:0  no state\noptimizer.step(): all on cuda:0"
    )
    model(torch.ones(4, 3, device="cuda")).sum().backward()
    optimizer.step()
    stepped = picture("optimizer.step()", optimizer=optimizer)
    assert panels(stepped) == {
        "cpu": ["optimizer", "step \N{MULTIPLICATION SIGN}2", "()"],
        "cuda:0": [
            "optimizer",
            *(f"{name} \N{MULTIPLICATION SIGN}2" for name in ("params", "exp_avg", "exp_avg_sq")),
        ],
    }
    assert repr(stepped).endswith("optimizer.step(): all on cuda:0; step counts may stay on cpu")
    model.cpu()
    assert verdict("optimizer.step()", optimizer=optimizer).endswith(": two devices, cpu and cuda:0")


def test_lists_and_dicts_have_what_is_in_them_by_the_words_of_python():
    pair = namedtuple("Pair", "image label")(torch.ones(2), torch.ones(3))
    batch = {"ids": torch.ones(4), "length": 4, "parts": [torch.ones(1), torch.ones(1, device="cuda")], 7: pair}
    assert [line.split() for line in repr(picture(batch=batch)).splitlines()] == [
        ["batch['ids']", "(4,)", "cpu"],
        ["batch['parts'][0]", "(1,)", "cpu"],
        ["batch[7].image", "(2,)", "cpu"],
        ["batch[7].label", "(3,)", "cpu"],
        ["batch['parts'][1]", "(1,)", "cuda:0"],
    ]


def test_one_tensor_twice_in_a_list_is_there_twice_and_a_list_in_itself_ends():
    numbers = [torch.ones(1)] * 2
    numbers.append(numbers)
    assert [line.split()[0] for line in repr(picture(numbers=numbers)).splitlines()] == ["numbers[0]", "numbers[1]"]


def test_a_numpy_array_is_on_the_cpu_and_what_has_no_tensor_on_no_device():
    shown = picture(array=np.ones(3), criterion=nn.MSELoss(), steps=3)
    assert [line.split() for line in repr(shown).splitlines()] == [
        ["array", "(3,)", "cpu", "NumPy", "array"],
        ["criterion", "no", "device", "no", "tensor"],
        ["steps", "no", "device", "no", "tensor"],
    ]
    assert panels(shown)["no device"] == ["criterion", "no tensor", "steps", "no tensor"]


def test_a_lazy_layer_has_no_shapes_yet_and_meta_is_a_device():
    model = nn.Sequential(nn.LazyLinear(2), nn.Linear(2, 1, device="meta"))
    assert [line.split() for line in repr(picture(model=model)).splitlines()] == [
        ["model.0.weight", "cpu"],
        ["model.0.bias", "cpu"],
        ["model.1.weight", "(1,", "2)", "meta"],
        ["model.1.bias", "(1,)", "meta"],
    ]


def test_things_without_names_are_refused_with_the_way_to_write_it():
    for wrong in (lambda: picture(torch.ones(1)), lambda: picture("model(batch)"), lambda: picture()):
        with pytest.raises(TypeError, match=r"picture\(\"model\(batch\)\", model=model, batch=batch\)"):
            wrong()


def test_nothing_is_moved_and_no_code_of_the_user_runs():
    class Untouchable:
        def run(self, *_):
            raise AssertionError("the picture ran this")

        __repr__ = __str__ = __iter__ = __len__ = __bool__ = __eq__ = __getattr__ = run
        __hash__ = object.__hash__

    class Model(Untouchable, nn.Module):
        __getattribute__ = parameters = named_parameters = named_buffers = named_modules = forward = Untouchable.run

    class Items(Untouchable, list):
        pass

    class Table(Untouchable, dict):
        items = keys = Untouchable.run

    model = nn.Linear(3, 1).to("cuda")
    inside, device = dict(model.__dict__), model.weight.device
    wrapped = Model.__new__(Model)
    object.__setattr__(wrapped, "__dict__", inside)
    shown = picture(a=wrapped, b=Items([torch.ones(1)]), c=Table(x=torch.ones(2)), d=Untouchable(), e={"f": Model})
    assert [line.split()[0] for line in repr(shown).splitlines()] == ["a.weight", "a.bias", "b[0]", "c['x']", "d", "e"]
    assert shown._repr_html_()
    assert model.weight.device == device


# The verdict


def test_all_on_one_device_is_said_so():
    things = {"x": torch.ones(2, device="cuda:1"), "y": torch.ones(2, device="cuda:1")}
    assert verdict("x + y", **things) == "x + y: all on cuda:1"
    assert "x + y" not in repr(picture(**things))
    assert panels(picture("x + y", **things)).keys() == {"cuda:1"}


def test_a_single_number_on_the_cpu_may_join_and_a_vector_or_one_on_the_gpu_may_not():
    vector = torch.ones(3, device="cuda")
    assert "a single CPU number may join" in verdict("x * n", x=vector, n=torch.tensor(2.0))
    assert "two devices, cpu and cuda:0" in verdict("x * n", x=vector, n=torch.ones(1))
    assert "two devices, cpu and cuda:0" in verdict("x * n", x=vector.cpu(), n=vector.max())
    both = verdict("x * n", x=vector, y=vector.to("cuda:1"), n=torch.tensor(2.0))
    assert both.endswith("three devices, cpu, cuda:0 and cuda:1")


def test_devices_are_in_the_same_order_whatever_the_things_are():
    x, y, z = torch.ones(1, device="cuda:1"), torch.ones(1, device="meta"), torch.ones(1)
    assert list(panels(picture(x=x, y=y, z=z))) == ["cpu", "cuda:1", "meta"]


# The SVG


def everything():
    model = Scaled().to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
    return picture("model(batch)", model=model, optimizer=optimizer, batch=torch.ones(2, 3, device="cuda:1"), n=1)


def test_the_picture_needs_no_style_no_script_and_no_id():
    svg = everything()._repr_html_()
    assert svg.startswith("<svg ")
    assert {element.tag.removeprefix(SVG) for element in parsed(svg).iter()} <= set(
        ["svg", "title", "desc", "g", "rect", "circle", "path", "text"]
    )
    attributes = {name for element in parsed(svg).iter() for name in element.attrib}
    assert not attributes & {"style", "id", "href"}
    assert not any(name.startswith("on") for name in attributes)


def test_the_picture_is_the_same_each_time():
    assert everything()._repr_html_() == everything()._repr_html_()
    assert repr(everything()) == repr(everything())


def test_a_screen_reader_gets_every_line_of_the_text():
    shown = everything()
    svg = parsed(shown._repr_html_())
    assert svg.get("role") == "img"
    assert svg.findtext(f"{SVG}title") == repr(shown).splitlines()[-1]
    described = svg.findtext(f"{SVG}desc")
    for line in repr(shown).splitlines():
        for fact in re.split(r"\s{2,}", line):
            assert fact in described, fact


def test_devices_differ_without_their_colours():
    signs = {}
    for device in ("cpu", "cuda:0", "cuda:1", "cuda:2", "meta"):
        group = parsed(drawn("", [Thing("x", (Placement(device, shape=(1,)),))])).find(f"{SVG}g[@transform]")
        sign = group[1][1]  # after the panel's outline
        signs[device] = (sign.tag, sign.get("d"), sign.get("stroke-dasharray"))
    assert len(set(signs.values())) == len(signs)


HOSTILE = "<script>alert(1)</script>\"'&\x00\x1b[31m\u202e\ud800\nlong " + "x" * 200


def test_hostile_names_are_text_and_nothing_else():
    things = {HOSTILE: torch.ones(2), "keys": {HOSTILE: torch.ones(3)}}
    shown = picture(HOSTILE, **things)
    svg = shown._repr_html_()
    assert "<script" not in svg
    parsed(svg)  # XML allows neither a NUL nor half a surrogate pair
    svg.encode("utf-8")
    assert len(repr(shown).splitlines()) == 3
    assert all(letter.isprintable() for letter in repr(shown).replace("\n", ""))


def test_what_is_too_long_is_cut_in_its_middle_and_whole_in_a_title():
    name = "a_name_that_" + "goes_on_and_" * 5 + "ends"
    svg = parsed(picture(f"f({name})", **{name: torch.ones(2), "\u540d" * 30: torch.ones(2)})._repr_html_())
    cut = [line for line in svg.iter(f"{SVG}text") if line.find(f"{SVG}title") is not None]
    assert [line.findtext(f"{SVG}title") for line in cut] == [name, "\u540d" * 30, f"f({name})"]
    shown = [line.find(f"{SVG}title").tail for line in cut]
    assert all("\N{HORIZONTAL ELLIPSIS}" in text for text in shown)
    assert shown[0].startswith("a_na")
    assert shown[0].endswith("ends")
    assert max(len(text) for text in shown) < 40


def test_a_verdict_that_is_given_is_shown_instead():
    things = [Thing("x", (Placement("cpu", shape=(1,)),))]
    assert "refused: so" in texts(parsed(drawn("f(x)", things, Verdict("no", "refused: so"))))
    assert told("f(x)", things, Verdict("no", "refused: so")).endswith("f(x): refused: so")
