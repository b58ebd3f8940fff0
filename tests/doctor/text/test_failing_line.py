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
    culprit = diagnosis.culprits[0]
    (edit,) = culprit.edits
    assert edit.file == "/home/me/train.py"
    lines = diagnosis.place.code.split("\n")
    assert edit.old in ("", lines[edit.line - 12].strip())
    return culprit.expression, culprit.case or culprit.cause, f"{'above: ' * (edit.action == 'before')}{culprit.fix}"


@pytest.mark.parametrize("name", CASES)
def test_a_failing_line_is_read(name):
    case = CASES[name]
    diagnosis = explain(paste(case))
    expression, cause, fix = said(diagnosis)
    assert diagnosis.causes[0].id == case["cause"]
    assert (expression, cause) == (case["expression"], case["cause"])
    assert fix == case.get("fix", fix).strip("\n")
    assert [culprit.expression for culprit in diagnosis.culprits[1:]] == case.get("or", [])


def test_what_python_underlines_is_what_failed():
    line = "loss = F.mse_loss(out + self.bias, target - torch.zeros(3))"
    marked = " " * 35 + "~~~~~~~^~~~~~~~~~~~~~~"
    text = f"{FRAME}    {line}\n    {marked}\n{FILE['messages']['two']}"
    assert explain(text).culprits[0].expression == "torch.zeros(3)"
    marked = " " * 18 + "~~~~^~~~~~~~~~~"
    text = f"{FRAME}    {line}\n    {marked}\n{FILE['messages']['two']}"
    assert [culprit.expression for culprit in explain(text).culprits] == ["self.bias", "out"]


def test_a_model_is_moved_where_the_program_has_it():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 72, in <module>\n    y = net.forward(x)\n'
        '  File "/home/me/networks/vgg.py", line 61, in forward\n    x = self.stages[0](x)\n'
        + FILE["messages"]["input-and-weight"]
    )
    (culprit,) = explain(text).culprits
    (edit,) = culprit.edits
    assert (edit.file, edit.line, edit.text) == ("/home/me/networks/vgg.py", 61, "self.stages[0].to(x.device)")
    (culprit,) = explain(text.replace("self.stages[0]", "self.first")).culprits
    (edit,) = culprit.edits
    assert (edit.file, edit.line, edit.action, edit.text) == ("train.py", 72, "before", 'net.to("cuda")')


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


def test_of_two_names_either_may_be_it():
    diagnosis = explain(FRAME + "    return a + b\n" + FILE["messages"]["two"])
    assert [(culprit.expression, culprit.fix) for culprit in diagnosis.culprits] == [
        ("a", "return a.to(b.device) + b"),
        ("b", "return a + b.to(a.device)"),
    ]


def test_of_five_names_none_is_named():
    assert explain(FRAME + "    return a + b * c + e * f\n" + FILE["messages"]["two"]).culprits == ()


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


def test_the_check_names_what_the_line_has():
    text = f"{FRAME}    logits = model(batch['image'])\n{FILE['messages']['mat1']}"
    assert "Check: Print `batch['image'].device` just before that line." in str(explain(text))
    long = "first(" + "a, " * 30 + "b)"
    text = f"{FRAME}    logits = model({long}[0])\n{FILE['messages']['mat1']}"
    assert f"`{long}" not in str(explain(text)).partition("Check:")[2]


@pytest.mark.parametrize(
    "code",
    [
        "x = torch.randn(3, 2).cuda()",
        "x = torch.zeros(3, device=device)",
        "x = torch.arange(3).to(device)",
    ],
)
def test_a_tensor_that_is_created_and_moved_is_no_clue(code):
    said = str(explain(f"{code}\nout = mix(x, y)\n{FILE['messages']['two']}"))
    assert "creates a tensor" not in said


def test_a_model_that_is_moved_without_keeping_the_result_is_no_clue():
    assert "does not keep" in explain(f"x = load()\nx.to(device)\n\n{FILE['messages']['two']}").more
    assert "does not keep" not in explain(f"x = load()\nmodel.to(device)\n\n{FILE['messages']['two']}").more


def test_a_class_is_no_layer():
    text = f"resample = Resample(16000, 8000)\ny = resample(x)\n{FILE['messages']['input-and-weight']}"
    assert [culprit.fix for culprit in explain(text).culprits] == ["resample.to(x.device)"]
    text = f"{FRAME}    fake = G(noise)\n{FILE['messages']['input-and-weight']}"
    assert [culprit.fix for culprit in explain(text).culprits] == ["G.to(noise.device)"]


