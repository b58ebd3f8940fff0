"""What `timeline` tells of a loop's tensors step by step, as text and as SVG."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest
import torch

from lessons import timeline
from samedevice import simulate_cuda

SVG = "{http://www.w3.org/2000/svg}"
CPU, FIRST, SECOND = torch.device("cpu"), torch.device("cuda:0"), torch.device("cuda:1")


@pytest.fixture(autouse=True)
def gpus():
    with simulate_cuda(devices=2):
        yield


def parsed(shown):
    return ElementTree.fromstring(shown._repr_html_())


def groups(shown, name):
    return [group for group in parsed(shown).findall(f"{SVG}g") if group.get("class") == name]


def cells(shown, name):
    """(x, y) of the cells of a device, by the class of its colour."""
    found = [rect for group in groups(shown, name) for rect in group.findall(f"{SVG}rect") if rect.get("fill-opacity")]
    return [(float(rect.get("x")), float(rect.get("y"))) for rect in found]


def drifted():
    return timeline(total=[FIRST, FIRST, CPU, CPU], loss=[FIRST] * 4)


# What it tells


def test_the_text_has_each_name_its_devices_in_order_and_the_first_step_at_which_two_meet():
    assert repr(drifted()) == (
        "total  cuda:0 in steps 0-1, cpu in steps 2-3\n"  #
        "loss   cuda:0 in steps 0-3\n"
        "step 2: two devices, cpu and cuda:0"
    )


def test_where_nothing_meets_it_says_so():
    assert repr(timeline(x=[CPU, FIRST], y=[CPU, FIRST])).splitlines()[-1] == "each step: one device"


def test_tensors_and_devices_are_the_same_to_it_and_cuda_is_the_current_gpu():
    seen = {"x": [torch.ones(3, device="cuda"), torch.device("cuda"), FIRST], "y": [FIRST] * 3}
    assert repr(timeline(**seen)) == "x  cuda:0 in steps 0-2\ny  cuda:0 in steps 0-2\neach step: one device"


def test_what_is_not_there_yet_meets_nothing_and_a_shorter_list_ends_early():
    shown = timeline(average=[CPU] * 3, model=[None, None, FIRST], batch=[CPU])
    assert repr(shown) == (
        "average  cpu in steps 0-2\n"
        "model    none in steps 0-1, cuda:0 in step 2\n"
        "batch    cpu in step 0, none in steps 1-2\n"
        "step 2: two devices, cpu and cuda:0"
    )


def test_a_single_number_on_the_cpu_may_join_and_its_device_alone_does_not_tell():
    number, vector = torch.tensor(0.0), torch.ones(3, device="cuda")
    assert repr(timeline(n=[number], x=[vector])).endswith("in arithmetic, a single CPU number may join")
    assert repr(timeline(n=[number.device], x=[vector])).endswith("two devices, cpu and cuda:0")


def test_what_is_no_list_of_tensors_is_refused():
    for wrong in ({}, {"x": []}):
        with pytest.raises(TypeError, match=r"timeline\(total=totals, loss=losses\)"):
            timeline(**wrong)
    with pytest.raises(TypeError, match="it got 'str'"):
        timeline(x=["cpu"])


def test_importing_lessons_stays_light():
    code = "import sys, lessons; lessons.timeline; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# The SVG


def test_each_step_has_a_cell_for_each_name_and_the_first_meeting_is_framed():
    shown = drifted()
    on_cpu, on_gpu = cells(shown, "cpu"), cells(shown, "cuda-0")
    assert len({y for _, y in on_cpu + on_gpu}) == 2
    assert (len(on_cpu), len(on_gpu)) == (2, 6)
    frame = groups(shown, "error")[0].find(f"{SVG}rect")
    left = float(frame.get("x"))
    framed = {x for x, _ in on_cpu + on_gpu if left <= x < left + float(frame.get("width"))}
    assert framed == {min(x for x, _ in on_cpu)}
    assert not groups(timeline(x=[CPU]), "error")


def test_a_device_has_a_shape_and_a_label_beside_its_colour():
    shown = timeline(x=[CPU, FIRST, SECOND, torch.device("meta")])
    signs = {}
    for name in ("cpu", "cuda-0", "cuda-1", "ink"):
        for group in groups(shown, name):
            label = group.findtext(f"{SVG}text", "").strip()
            if label in ("cpu", "cuda:0", "cuda:1", "meta"):
                signs[label] = re.sub(r"M[\d. ]+", "", group[0].get("d", group[0].tag)) + group[0].get("fill", "")
    assert len(signs) == len(set(signs.values())) == 4


def test_a_screen_reader_gets_the_text():
    shown = drifted()
    svg = parsed(shown)
    assert svg.get("role") == "img"
    assert svg.findtext(f"{SVG}title") == repr(shown).splitlines()[-1]
    assert svg.findtext(f"{SVG}desc") == repr(shown).replace("\n", ". ") + "."


def test_it_is_drawn_as_the_placement_pictures_are_so_that_the_site_recolours_it():
    svg = parsed(drifted())
    assert svg.get("class") == "placement"
    assert svg.get("viewBox").startswith("0 0 360 ")
    attributes = {name for element in svg.iter() for name in element.attrib}
    assert not attributes & {"style", "id", "href"}
    assert drifted()._repr_html_() == drifted()._repr_html_()


@pytest.mark.parametrize("met", [3, 40, 99])
def test_of_many_steps_those_around_the_meeting_are_shown_and_signs_do_not_touch(met):
    shown = timeline(**{"a_long_name_that_is_cut": [FIRST] * met + [CPU] * (100 - met), "loss": [FIRST] * 100})
    xs = sorted({x for x, _ in cells(shown, "cpu") + cells(shown, "cuda-0")})
    assert len(xs) == 10
    assert min(after - before for before, after in pairwise(xs)) > 20
    numbers = [line.text.strip() for line in parsed(shown).iter(f"{SVG}text") if line.get("text-anchor") == "middle"]
    assert str(met) in numbers


def test_hostile_names_are_text():
    shown = timeline(**{"<script>\x00\u202e": [CPU], "&\"'": [FIRST]})
    assert "<script" not in shown._repr_html_()
    parsed(shown)
