"""What `steps` runs and tells: a program's lines, and after each of them the device of every tensor."""

import re
import subprocess
import sys
from copy import deepcopy

import pytest
import torch
from bs4 import BeautifulSoup
from torch import nn

from lessons import steps
from samedevice import simulate_cuda


@pytest.fixture(autouse=True)
def gpus():
    with simulate_cuda(devices=2):
        yield


def told(program, **given):
    return [re.split(r"\s{2,}", line)[1] for line in repr(steps(program, **given)).splitlines()]


def page(shown):
    return BeautifulSoup(shown._repr_html_(), "html.parser")


FORGOTTEN = 'model.to("cuda")\nbatch.to("cuda")\nmodel(batch)\nprint("never")'


def forgotten():
    return steps(FORGOTTEN, model=nn.Linear(3, 1), batch=torch.ones(4, 3))


# What it tells


def test_text_has_each_line_and_what_it_changed_up_to_the_one_that_fails():
    assert repr(forgotten()) == (
        '1. model.to("cuda")  model: cpu to cuda:0\n'
        '2. batch.to("cuda")  a copy on cuda:0, which nobody keeps\n'
        "3. model(batch)      fails: two devices, cpu and cuda:0"
    )


def test_a_new_name_a_move_and_a_line_that_moves_nothing():
    x = torch.ones(2)
    assert told('y = x.cuda()\nx = x.to("cuda:1")\nz = len(x)', x=x) == [
        "y is on cuda:0",
        "x now names another tensor, on cuda:1",
        "nothing moved",
    ]


def test_a_name_given_to_another_thing_is_told_apart_from_what_moves_and_keeps_its_name():
    model, xs = nn.Linear(2, 2, bias=False), [torch.ones(1)]
    assert told("model = model.cuda()\nmodel = copy(model).cpu()", model=model, copy=deepcopy) == [
        "model: cpu to cuda:0",
        "model now names another module, on cpu",
    ]
    assert told("weight = model.weight\nmodel.cuda()", model=nn.Linear(2, 2, bias=False))[1] == (
        "model: cpu to cuda:0, weight: cpu to cuda:0"
    )
    assert told("xs[0] = xs[0].cuda()\nxs = [x.cpu() for x in xs]", xs=xs) == [
        "xs: cpu to cuda:0",
        "xs now names another list, on cpu",
    ]


def test_what_a_line_returns_and_a_name_holds_already_is_no_copy():
    model = nn.Linear(2, 2)
    assert told("model.cuda()\nmodel.weight.data", model=model)[0] == "model: cpu to cuda:0"
    assert told("x.add_(1)\nx", x=torch.ones(1)) == ["nothing moved"] * 2


def test_an_error_that_is_not_about_two_devices_is_told_in_pytorchs_words():
    (failed,) = told("x.view(5)", x=torch.ones(4))
    assert failed == "fails: shape '[5]' is invalid for input of size 4"


def test_a_list_and_a_dict_of_tensors_are_drawn_and_other_names_are_not():
    shown = steps("n = 1\nxs.append(xs[0].cuda())", xs=[torch.ones(1)])
    assert repr(shown).splitlines()[1].endswith("xs: cpu to cpu and cuda:0")
    assert "n" not in [thing.name for thing in shown._steps[0].things]


def test_lines_really_run():
    model = nn.Linear(1, 1)
    steps("model.cuda()", model=model)
    assert model.weight.device == torch.device("cuda:0")


@pytest.mark.parametrize("program", ["", "\n", "# nothing"])
def test_without_a_line_it_says_how_it_is_called(program):
    with pytest.raises(TypeError, match="steps takes a program, as in steps"):
        steps(program)


# What it draws


def test_one_step_is_on_and_the_buttons_lead_to_the_next_and_back():
    soup = page(forgotten())
    buttons = soup.select("input[type=radio]")
    assert [button["aria-label"] for button in buttons] == [
        'Step 1 of 3: model.to("cuda")',
        'Step 2 of 3: batch.to("cuda")',
        "Step 3 of 3: model(batch)",
    ]
    assert [button.has_attr("checked") for button in buttons] == [True, False, False]
    assert len({button["name"] for button in buttons}) == 1
    ways = [
        [(label.get_text(), label["for"]) for label in step.select("label")] for step in soup.select(".steps > div")
    ]
    ids = [button["id"] for button in buttons]
    assert ways == [[("Next", ids[1])], [("Back", ids[0]), ("Next", ids[2])], [("Back", ids[1])]]


def test_each_step_marks_its_line_and_draws_where_everything_is():
    shown = page(forgotten()).select(".steps > div")
    assert [step.pre.b.get_text() for step in shown] == FORGOTTEN.splitlines()[:3]
    assert [step.svg.title.get_text() for step in shown][2] == "model(batch): fails: two devices, cpu and cuda:0"
    assert "a copy" in shown[1].svg.get_text() and "nobody keeps it" in shown[1].svg.get_text()
    assert shown[2].select(".error") and not shown[1].select(".error")


def test_two_programs_of_a_page_do_not_share_their_buttons_and_code_is_no_html():
    first, second = page(forgotten()), page(steps("x < 2", x=torch.ones(1)))
    assert first.input["name"] != second.input["name"]
    assert second.pre.get_text() == "x < 2"


def test_it_is_as_light_as_the_rest_of_lessons():
    program = "import sys, lessons; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_what_a_sum_makes_and_nobody_keeps_is_a_result_and_no_copy():
    told = repr(steps('x + 1\nx.to("meta")', x=torch.ones(3)))
    assert "a result on cpu, which nobody keeps" in told
    assert "a copy on meta, which nobody keeps" in told