def test_a_library_line_is_not_called_yours():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    out = blur(x)\n'
        '  File "/usr/lib/python3/dist-packages/kornia/filters.py", line 9, in blur\n'
        f"    return x * torch.ones(3)\n{FILE['messages']['two']}"
    )
    said = " ".join(explain(text).more.split())
    assert "The line that failed is kornia's own" in said
    assert "your line 9" not in said


def test_a_gradient_of_a_hand_written_function_is_its_own():
    text = "Function SquareBackward returned an invalid gradient at index 0 - expected device cuda:0 but got cpu"
    assert explain(text).causes[0].case == "autograd_function_on_cpu"
    text = text.replace("SquareBackward", "MulBackward0")
    assert explain(text).causes[0].id == "tensor_created_in_forward_without_device"


def test_of_one_process_of_many_the_number_of_processes_is_told():
    text = "RuntimeError: CUDA error: invalid device ordinal"
    assert explain(text).causes[0].case == ""
    line = "    torch.cuda.set_device(args.local_rank)"
    first = explain(f'  File "train.py", line 3, in main\n{line}\n{text}').causes[0]
    assert first.case == "more_processes_than_gpus"
    assert "--nproc_per_node=2" in first.fix


@pytest.mark.parametrize(
    ("name", "instead"), [("mask", 'self.register_buffer("mask", ..., persistent=False)'), ("rel_bias", "")]
)
def test_what_a_module_learns_is_no_buffer(name, instead):
    (culprit,) = explain(f"{FRAME}    out = self.{name}[i]\n{FILE['messages']['indices']}").culprits
    assert culprit.instead == instead


def test_a_function_is_no_layer_and_the_model_it_is_given_is_moved():
    message = FILE["messages"]["old-index"].replace(
        "argument index in method wrapper_CUDA__index_select",
        "argument running_mean in method wrapper__cudnn_batch_norm",
    )
    (culprit,) = explain(f"{FRAME}    scores = get_scores(net, images.to(device))\n{message}").culprits
    assert culprit.expression == "net"
    assert (culprit.edits[0].action, culprit.fix) == ("before", "net.to(device)")
    assert culprit.sentence == ""


def test_a_reason_that_another_begins_with_is_said_once():
    diagnosis = explain(FILE["messages"]["target"])
    assert [text.count("`target` holds") for text in diagnosis.causes[0].because] == [1]


def test_the_exporters_own_mix_is_a_case_of_the_library():
    frame = '  File "/x/site-packages/torch/onnx/utils.py", line 5, in _model_to_graph'
    first = explain(f"{frame}\n    _C._jit_pass_onnx_constant_fold(\n{FILE['messages']['index']}").causes[0]
    assert (first.id, first.case) == ("library_bug", "onnx_constant_folding")


def test_what_is_called_as_a_number_is_named_last():
    text = f"{FRAME}    target = reward + self.discount * (1 - done) * target\n{FILE['messages']['two']}"
    named = [culprit.expression for culprit in explain(text).culprits]
    assert (set(named), named[-1]) == ({"reward", "done", "target", "self.discount"}, "self.discount")
    named = [culprit.expression for culprit in explain(text.replace("self.discount", "self.mean")).culprits]
    assert (set(named), named[0]) == ({"reward", "done", "target", "self.mean"}, "self.mean")


def test_a_function_of_a_library_that_is_given_a_model_is_not_moved():
    text = (
        f"{FRAME}    print(summary(self.extractor, (3, 384, 384)))\n"
        '  File "/usr/lib/python3/dist-packages/torchsummary/torchsummary.py", line 72, in summary\n'
        f"    model(*x)\n{FILE['messages']['input-and-weight']}"
    )
    diagnosis = explain(text)
    assert diagnosis.causes[0].id == "model_not_moved"
    assert "summary.to(" not in str(diagnosis)


def test_a_line_of_a_library_is_not_changed_to_move_what_it_was_given():
    text = (
        f"{FRAME}    out = self.compel(prompts[0])\n"
        '  File "/usr/lib/python3/dist-packages/compel/compel.py", line 167, in __call__\n'
        f"    output = self.build(text_input)\n{FILE['messages']['index']}"
    )
    assert explain(text).culprits == ()
    assert "text_input" not in str(explain(text))


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("best = np.array(losses)", "best = np.array([item.cpu() for item in losses])"),
        ("best = np.array(loss)", "best = np.array(loss.cpu())"),
        # It may be a list of tensors or of numbers, or a tensor.
        ("print(np.array(self.plots['Y']))", "print(np.array(torch.as_tensor(self.plots['Y']).cpu()))"),
    ],
)
def test_what_numpy_is_given_may_be_a_list(line, fix):
    culprits = explain(f"{FRAME}    {line}\n{FILE['messages']['numpy']}").culprits
    assert [culprit.fix for culprit in culprits] == [fix]


