"""What CUDA's kernels for sparse tensors check by hand: each text is what PyTorch 2.13's CUDA build says."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from layout_examples import accused, c, coo, csr, found, g, h, not_equal, refused

pytestmark = pytest.mark.usefixtures("two_gpus")

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "dense and sparse": (
        lambda: g(2, 2) + coo(c(2, 2)),
        "add: expected 'other' to be a CUDA tensor, but got a CPU tensor",
    ),
    "dense of the CPU and sparse": (
        lambda: c(2, 2) + coo(g(2, 2)),
        "add: expected 'self' to be a CUDA tensor, but got a CPU tensor",
    ),
    "dense and sparse into": (
        lambda: torch.add(g(2, 2), coo(g(2, 2)), out=c(2, 2)),
        "add: expected 'out' to be a CUDA tensor, but got a CPU tensor",
    ),
    "dense and sparse of two GPUs": (lambda: g(2, 2) + coo(h(2, 2)), not_equal("sparse, r_, dense")),
    "sparse and sparse": (lambda: coo(g(2, 2)) + coo(c(2, 2)), "add: expected 'other' to be CUDA, but got CPU"),
    "in place": (lambda: coo(c(2, 2)).sub_(coo(g(2, 2))), "add: expected 'self' to be CUDA, but got CPU"),
    "sparse of two GPUs": (lambda: coo(g(2, 2)) - coo(h(2, 2)), not_equal("r_, t, src")),
    "sparse and dense": (
        lambda: coo(g(2, 2)) + c(2, 2),
        "add(sparse, dense) is not supported. Use add(dense, sparse) instead.",
    ),
    "a list": (
        lambda: torch._foreach_add([coo(g(2, 2))], [coo(c(2, 2))]),
        "add: expected 'other' to be CUDA, but got CPU",
    ),
    "a number minus sparse": (
        lambda: 1 - coo(g(2, 2)),
        "add: expected 'self' to be a CUDA tensor, but got a CPU tensor",
    ),
    "compressed and compressed": (
        lambda: csr(g(2, 2)) + csr(c(2, 2)),
        "add: expected 'other' to be CUDA tensor, but got tensor on device: cpu",
    ),
    "compressed of the CPU and dense": (
        lambda: csr(c(2, 2)) + g(2, 2),
        "add: expected 'other' to be a CUDA tensor, but got tensor on device: cpu",
    ),
    "times": (lambda: coo(g(2, 2)) * coo(c(2, 2)), "mul: expected 'other' to be CUDA, but got CPU"),
    "the CPU's times": (lambda: coo(c(2, 2)) * coo(g(2, 2)), "mul: expected 'out' to be CUDA, but got CPU"),
    "times, two GPUs": (lambda: coo(g(2, 2)) * coo(h(2, 2)), not_equal("r_, t_, src_")),
    "times dense": (
        lambda: coo(g(2, 2)) * c(2, 2),
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    "times dense of the wrong size": (
        lambda: coo(g(2, 2)) * c(3),
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
    ),
    "times a number of another GPU": (lambda: coo(g(2, 2)) * h(), found("cuda:1", "cuda:0")),
    "the CPU's times a number": (lambda: coo(c(2, 2)) * g(), "mul: expected 'out' to be CUDA, but got CPU"),
    "compressed times": (lambda: csr(g(2, 2)) * csr(c(2, 2)), "mul: expected 'other' to be CUDA, but got CPU"),
    "compressed times dense": (
        lambda: csr(g(2, 2)) * c(2, 2),
        accused("mask", "cuda:0", "cpu", "SparseCsrCUDA__sparse_mask"),
    ),
    "divided by a number": (lambda: coo(c(2, 2)) / g(), found("cuda:0", "cpu")),
    "divided by a matrix": (
        lambda: coo(g(2, 2)) / c(2, 2),
        "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape [2, 2] for divisor)",
    ),
    "copied into dense": (
        lambda: c(2, 2).copy_(coo(g(2, 2))),
        "copy_() between dense and sparse Tensors is not implemented! Found self type = torch.FloatTensor and src "
        "type = torch.cuda.sparse.FloatTensor",
    ),
    "compressed and compressed of other sizes": (
        lambda: csr(g(2, 2)) + csr(c(3, 3)),
        "torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape [2, 2] and tensor "
        "`other` with shape [3, 3]",
    ),
    "compressed mv of another size": (
        lambda: csr(g(2, 2)) @ c(3),
        "size mismatch, got input (2), mat (2x2), vec (3)",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_they_are_refused_as_by_cuda(case: str) -> None:
    refused(*REFUSED[case])


ALLOWED: dict[str, tuple[Callable[[], Any], str]] = {
    "times a number of the CPU": (lambda: coo(g(2, 2)) * c(), "cuda:0"),
    "divided by a number of the CPU": (lambda: coo(g(2, 2)) / c(), "cuda:0"),
    "compressed times a number of the CPU": (lambda: csr(g(2, 2)) * c(), "cuda:0"),
    "compressed and dense of two GPUs": (lambda: csr(g(2, 2)) + h(2, 2), "cuda:1"),
    "copied": (lambda: coo(c(2, 2)).copy_(coo(g(2, 2))), "cpu"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ALLOWED)
def test_what_cuda_allows_is_where_cuda_puts_it(case: str) -> None:
    compute, device = ALLOWED[case]
    assert str(compute().device) == device
