"""The tensor in the wrong place, and the line to change, read from the failing line of a pasted traceback."""

import tomllib
from pathlib import Path

import pytest

from samedevice import explain

FILE = tomllib.loads((Path(__file__).parent / "failing_lines.toml").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in FILE["case"]}
FRAME = 'Traceback (most recent call last):\n  File "/home/me/train.py", line 12, in step\n'


def paste(case):
    lines = case["line"].strip("\n").split("\n")
    return FRAME + "".join(f"    {line}\n" for line in lines) + FILE["messages"][case["message"]]


def said(diagnosis):
    """What a case says: the expression, the cause and the change of the first culprit."""
    (culprit,) = diagnosis.culprits
    (edit,) = culprit.edits
    assert edit.file == "/home/me/train.py"
    assert edit.line == 12
    return culprit.expression, culprit.case or culprit.cause, f"{'above: ' * (edit.action == 'before')}{edit.text}"


@pytest.mark.parametrize("name", CASES)
def test_a_failing_line_is_read(name):
    case = CASES[name]
    diagnosis = explain(paste(case))
    expression, cause, fix = said(diagnosis)
    assert diagnosis.causes[0].id == case["cause"]
    assert (expression, cause) == (case["expression"], case["cause"])
    assert fix == case.get("fix", fix).strip("\n")


def test_what_python_underlines_is_what_failed():
    line = "loss = F.mse_loss(out + self.bias, target - torch.zeros(3))"
    marked = " " * 35 + "~~~~~~~^~~~~~~~~~~~~~~"
    text = f"{FRAME}    {line}\n    {marked}\n{FILE['messages']['two']}"
    assert explain(text).culprits[0].expression == "torch.zeros(3)"
    marked = " " * 18 + "~~~~^~~~~~~~~~~"
    text = f"{FRAME}    {line}\n    {marked}\n{FILE['messages']['two']}"
    assert explain(text).culprits[0].expression == "self.bias"


def test_a_model_is_moved_where_the_program_has_it():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 72, in <module>\n    y = net.forward(x)\n'
        '  File "/home/me/networks/vgg.py", line 61, in forward\n    x = self.stages[0](x)\n'
        + FILE["messages"]["input-and-weight"]
    )
    (culprit,) = explain(text).culprits
    (edit,) = culprit.edits
    assert (edit.file, edit.line, edit.action, edit.text) == ("train.py", 72, "before", "net.to(x.device)")


def test_a_batch_is_moved_where_the_program_has_it():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 72, in <module>\n    y = net(images)\n'
        '  File "/home/me/networks/vgg.py", line 61, in forward\n    x = self.first(x)\n' + FILE["messages"]["mat1"]
    )
    (culprit,) = explain(text).culprits
    assert (culprit.expression, culprit.edits[0].line) == ("images", 72)


def test_the_device_that_the_program_names_is_used():
    text = FRAME + "    x = torch.rand(3) + y.to(device)\n" + FILE["messages"]["two"]
    assert explain(text).culprits[0].fix == "x = torch.rand(3, device=device) + y.to(device)"


def test_a_line_of_code_in_a_report_without_a_traceback_is_read():
    text = f"I get this:\n\n> factor = torch.sqrt(self.betas[t]) * x\n> {FILE['messages']['indices']}"
    (culprit,) = explain(text).culprits
    assert culprit.expression == "self.betas"
    assert culprit.fix == "factor = torch.sqrt(self.betas.to(t.device)[t]) * x"


def test_two_names_alone_accuse_nobody():
    assert explain(FRAME + "    return a + b\n" + FILE["messages"]["two"]).culprits == ()


LIBRARY = """Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    out = aug(images)
  File "/usr/lib/python3.10/site-packages/kornia/enhance/adjust.py", line 300, in solarize
    input = input + torch.zeros(3)
"""


def test_what_a_library_creates_itself_is_its_own_fault():
    diagnosis = explain(LIBRARY + FILE["messages"]["two"])
    assert diagnosis.causes[0].id == "library_bug"
    assert any("kornia" in reason for reason in diagnosis.causes[0].because)


@pytest.mark.parametrize(
    ("code", "not_first"),
    [
        ("    optimizer.step(closure)\n", "optimizer_state_device"),  # the closure's frames are below
        ("    parameter = parameter + self.delta\n", "metric_or_accumulator_state"),  # "meter"
        ("    x = attention_mask + self.get_input_embeddings(y)\n", "input_not_moved"),
        ("    x = x.to(target_device) + noise\n", "target_not_moved"),
    ],
)
def test_a_word_inside_another_is_no_clue(code, not_first):
    closure = '  File "/home/me/train.py", line 5, in closure\n    loss = net(x) * scale\n' if "closure" in code else ""
    text = FRAME + code + closure + FILE["messages"]["two"]
    assert explain(text).causes[0].id != not_first


def test_nothing_is_said_to_be_created_on_the_cpu_between_two_gpus():
    text = FRAME + "    x = a + torch.zeros(3)\n" + FILE["messages"]["two"].replace("cpu!", "cuda:1!")
    assert not {"tensor_created_in_forward_without_device", "input_not_moved"} & {c.id for c in explain(text).causes}


@pytest.mark.parametrize(
    "code",
    [
        "x = (" + "a if " * 80 + ")",  # each without an else
        "x = (" + "-" * 390 + "(\n    " + "-" * 390 + "(\n    " + "not " * 95 + "a",
        "x = (a" + ".T" * 190 + ",\n    a" + "+a" * 190 + ",\n    a" + "()" * 190 + "[",
        "x = (" + "lambda:" * 50 + "(\n    " + "(" * 390,
    ],
)
def test_a_line_that_is_deep_or_long_is_read_all_the_same(code):
    assert explain(f"{FRAME}    {code}\n{FILE['messages']['two']}").message.id == "SD002"
