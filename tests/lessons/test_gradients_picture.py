"""What `gradients` tells of the ranks' gradients, as text and as SVG."""

import copy
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from torch import nn

from lessons import gradients

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def net():
    return nn.ModuleDict({"body": nn.Linear(2, 2), "garden": nn.Linear(1, 2)})


@pytest.fixture
def ranks(net):
    """Copies of it: rank 0 used both layers, rank 1 only the first."""
    first, second = copy.deepcopy(net), copy.deepcopy(net)
    (first["body"](torch.ones(1, 2)) + first["garden"](torch.ones(1, 1))).sum().backward()
    second["body"](torch.ones(1, 2)).sum().backward()
    return first, second


def labels(shown, name):
    groups = ElementTree.fromstring(shown._repr_html_()).findall(f"{SVG}g")
    return [text.text.strip() for group in groups if group.get("class") == name for text in group.findall(f"{SVG}text")]


def test_the_text_has_a_line_for_each_parameter_and_says_which_rank_has_fewer(ranks):
    assert repr(gradients(*ranks)).splitlines() == [
        "               rank 0    rank 1",
        "body.weight    gradient  gradient",
        "body.bias      gradient  gradient",
        "garden.weight  gradient  none",
        "garden.bias    gradient  none",
        "all-reduce: no gradient on rank 1: garden.weight and garden.bias",
    ]


def test_ranks_that_lack_the_same_gradient_have_the_same_gradients(ranks):
    first, second = ranks
    first["garden"].zero_grad()
    assert repr(gradients(first, second)).endswith("all-reduce: all ranks have the same gradients")


def test_each_of_two_ranks_may_have_fewer(ranks):
    first, second = ranks
    first["body"].bias.grad = None
    assert repr(gradients(first, second)).endswith(
        "no gradient on rank 0 and rank 1: body.bias, garden.weight and garden.bias"
    )


def test_what_is_frozen_is_left_out(ranks):
    for rank in ranks:
        rank["garden"].requires_grad_(False)
    assert "garden" not in repr(gradients(*ranks))


def test_it_is_drawn_as_the_placement_pictures_are(ranks):
    shown = gradients(*ranks)
    svg = ElementTree.fromstring(shown._repr_html_())
    assert (svg.get("class"), svg.get("role")) == ("placement", "img")
    assert svg.findtext(f"{SVG}title") == repr(shown).splitlines()[-1]
    assert svg.findtext(f"{SVG}desc") == repr(shown).replace("\n", ". ") + "."
    assert not {name for element in svg.iter() for name in element.attrib} & {"style", "id", "href"}
    assert labels(shown, "error").count("none") == 2
    assert labels(shown, "ink").count("gradient") == 6


def test_what_is_no_module_and_no_copy_is_refused(net):
    with pytest.raises(TypeError, match=r"gradients\(rank_0, rank_1\)"):
        gradients()
    with pytest.raises(TypeError, match=r"gradients\(rank_0, rank_1\)"):
        gradients(net.requires_grad_(False))
    with pytest.raises(ValueError, match="different parameters"):
        gradients(nn.Linear(1, 1), nn.Linear(1, 1, bias=False))
