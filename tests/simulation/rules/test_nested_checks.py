"""Nested tensors that meet others: each text is what PyTorch 2.13's CUDA build says."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from layout_examples import accused, c, found, g, h, nested, refused
from torch import nn
from torch.nn import functional as F  # noqa: N812

pytestmark = pytest.mark.usefixtures("two_gpus")

SIZES = "Expected both self and other to be nested, but got a nested self and non-nested other"

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "nested of two devices": (
        lambda: torch.nested.nested_tensor([g(2), c(3)]),
        accused("tensors", "cpu", "cuda:0", "CUDA_cat"),
    ),
    "nested of two devices, on one": (
        lambda: torch.nested.nested_tensor([c(2), g(3)], device="cuda"),
        accused("tensors", "cuda:0", "cpu", "CUDA_cat"),
    ),
    "nested of numbers too": (
        lambda: torch.nested.nested_tensor([g(2), [1.0]]),
        accused("tensors", "cpu", "cuda:0", "CUDA_cat"),
    ),
    "as nested": (
        lambda: torch.nested.as_nested_tensor([g(2), h(3)], device="cpu"),
        accused("tensors", "cuda:1", "cuda:0", "CUDA_cat"),
    ),
    "nested of two ranks": (
        lambda: torch.nested.nested_tensor([g(2), c(3, 2)]),
        "All Tensors given to nested_tensor must have the same dimension. Found dimension 2 for Tensor at index 1 and "
        "dimension 1 for Tensor at index 0.",
    ),
    "jagged of two devices": (
        lambda: torch.nested.nested_tensor([g(2), c(3)], layout=torch.jagged),
        "When constructing a nested tensor, all tensors in list must be on the same device",
    ),
    "nested and nested": (lambda: nested(c(2, 3)) + nested(g(2, 3)), found("cuda:0", "cpu")),
    "nested in place": (lambda: nested(g(2, 3)).mul_(nested(h(2, 3))), found("cuda:0", "cuda:1")),
    "nested and nested of other sizes": (
        lambda: nested(c(2, 3)) + nested(g(2, 4)),
        "add does not support broadcasting when given a NestedTensor",
    ),
    "nested and nested of other strides, in place": (
        lambda: nested(g(3, 3)).transpose(1, 2).mul_(torch.nested.nested_tensor([c(3, 3), c(3, 1)])),
        "mul_ requires strides to match when given NestedTensors",
    ),
    "the CPU's nested and a number": (lambda: nested(c(2, 3)) * g(), found("cuda:0", "cpu")),
    "nested and dense": (lambda: nested(g(2, 3)) * c(2, 1, 3), SIZES),
    "nested and dense that does not fit": (lambda: nested(g(2, 3)) * g(3), f"{SIZES} for op: mul."),
    "nested divided by dense": (
        lambda: nested(g(2, 3)) / g(2, 1, 3),
        "Unsupported nested dense elementwise op: div.",
    ),
    "a layer of the CPU": (
        lambda: nn.Linear(3, 4).requires_grad_(False)(nested(g(2, 3))),
        accused("weight", "cpu", "cuda:0", "NestedTensorCUDA__linear"),
    ),
    "nested by dense": (
        lambda: nested(g(2, 3)) @ c(3, 4),
        accused("other", "cpu", "cuda:0", "NestedTensorCUDA__matmul"),
    ),
    "nested by nested": (
        lambda: torch.bmm(nested(g(2, 2)), nested(c(2, 2))),
        accused("mat2", "cpu", "cuda:0", "NestedTensorCUDA__bmm"),
    ),
    "nested joined": (
        lambda: torch.cat([nested(g(2, 2)), nested(c(2, 2))]),
        accused("tensors", "cpu", "cuda:0", "NestedTensorCUDA__cat"),
    ),
    "nested norm": (
        lambda: F.layer_norm(nested(g(2, 3)), (3,), c(3), c(3)),
        accused("weight", "cpu", "cuda:0", "NestedTensorCUDA__native_layer_norm"),
    ),
    "nested attention": (
        lambda: F.scaled_dot_product_attention(nested(g(1, 2, 8)), nested(c(1, 2, 8)), nested(g(1, 2, 8))),
        "Expected query, key, and value to have the same device type, but got query.device: cuda:0 key.device: cpu and "
        "value.device: cuda:0 instead.",
    ),
    "nested mask": (
        lambda: nested(g(2, 3)).masked_fill(nested(c(2, 3)) > 0, 0.0),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    ),
    "nested compared": (
        lambda: nested(g(2, 3)) == nested(c(2, 3)),
        "eq does not support nested tensor as other value.",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_they_are_refused_as_by_cuda(case: str) -> None:
    refused(*REFUSED[case])


ALLOWED: dict[str, tuple[Callable[[], Any], str]] = {
    "nested times a number of the CPU": (lambda: c() * nested(g(2, 3)), "cuda:0"),
    "nested of another device": (lambda: torch.nested.nested_tensor([g(2), g(3)], device="cpu"), "cpu"),
    "as nested on another device": (
        lambda: torch.nested.as_nested_tensor([g(2), g(3)], torch.float64, "cuda:1"),
        "cuda:1",
    ),
    "as nested of one tensor": (lambda: torch.nested.as_nested_tensor(g(2, 3)), "cuda:0"),
    "a nested tensor's sizes": (lambda: nested(g(2, 3))._nested_tensor_size(), "cpu"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ALLOWED)
def test_what_cuda_allows_is_where_cuda_puts_it(case: str) -> None:
    compute, device = ALLOWED[case]
    assert str(compute().device) == device


def test_a_dense_tensor_broadcasts_over_a_nested_one_on_a_gpu() -> None:
    dense = torch.arange(6.0, device="cuda").reshape(2, 1, 3)
    rows = (nested(g(2, 3)) * dense).unbind()
    assert [row.tolist() for row in rows] == [[[0.0, 1.0, 2.0]] * 2, [[3.0, 4.0, 5.0]]]
    assert (nested(g(2, 3)) + dense).device == dense.device


def test_a_nested_tensor_on_a_gpu_is_printed_as_pytorch_prints_it() -> None:
    row = "  tensor([1.], device='cuda:0')"
    assert repr(torch.nested.nested_tensor([g(1)])) == f"nested_tensor([\n{row}\n], device='cuda:0')"


@pytest.mark.filterwarnings("ignore")
def test_attention_on_a_gpu_takes_nested_tensors_whose_heads_were_moved() -> None:
    heads = torch.nested.nested_tensor([g(2, 1, 8), g(3, 1, 8)]).transpose(1, 2)
    rows = F.scaled_dot_product_attention(heads, heads, heads).unbind()
    assert [(str(row.device), tuple(row.shape)) for row in rows] == [("cuda:0", (1, 2, 8)), ("cuda:0", (1, 3, 8))]
    assert torch.equal(rows[0], g(1, 2, 8))


def test_jagged_values_and_offsets_on_two_devices_are_refused_as_by_pytorch() -> None:
    with pytest.raises(AssertionError) as caught:
        torch.nested.nested_tensor_from_jagged(g(4, 2), torch.tensor([0, 1, 4]))
    assert str(caught.value) == (
        "values and offsets must be on the same device, but got values.device=cuda:0 and offsets.device=cpu"
    )
