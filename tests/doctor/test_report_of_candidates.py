"""How alternatives are shown: named in one sentence, with a line that tells which it is and a change for each."""

from dataclasses import replace

import pytest
from tests.doctor.test_golden import Tags, as_rich

from samedevice import explain
from samedevice.doctor.annotations import as_annotations
from samedevice.doctor.diagnosis import Culprit
from samedevice.doctor.diagnosis_json import as_data
from samedevice.doctor.edits import Edit
from samedevice.doctor.text.tell import tell

LINE = "loss = F.mse_loss(pred, target)"
TEXT = f"""Traceback (most recent call last):
  File "train.py", line 31, in <module>
    step(batch)
  File "train.py", line 12, in step
    {LINE}
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"""


def candidate(expression, cause, new, *, action="replace", device="cpu", instead=""):
    edit = Edit("train.py", 12, action, new, "step", LINE)
    sentence = f"`{expression}` is passed to the loss."
    return Culprit(expression, device, cause, new, sentence=sentence, edits=(edit,), is_read=True, instead=instead)


PRED = candidate("pred", "input_not_moved", "loss = F.mse_loss(pred.to(target.device), target)")
TARGET = candidate("target", "target_not_moved", "target = target.to(pred.device)", action="before")


def of(*culprits):
    """Return the diagnosis of TEXT with these culprits, as if they had been read from its line."""
    return replace(explain(TEXT), culprits=culprits, tell=tell(culprits))


def test_two_alternatives_are_one_sentence_a_line_that_tells_and_a_change_each():
    assert (
        str(of(PRED, TARGET))
        == """\
train.py, line 12, in step
    loss = F.mse_loss(pred, target)
                      ^^^^  ^^^^^^

An operation such as `a + b` got one tensor on cuda:0 and one on cpu.

One of `pred` and `target` is on the CPU. This line, above the one that failed, tells
which:
    print(pred.device, target.device)

If it is `pred`:
    your line 12 of train.py, in step:
    - loss = F.mse_loss(pred, target)
    + loss = F.mse_loss(pred.to(target.device), target)
If it is `target`:
    above your line 12 of train.py, in step:
    + target = target.to(pred.device)

To be sure, let samedevice look into the program itself:
    On the machine with the GPU: samedevice run --gpus real train.py
    Without a GPU: samedevice run train.py
    All fixes as one diff: samedevice fix train.py
More: samedevice explain SD002
"""
    )


def test_the_sentence_names_three_and_knows_where_they_are():
    scale = candidate("self.scale", "unregistered_tensor_attribute", "...", device="", instead="self.x = 1\nself.y = 2")
    shown = " ".join(str(of(PRED, TARGET, scale)).split())
    assert "One of `pred`, `target` and `self.scale` is on the wrong device. This line" in shown
    assert shown.count("or, once and for all, in the __init__ of a module: + self.x = 1 + self.y = 2") == 1


def test_alternatives_are_told_from_culprits_that_were_looked_up():
    looked_up = tuple(replace(each, is_read=False) for each in (PRED, TARGET))
    assert of(PRED, TARGET).candidates == (PRED, TARGET)
    assert [of(*culprits).is_certain for culprits in ((), (PRED,), (PRED, TARGET), looked_up)] == [0, 1, 0, 1]
    assert of(*looked_up).candidates == ()
    assert "One of" not in str(of(*looked_up))
    assert str(of(*looked_up)).count("line 12 of train.py") == 2


def test_why_each_could_be_is_in_the_whole_text_and_no_example_stands_beside_own_lines():
    diagnosis = of(PRED, TARGET)
    whole = " ".join(diagnosis.more.split())
    for cause in ("The batch stayed on the CPU", "The labels stayed on the CPU"):
        assert cause in whole
        assert cause not in str(diagnosis)
    assert "If it is `target`: The labels stayed on the CPU" in whole
    for shown in (whole, diagnosis._repr_html_(), of(PRED).more, of(PRED)._repr_html_()):
        assert "example" not in shown


def test_without_a_culprit_the_likely_causes_are_a_line_each_and_the_example_is_folded():
    shown = explain(TEXT.splitlines()[-1])
    assert shown.culprits == ()
    assert str(shown).count("\nOr: ") == 2
    assert not any(sign in str(shown) for sign in ("\n    + ", "\n    - ", "example"))
    assert "    An example:\n" in shown.more
    html = shown._repr_html_()
    assert html.index("<details>") < html.index("An example:") < html.index("</details>")


def test_a_message_that_is_about_one_thing_shows_its_remedy_as_an_example():
    diagnosis = explain("TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")
    assert "Most likely: NumPy got a tensor on the GPU" in str(diagnosis)
    assert ".cpu()" in str(diagnosis).split("An example:")[1]


def test_what_one_change_moves_is_named_together():
    line = "return x * self.mean + self.std"
    edit = Edit("train.py", 12, "replace", line.replace("n +", "n.to(x.device) +"), "step", line)
    mean, std = (
        replace(candidate(name, "unregistered_tensor_attribute", "", instead="self.x = 1"), edits=(edit,))
        for name in ("self.mean", "self.std")
    )
    shown = str(of(mean, PRED, std))
    assert "One of `self.mean`, `pred` and `self.std` is on the CPU." in shown
    assert shown.count("If it is `self.mean` or `self.std`:\n") == 1
    assert shown.count("If it is `pred`:\n") == 1
    assert shown.count("self.mean.to(x.device)") == 1
    assert "`self.mean` is passed to the loss. `self.std` is passed" in " ".join(of(mean, PRED, std).more.split())


@pytest.mark.parametrize("hostile", ["x`]", "</code><script>", "a\n   [0]"])
def test_an_expression_stays_text_wherever_it_is_shown(hostile):
    diagnosis = of(candidate(hostile, "input_not_moved", hostile), TARGET)
    tags = Tags(diagnosis._repr_html_())
    assert "script" not in tags.tags
    assert tags.open == []
    assert "None" not in str(diagnosis) + diagnosis.more + as_rich(diagnosis) + diagnosis._repr_html_()
    assert "\n   [0]" not in str(diagnosis).split("One of")[1].split("print")[0]


def test_machines_are_told_that_one_of_them_is_it_and_how_to_know():
    data = as_data(of(PRED, TARGET))
    assert data["certain"] is False
    assert data["tell"] == "print(pred.device, target.device)"
    assert data["ways"][1] == {"when": "Without a GPU", "command": "samedevice run train.py"}
    assert as_data(of(PRED))["certain"] is True


def test_alternatives_are_one_annotation_on_the_line_that_failed():
    (line,) = as_annotations(of(PRED, TARGET)).splitlines()
    assert line.startswith("::error file=train.py,line=12,title=SD002%3A ")
    said = line.replace("%0A", "\n")
    assert "One of `pred` and `target` is on the CPU. This line" in said
    assert "\nprint(pred.device, target.device)\nIf it is `pred`:\n" in said
    assert "\n+ target = target.to(pred.device)\nMore: " in said
    assert len(as_annotations(of(PRED)).splitlines()) == 1
