"""Higher-order operators compute on simulated GPUs, with gradients for what their functions are given or know."""

from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.exc import TorchRuntimeError
from torch._higher_order_ops import associative_scan, foreach_map, map, scan, while_loop
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

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
