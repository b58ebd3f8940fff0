"""Higher-order operators compute on simulated GPUs, with gradients for what their functions are given or know."""

from typing import Any

import pytest
import torch
from functorch.compile import aot_function, make_boxed_func
from torch import nn
from torch._dynamo.exc import TorchRuntimeError, UncapturedHigherOrderOpError
from torch._higher_order_ops import associative_scan, foreach_map, map, scan, while_loop
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from samedevice.simulation.patches import read_first

pytestmark = pytest.mark.usefixtures("two_gpus")  # and no warning: nobody has called torch.compile


def cond(x: torch.Tensor, layer: Any) -> Any:
    return torch.cond(x.sum() > 0, layer, lambda x: layer(x) * 2, (x,))


@pytest.mark.parametrize(
    "compute",
    [
        cond,
        lambda x, layer: torch.compiler.disable(cond)(x, layer),
        lambda x, layer: while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, layer(x)), (torch.zeros((), dtype=torch.long, device=x.device), x)
        )[1],
        lambda x, layer: map(lambda row, y: layer(row) * y, x, x[0]),
        lambda x, layer: scan(lambda carry, row: (layer(carry) + row, carry * row), x[0], x)[1],
        lambda x, layer: associative_scan(lambda a, b: a + b, layer(x), 0, combine_mode="generic"),
        lambda x, layer: foreach_map(lambda a, b: layer(a) + b, [x], [x])[0],
    ],
)
@pytest.mark.parametrize("device", ["cuda:1", "cpu"])
def test_a_higher_order_operator_computes_and_has_gradients(compute: Any, device: str) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(3, 3).to(device)
    x = torch.rand(3, 3).to(device).requires_grad_()
    result = compute(x, layer)
    result.sum().backward()
    places = {str(tensor.device) for tensor in (result, x.grad, layer.weight.grad, layer.bias.grad)}
    assert places == {device}


def test_cond_takes_the_branch_that_a_tensor_says() -> None:
    x = torch.ones(3, device="cuda")
    assert torch.equal(torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), x.sin())
    assert torch.equal(torch.cond(x.sum() < 0, torch.sin, torch.cos, (x,)), x.cos())
    both = torch.tensor([1.0, -1.0], device="cuda:1")
    chosen = torch.vmap(lambda x: torch.cond(x > 0, torch.sin, torch.cos, (x,)))(both)
    assert torch.allclose(chosen, torch.stack([both[0].sin(), both[1].cos()]))
    assert torch.allclose(
        torch.func.grad(lambda x: torch.cond(x > 0, torch.sin, torch.cos, (x,)))(both[0]), both[0].cos()
    )


def test_tensors_on_two_devices_are_refused_as_the_compiler_does() -> None:
    x, y = torch.ones(3, device="cuda"), torch.ones(3)
    # Until torch 2.12 it named the operator first, and the devices in other words.
    two = (
        "found at least two devices, cuda:0 and cpu!" if torch.__version__ >= "2.13" else "found two different devices"
    )
    with pytest.raises(TorchRuntimeError, match=two):
        torch.cond(x.sum() > 0, torch.add, torch.sub, (x, y))


def test_operands_and_scans_may_be_dictionaries() -> None:
    x = torch.ones(3, 2, device="cuda:1")
    both = torch.cond(x.sum() > 0, lambda d, rows: d["x"] + rows[0], lambda d, rows: d["x"] * 3, ({"x": x}, [x]))
    assert torch.equal(both, x * 2)
    assert torch.equal(associative_scan(torch.add, x, 0), x.cumsum(0))
    scanned = associative_scan(lambda a, b: {"x": a["x"] + b["x"]}, {"x": x}, 0)
    assert torch.equal(scanned["x"], x.cumsum(0))


def _ones(device: str = "cuda") -> torch.Tensor:
    return torch.ones(2, device=device)


def _start(device: str = "cpu") -> torch.Tensor:
    return torch.zeros((), dtype=torch.long, device=device)


