"""An error of torch.compile shows where each tensor of the traced call is: the one on the CPU is named."""

import pytest

from samedevice.doctor.text.answer import answer
from samedevice.doctor.text.read import read
from samedevice.doctor.text.says import says
from samedevice.doctor.text.traced import traced_call

ON_GPU, ON_CPU = "FakeTensor(..., device='cuda:0', size=(2, 4))", "FakeTensor(..., size=(s0, 4), requires_grad=True)"
WEIGHT = "Parameter(FakeTensor(..., device='cuda:0', size=(4, 4), requires_grad=True))"
MODULES = (
    '  File "/site-packages/torch/nn/modules/linear.py", line 125, in forward\n    return F.linear(input, self.weight)'
)


def paste(call: str, given: str, op: str, line: str, inner: str = "") -> str:
    return (
        "torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: "
        f"call_function {call}(*({given}), **{{}}): got RuntimeError('Unhandled FakeTensor Device Propagation for "
        f"aten.{op}, found two different devices cuda:0, cpu')\n\nfrom user code:\n"
        f'  File "/home/u/train.py", line 12, in forward\n    {line}\n{inner}\n'
    )


# The call, its tensors, the operation of ATen, the user's line, a frame below, what is named.
PASTES = {
    "an operator": ("<built-in function add>", f"{ON_GPU}, {ON_CPU}", "add.Tensor", "return a + b", "", ["b"]),
    "the first operand": ("<built-in function mul>", f"{ON_CPU}, {ON_GPU}", "mul.Tensor", "y = a * b", "", ["a"]),
    "a result": (
        "<built-in function add>",
        f"{ON_GPU}, {ON_CPU}",
        "add.Tensor",
        "y = self.lin(x) + self.p",
        "",
        ["self.p"],
    ),
    "a function": (
        "<built-in method where of type object at 0x7f01>",
        f"{ON_GPU}, {ON_GPU}, {ON_CPU}",
        "where.self",
        "y = torch.where(mask, x, low)",
        "",
        ["low"],
    ),
    "a list": (
        "<built-in method cat of type object at 0x7f01>",
        f"[{ON_GPU}, {ON_CPU}], 1",
        "cat.default",
        "y = torch.cat([x, pos], 1)",
        "",
        ["pos"],
    ),
    "a layer's input": (
        "<built-in function linear>",
        f"{ON_CPU}, {WEIGHT}, {WEIGHT}",
        "addmm.default",
        "return self.lin(x)",
        MODULES,
        ["x"],
    ),
    "a layer": (
        "<built-in function linear>",
        f"{ON_GPU}, {WEIGHT.replace(chr(39) + 'cuda:0' + chr(39), chr(39) + 'cpu' + chr(39))}, {ON_CPU}",
        "addmm.default",
        "return self.lin(x)",
        MODULES,
        ["self.lin"],
    ),
    "an embedding's ids": (
        "<function embedding at 0x7f01>",
        f"{ON_CPU}, {WEIGHT}, None, None, 2.0, False, False",
        "embedding.default",
        "e = self.emb(ids)",
        MODULES,
        ["ids"],
    ),
    "an embedding of ATen": (
        "aten.embedding.default",
        f"{WEIGHT}, {ON_CPU}",
        "embedding.default",
        "e = self.emb(ids)",
        MODULES,
        ["ids"],
    ),
    "one operator of several": (
        "<built-in function mul>",
        f"{ON_CPU}, {ON_GPU}",
        "mul.Tensor",
        "y = a * (b + c)",
        "",
        ["a"],
    ),
    # A call of another number of tensors is not the one that the line shows.
    "more tensors than operands": (
        "<built-in function add>",
        f"{ON_GPU}, {ON_CPU}, {ON_GPU}",
        "add.Tensor",
        "return a + b",
        "",
        ["a", "b"],
    ),
}


@pytest.mark.parametrize("case", PASTES)
def test_the_operand_on_the_cpu_is_named(case: str) -> None:
    *parts, names = PASTES[case]
    reading = read(paste(*parts))
    assert reading is not None
    _, named = answer(reading)  # type: ignore[arg-type]
    assert [each.change.expression for each in named] == names


def test_the_answer_says_which_operand_is_where() -> None:
    reading = read(paste(*PASTES["an operator"][:-1]))
    sentence = says(reading)  # type: ignore[arg-type]
    assert sentence == (
        "While tracing, PyTorch found the tensors of one call on these devices, in this order: cuda:0, cpu."
    )


def test_an_older_release_breaks_the_line_before_the_message() -> None:
    text = (
        f"TorchRuntimeError: Failed running call_method add_(*({ON_GPU}, {ON_CPU}), **{{}}):\nUnhandled FakeTensor "
        "Device Propagation for aten.add_.Tensor, found two different devices cuda:0, cpu"
    )
    assert read(text).reads["operands"] == "cuda:0, cpu"  # type: ignore[union-attr]


def test_a_tensor_that_a_terminal_broke_is_not_taken_for_one_on_the_cpu() -> None:
    wrapped = (
        "call_function add(*(FakeTensor(..., size=(2,)), FakeTensor(...,\n    device='cuda:0', size=(2,)), FakeTensor"
    )
    assert traced_call([*wrapped.split("\n"), "(..., devi", "ce='cuda:0', size=(2,))), **{}):"])[1] == "cpu, cuda:0"


@pytest.mark.parametrize(
    "line",
    [
        "no call at all",
        f"call_function <built-in function add>(*({ON_GPU}, {ON_GPU}), **{{}})",
        f"call_function <built-in function add>(*({ON_CPU}), **{{}})",
        "call_function <built-in function add>(*((((",
    ],
)
def test_a_call_on_one_device_tells_nothing(line: str) -> None:
    assert traced_call([line])[1] == ""
