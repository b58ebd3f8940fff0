"""What is not a device error is not taken for one."""

import re
from pathlib import Path

import pytest

from samedevice import explain

_, *PARTS = re.split(r"^==== (\w+)\n", (Path(__file__).parent / "not_device_errors.txt").read_text("utf-8"), flags=re.M)
TEXTS = list(zip(PARTS[::2], PARTS[1::2], strict=True))


def test_there_are_at_least_a_hundred():
    assert len(set(TEXTS)) == len(TEXTS) >= 100


@pytest.mark.parametrize(("named", "text"), TEXTS, ids=[f"{number} {named}" for number, (named, _) in enumerate(TEXTS)])
def test_it_is_not_taken_for_a_device_error(named, text):
    diagnosis = explain(text)
    assert diagnosis.message is None
    assert diagnosis.causes == ()
    assert (diagnosis.other.id if diagnosis.other else "nothing") == named
    assert diagnosis.says.startswith("This is not a device error." if diagnosis.other else "This text holds no")


def test_a_device_error_among_them_is_found():
    wanted = (
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )
    texts = [text for _, text in TEXTS]
    assert explain("\n".join([*texts[:60], wanted, *texts[60:]])).message.id == "SD050"