def test_where_two_tensors_are_indexed_neither_is_said_to_be_on_the_cpu():
    text = f"{FRAME}    a, t = at[j], t.repeat(na, 1, 1)[j]\n{FILE['messages']['indices']}"
    assert [culprit.expression for culprit in explain(text).culprits] == ["at", "t"]


def test_a_paste_without_line_ends_keeps_its_failing_line():
    text = f'File "aug.py", line 53, in augment p = torch.softmax(sim[mask], dim=0) {FILE["messages"]["indices"]}'
    diagnosis = explain(text)
    assert (diagnosis.place.function, diagnosis.place.code) == ("augment", "p = torch.softmax(sim[mask], dim=0)")
    assert [culprit.expression for culprit in diagnosis.culprits] == ["sim"]


def test_a_pooling_has_no_weights_that_could_stay_behind():
    text = f"{FRAME}    x = self.pool(torch.relu(self.conv1(x)))\n{FILE['messages']['input-and-weight']}"
    said = " ".join(explain(text).causes[0].because)
    assert "`self.conv1` are on the CPU" in said
    assert "self.pool" not in said


def test_a_cause_that_the_message_excludes_is_not_named_for_what_stands_around_it():
    message = (
        "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"
    )
    assert "input_not_moved" not in [cause.id for cause in explain(f"output = lstm(input_ids)\n{message}").causes]


def named(line, marked="", message="two"):
    marks = f"    {marked}\n" * bool(marked)
    text = f"{FRAME}    {line}\n{marks}{FILE['messages'][message]}"
    return [culprit.expression for culprit in explain(text).culprits]


def test_only_what_python_underlines_is_named_even_where_nobody_knows_it():
    assert named("q, k = self.to_q(x), self.k_proj(ctx)", "       ~~~~~~~~~^^^", "mat1") == ["x"]
    assert named("q, k = self.get_q(x), self.k_proj(ctx)", "       ~~~~~~~~~~^^^", "mat1") == []


def test_above_four_none_is_named():
    assert named("return gamma * (x - mean) / std + beta") == []


def test_an_lstms_two_states_move_together():
    text = FRAME + "    out, _ = self.lstm(x, (h0, c0))\n" + FILE["messages"]["mat1"].replace("mat1", "hx")
    changes = {culprit.fix for culprit in explain(text).culprits}
    assert changes == {"out, _ = self.lstm(x, (h0.to(x.device), c0.to(x.device)))"}


@pytest.mark.parametrize(
    ("line", "tell"),
    [
        ("y = next(batches) * w", ""),  # would take one more
        ("y = [w * x for w in ws]", ""),  # there is no `w` above the line
        ("elif (a * b).sum() > 0:", ""),  # nor a line
        ("y = a * b", "print(a.device, b.device)"),
        (
            "total += a * scale_factor",
            'print(getattr(total, "device", "a number"), a.device, getattr(scale_factor, "device", "a number"))',
        ),
    ],
)
def test_the_line_that_tells_leaves_the_program_as_it_is(line, tell):
    assert explain(f"{FRAME}    {line}\n{FILE['messages']['two']}").tell == tell


def test_what_a_moving_average_reads_is_moved_and_its_numbers_are_not():
    line = "ema_p.data.mul_(decay).add_(p.data, alpha=1 - decay)"
    text = f"{FRAME}    {line}\n{FILE['messages']['two']}"
    changes = {culprit.expression: culprit.fix for culprit in explain(text).culprits}
    assert changes["ema_p"] == "ema_p.data.mul_(decay).add_(p.data.to(ema_p.device), alpha=1 - decay)"


def test_the_simulations_own_frames_are_not_the_programs():
    frame = '  File "/opt/site-packages/samedevice/simulation/dispatch.py", line 3, in dispatch\n    raise refusal\n'
    text = f"{FRAME}    y = a * b\n{frame}{FILE['messages']['two']}"
    assert [culprit.expression for culprit in explain(text).culprits] == ["a", "b"]
