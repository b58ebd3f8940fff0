"""What `schedule` tells of a copy and of the line that reads or overwrites it, as text and as SVG."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from lessons import schedule

SVG = "{http://www.w3.org/2000/svg}"


def parsed(shown):
    return ElementTree.fromstring(shown._repr_html_())


def groups(shown, name):
    return [group for group in parsed(shown).findall(f"{SVG}g") if group.get("class") == name]


def too_early():
    return schedule("copy.mean()", cpu=["to()", "read", ""], gpu=["busy", "busy", "copy"])


def in_time():
    return schedule("x.cpu().mean()", cpu=["cpu()", "wait", "wait", "read"], gpu=["busy", "copy", "copy"])


def test_the_text_has_what_each_does_when_and_whether_the_copy_was_done():
    assert repr(too_early()) == (
        "CPU  to() at 0, read at 1\n"  #
        "GPU  busy at 0-1, copy at 2\n"
        "copy.mean(): the CPU reads before the copy is done"
    )
    assert repr(in_time()) == (
        "CPU  cpu() at 0, wait at 1-2, read at 3\n"
        "GPU  busy at 0, copy at 1-2\n"
        "x.cpu().mean(): the CPU reads after the copy is done"
    )


@pytest.mark.parametrize(("gpu", "order"), [(["busy", "copy"], "before"), (["copy", "busy"], "after")])
def test_at_the_same_moment_is_too_early_and_writing_is_judged_as_reading(gpu, order):
    shown = schedule("x.zero_()", cpu=["to()", "write"], gpu=gpu)
    assert repr(shown).endswith(f"x.zero_(): the CPU writes {order} the copy is done")


def test_what_has_nothing_to_judge_is_refused():
    for cpu, gpu in ((["to()"], ["copy"]), (["read"], ["busy"]), ([], [])):
        with pytest.raises(ValueError, match='"read" or a "write"'):
            schedule("x", cpu=cpu, gpu=gpu)


def test_importing_it_stays_light():
    code = "import sys, lessons; lessons.schedule; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_early_moment_is_framed_and_no_other():
    frame = groups(too_early(), "error")[0].find(f"{SVG}rect")
    left, right = float(frame.get("x")), float(frame.get("x")) + float(frame.get("width"))
    boxes = [group.find(f"{SVG}rect") for group in groups(too_early(), "cpu")]
    assert [left <= float(box.get("x")) < right for box in boxes] == [False, True]
    assert not groups(in_time(), "error")


def test_each_thing_is_one_box_as_long_as_it_takes_and_waiting_is_hollow():
    calls, wait, read = [group.find(f"{SVG}rect") for group in groups(in_time(), "cpu")]
    assert float(wait.get("width")) > 1.9 * float(calls.get("width"))
    assert wait.get("stroke-dasharray")
    assert not read.get("stroke-dasharray")
    words = [text.text.strip() for text in parsed(in_time()).iter(f"{SVG}text")]
    assert words[:7] == ["time", "CPU", "cpu()", "wait", "read", "GPU", "busy"]


def test_a_screen_reader_gets_the_text_and_the_site_recolours_it():
    svg = parsed(too_early())
    assert svg.get("role") == "img"
    assert svg.get("class") == "placement"
    assert svg.findtext(f"{SVG}title") == repr(too_early()).splitlines()[-1]
    assert svg.findtext(f"{SVG}desc") == repr(too_early()).replace("\n", ". ") + "."
    assert not {name for element in svg.iter() for name in element.attrib} & {"style", "id", "href"}


def test_hostile_words_are_text():
    shown = schedule("<script>\x00", cpu=["<b>", "read"], gpu=["copy"])
    assert "<script" not in shown._repr_html_()
    parsed(shown)
