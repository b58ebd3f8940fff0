"""What names the tensor for certain is a command that fits: a cell of a notebook, a script or tests."""

import pytest

from samedevice import explain
from samedevice.catalog import load

MESSAGE = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, {} and cpu!"


def commands(*frames, device="cuda:0"):
    shown = "".join(f'  File "{file}", line 3, in {function}\n    y = f(x)\n' for file, function in frames)
    return [way.command for way in explain(f"Traceback (most recent call last):\n{shown}{MESSAGE.format(device)}").ways]


def started(script):
    return [f"samedevice run --gpus real {script}", f"samedevice run {script}", f"samedevice fix {script}"]


@pytest.mark.parametrize(
    "frame",
    [
        "Cell In[2], line 4\n      3 x = 1\n----> 4 y = f(x)\n",
        "<ipython-input-3-6344c9> in <module>\n----> 1 f(x)\n",
        "/home/me/a.ipynb Cell 3 line 1\n----> 1 f(x)\n",
        'File "/tmp/ipykernel_123/456.py", line 1, in <module>\n    f(x)\n',
        "Cell In[2], line 4\n----> 4 y = f(x)\n\nFile ~/a/net.py:12, in f(n)\n---> 12 y = f(x)\n",
    ],
)
def test_in_a_notebook_it_is_the_next_cell(frame):
    (way,) = explain(frame + MESSAGE.format("cuda:0")).ways
    assert (way.when, way.command) == (
        "In the next cell of the notebook",
        "from samedevice import explain; explain()",
    )


@pytest.mark.parametrize(
    ("frames", "script"),
    [
        ([("/srv/study/train.py", "<module>"), ("/srv/study/net.py", "forward")], "/srv/study/train.py"),
        ([("/usr/lib/python3.12/runpy.py", "_run"), ("~/a/обучение.py", "main")], "~/a/обучение.py"),
        ([("D:\\study\\resume.py", "<module>")], "D:/study/resume.py"),
        ([("/usr/local/bin/launch", "<module>"), ("train.py", "main")], "train.py"),
        ([("C:/Users/Jane Doe/train.py", "<module>")], "train.py"),
        ([("/a/net.py", "forward")], "SCRIPT.py"),
        ([("<stdin>", "<module>")], "SCRIPT.py"),
        ([], "SCRIPT.py"),
    ],
)
def test_a_script_is_started_by_the_path_that_its_traceback_shows(frames, script):
    assert commands(*frames) == started(script)


@pytest.mark.parametrize(
    "name", ["$(id).py", "a;id;.py", "-rf.py", "a\u202eb.py", "a`id`.py", "~/x y/a|b.py", "a&b.py"]
)
def test_a_name_that_a_shell_would_run_is_never_part_of_a_command(name):
    assert commands((name, "main")) == started("SCRIPT.py")


@pytest.mark.parametrize("file", ["tests/test_net.py", "C:\\a\\net_test.py", "conftest.py"])
def test_tests_are_run_as_tests(file):
    assert commands((file, "test_a"), ("net.py", "forward")) == ["pytest --simulate-cuda 1", "samedevice fix --pytest"]


def test_as_many_gpus_are_simulated_as_the_message_names():
    frame = ("train.py", "<module>")
    assert commands(frame, device="cuda:3")[1:] == [
        "samedevice run --gpus 4 train.py",
        "samedevice fix --gpus 4 train.py",
    ]
    assert commands(frame, device="cuda:16")[1] == "samedevice run train.py"
    assert commands(("test_a.py", "test_a"), device="cuda:1")[0] == "pytest --simulate-cuda 2"


def test_another_accelerator_is_not_simulated():
    assert commands(("train.py", "main"), device="mps:0") == ["samedevice run --gpus real train.py"]
    assert commands(("test_a.py", "test_a"), device="npu:0") == []


def test_of_an_installation_the_frames_say_nothing():
    shown = {message.id: explain(message.texts[0]["text"]) for message in load().messages.values()}
    without = {id_ for id_, diagnosis in shown.items() if not diagnosis.ways}
    assert {"SD065", "SD066", "SD067", "SD068", "SD070", "SD095", "SD122", "SD123"} <= without
    assert not without & {"SD001", "SD002", "SD020", "SD030", "SD050", "SD055", "SD080", "SD128"}
    assert not any(diagnosis.ways for diagnosis in shown.values() if diagnosis.causes[0].cause.commands)


def test_of_an_exception_that_is_at_hand_nothing_has_to_be_run():
    assert explain(RuntimeError(MESSAGE.format("cuda:0"))).ways == ()
