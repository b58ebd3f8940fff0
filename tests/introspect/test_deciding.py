"""Which part of an expression decides where its tensor is, and what the code tells of that part."""

import ast

import pytest

from samedevice.introspect.deciding import parts
from samedevice.introspect.lines import read_line


def told(text):
    """Write the parts of an expression as "kind: part"."""
    line = read_line(text)
    return [f"{part.kind}: {line.text_of(part.node)}" for part in parts(line.tree.body[0].value, line)]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("x", ["name: x"]),
        ("self.mean", ["attribute: self.mean"]),
        ("batch['image']", ["item: batch['image']"]),
        ("batch.image", ["item: batch.image"]),
        ("x[:, 0]", ["name: x"]),
        ("x.T", ["name: x"]),
        ("x.unsqueeze(0).float()", ["name: x"]),
        ("x.max(dim=1).values", ["name: x"]),
        ("model(x)", ["result: model(x)"]),
        ("get(x)[0]", ["item: get(x)[0]"]),
        ("-x", ["name: x"]),
        ("a + b", ["name: a", "name: b"]),
        ("a if flag else b", ["name: a", "name: b"]),
        ("[f(x) for x in xs]", ["result: f(x)"]),
        ("x.cpu()", ["on the CPU: x.cpu()"]),
        ("x.to('cpu')", ["on the CPU: x.to('cpu')"]),
        ("x.to(device)", ["moved: x.to(device)"]),
        ("x.cuda()", ["moved: x.cuda()"]),
        ("x.to(torch.float32)", ["name: x"]),
        ("x.to(y.dtype)", ["name: x"]),
        ("torch.zeros(3)", ["created: torch.zeros(3)"]),
        ("torch.zeros(3, device=x.device)", ["moved: torch.zeros(3, device=x.device)"]),
        ("torch.zeros(3, device='cpu')", ["on the CPU: torch.zeros(3, device='cpu')"]),
        ("torch.arange(n)[None]", ["created: torch.arange(n)"]),
        ("torch.tensor([1.0, 2.0])", ["created: torch.tensor([1.0, 2.0])"]),
        ("torch.tensor(1.0)", ["number on the CPU: torch.tensor(1.0)"]),
        ("torch.tensor(1.0) * x", ["name: x"]),
        ("torch.zeros_like(x)", ["name: x"]),
        ("torch.sqrt(x)", ["name: x"]),
    ],
)
def test_what_decides_where_a_tensor_is(expression, found):
    assert told(expression) == found


@pytest.mark.parametrize(
    "expression",
    ["3", "'text'", "x.item()", "x.shape[0]", "len(x)", "self.lr", "config.dim", "math.pi", "range(3)", "nn.ReLU"],
)
def test_what_is_no_tensor_decides_nothing(expression):
    assert told(expression) == []


def test_what_is_made_of_an_unknown_value_may_be_one_number_or_be_elsewhere():
    line = read_line("torch.tensor(x)")
    (part,) = parts(line.tree.body[0].value, line)
    assert (part.kind, part.is_open, part.is_on_cpu) == ("created", True, False)


def test_a_reduction_of_all_is_one_number_that_pytorch_accepts_on_the_cpu():
    line = read_line("torch.rand(3).mean()")
    (part,) = parts(line.tree.body[0].value, line)
    assert isinstance(part.node, ast.Call)
    assert part.is_one_number
    assert part.is_on_cpu