# What the compiler says before anything runs, of functions that would run.
REFUSED = [
    (
        lambda: torch.cond(_ones().sum() > 0, torch.sin, lambda x: x + torch.ones(2), (_ones(),)),
        TorchRuntimeError,
        "cuda:0.* cpu",  # in the branch that is not taken
    ),
    (
        lambda: torch.cond(_ones().sum() > 0, torch.sin, lambda x: x.cpu().sin(), (_ones(),)),
        TorchRuntimeError,
        "expected same device but got cuda:0 and cpu",
    ),
    (
        lambda: torch.cond(_ones().sum() > 0, torch.sin, torch.sum, (_ones(),)),
        TorchRuntimeError,
        "expected same dim but got 1 and 0",
    ),
    (
        lambda: torch.cond(_ones().sum() > 0, torch.sin, lambda x: x, (_ones(),)),
        UncapturedHigherOrderOpError,
        "do not support aliasing",
    ),
    (
        lambda: torch.cond(_ones().sum() > 0, torch.sin, lambda x: x.add_(1), (_ones(),)),
        UncapturedHigherOrderOpError,
        "do not support input mutation",
    ),
    (
        lambda: while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.cpu() + 1), (_start(), _ones())),
        UncapturedHigherOrderOpError,
        r"pair\[1\] differ in device",
    ),
    (
        lambda: scan(lambda carry, row: (carry + row, carry), _ones(), torch.ones(3, 2, device="cuda")),
        UncapturedHigherOrderOpError,
        "do not support aliasing",
    ),
]


@pytest.mark.filterwarnings("ignore:samedevice does not simulate compilers")
@pytest.mark.skipif(torch.__version__ < "2.13", reason="other texts")
@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_functions_are_refused_before_they_run(call: Any, error: type[Exception], text: str) -> None:
    for _ in range(2):  # what was refused is read again
        with pytest.raises(error, match=text):
            call()
    with pytest.raises(error, match=text):
        torch.compile(call, backend="eager")()


@pytest.mark.parametrize(
    "branch",
    [
        lambda x: x + torch.ones(2, device="cuda"),
        lambda x: x + torch.ones(2).cuda(),
        lambda x: x.cpu().cuda(1).to("cuda") * 2,
        lambda x: x + torch.tensor([1.0, 2.0], device="cuda"),
        lambda x: torch.rand_like(x),
        lambda x: x * (2 if x.is_cuda else 3),
        lambda x: x * torch.cuda.device_count(),  # which TorchDynamo cannot ask here
        lambda x: x * (1 + torch.cuda.current_device()),
        nn.ReLU(),
    ],
)
def test_what_the_compiler_takes_runs(branch: Any) -> None:
    x = _ones().requires_grad_()
    assert torch.cond(_ones().sum() > 0, branch, torch.sin, (x,)).device == x.device


def test_a_call_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(read_first, "reading", lambda *given: read.append(given))
    weight = _ones()
    for _ in range(3):
        torch.cond(_ones().sum() > 0, lambda x: x * weight, torch.sin, (_ones(),))
    assert len(read) == 1
    torch.cond(_ones().sum() > 0, lambda x: x * weight.cpu(), torch.sin, (_ones("cpu"),))
    assert len(read) == 2


class Choosing(nn.Module):
    """Chooses one of two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, self.one, self.other, (x,))


@pytest.mark.parametrize("strict", [False, True])
def test_a_condition_is_exported(strict: bool) -> None:
    model, x = Choosing().to("cuda:1"), torch.ones(1, 2, device="cuda:1")
    exported = torch.export.export(model, (x,), strict=strict).module()
    for given in (x, -x):
        assert torch.equal(exported(given), model(given))
        assert type(exported(given)) is type(model(given))
    with pytest.raises(RuntimeError, match="cpu"):
        exported(x.cpu())


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # which TorchDynamo hides
def test_a_condition_is_traced_by_aot_autograd() -> None:
    codes = []

    def compiler(graph: Any, inputs: Any) -> Any:
        codes.append(graph.code)
        return make_boxed_func(graph.forward)

    x = _ones("cuda:1").requires_grad_()
    traced = aot_function(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), fw_compiler=compiler)
    traced(x).sum().backward()
    assert torch.allclose(x.grad, x.cos())
    assert len([code for code in codes if "higher_order.cond" in code]) == 2


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_equals_attention_with_the_same_mask() -> None:
    torch.manual_seed(0)
    bias = nn.Parameter(torch.rand(2, device="cuda"))
    q, k, v = (torch.rand(1, 2, 8, 4, device="cuda", requires_grad=True) for _ in range(3))
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 8, 8, device="cuda")
    for attention in (flex_attention, torch.compiler.disable(flex_attention)):
        result = attention(q, k, v, lambda score, b, h, i, j: score + bias[h] * j, mask)
        scores = bias[:, None, None] * torch.arange(8, device="cuda") + torch.full((8, 8), -torch.inf).triu(1).cuda()
        expected = nn.functional.scaled_dot_product_attention(q, k, v, scores)
        assert torch.allclose(result, expected, atol=1e-5)
        gradients = torch.autograd.grad(result.sin().sum(), (q, k, v, bias))
        for gradient, other in zip(gradients, torch.autograd.grad(expected.sin().sum(), (q, k, v, bias)), strict=True):
            assert gradient.device == torch.device("cuda:0")
            assert torch.allclose(gradient, other, atol=1e-5)
