"""The parts of sparse tensors: where they are put, and what is said of parts on several devices."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from layout_examples import SAME, c, coo, csr, g, h, refused

pytestmark = pytest.mark.usefixtures("two_gpus")

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "parts by name": (
        lambda: torch.sparse_csr_tensor(
            crow_indices=torch.tensor([0, 1]).cuda(), col_indices=torch.tensor([0]).cuda(), values=c(1), size=(1, 2)
        ),
        "Values and crow_indices need to be on the same device.",
    ),
    "parts whose invariants are checked": (
        lambda: torch.sparse_csc_tensor([0, 1], torch.tensor([0]), g(1), (2, 1), check_invariants=True),
        f"{SAME}found at least two devices, cuda:0 and cpu!",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_they_are_refused_as_by_cuda(case: str) -> None:
    refused(*REFUSED[case])


ALLOWED: dict[str, tuple[Callable[[], Any], str]] = {
    "parts to the CPU": (lambda: torch.sparse_coo_tensor(torch.tensor([[0]]), g(1), (2,), device="cpu"), "cpu"),
    "parts to a GPU": (
        lambda: torch.sparse_coo_tensor(torch.tensor([[0]]).cuda(), [1.0], (2,), device="cuda:1"),
        "cuda:1",
    ),
    "parts of a compressed one": (
        lambda: torch.sparse_csr_tensor([0, 1], [0], g(1), (1, 2), device="cpu"),
        "cpu",
    ),
    "new": (lambda: coo(g(2)).new(torch.tensor([[0]]), c(1)), "cpu"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ALLOWED)
def test_what_cuda_allows_is_where_cuda_puts_it(case: str) -> None:
    compute, device = ALLOWED[case]
    assert str(compute().device) == device


@pytest.mark.filterwarnings("ignore")
def test_a_default_device_takes_the_parts_of_a_sparse_tensor_with_it() -> None:
    for device in ("cpu", "cuda:1"):
        with torch.device(device):
            assert str(torch.sparse_coo_tensor(torch.tensor([[0]]), g(1), (2,)).device) == device
            assert str(torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 2)).device) == device
            assert str(torch.sparse_coo_tensor([[0]], h(1), (2,), device="cuda:0").device) == "cuda:0"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [coo, csr])
def test_a_sparse_tensor_of_the_cpu_is_pinned_by_its_parts(make: Callable[[torch.Tensor], torch.Tensor]) -> None:
    pinned = make(torch.eye(2)).pin_memory()
    assert pinned.is_pinned() and pinned.values().is_pinned() and not make(torch.eye(2)).is_pinned()
    assert torch.equal(pinned.cuda().to_dense().cpu(), torch.eye(2))
    assert torch.sparse_coo_tensor([[0]], [1.0], (2,), pin_memory=True).is_pinned()
