"""What the CPU's kernels say in their own words, CUDA's say in other words. Every text is PyTorch 2.13's with CUDA."""

from collections.abc import Callable

import pytest
import torch
from ones import cpu, cuda
from torch.nn import functional as F  # noqa: N812


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


def integers(*shape: int) -> torch.Tensor:
    return cuda(*shape, dtype=torch.int8)


SAID: dict[str, tuple[Callable[[], object], str]] = {
    "histc of no bins": (lambda: torch.histc(cuda(3), bins=0), "bins must be > 0"),
    "histc of a wrong range": (lambda: torch.histc(cuda(3), min=5, max=1), "max must be larger than min"),
    "histc without end": (lambda: torch.histc(cuda(3), max=float("inf")), "range of [0, inf] is not finite"),
    "bags without an offset": (
        lambda: F.embedding_bag(
            cuda(3, dtype=torch.long), cuda(4, 2), cuda(0, dtype=torch.long), include_last_offset=True
        ),
        "include_last_offset: numBags should be at least 1",
    ),
    "few rows of integers": (
        lambda: torch._int_mm(integers(3, 8), integers(8, 8)),
        "self.size(0) needs to be greater than 16, but got 3",
    ),
    "odd columns of integers": (
        lambda: torch._int_mm(integers(17, 8), integers(8, 3)),
        "mat2.size(1) needs to be greater than 0 and a multiple of 8, but got 3",
    ),
    "integers that do not fit": (
        lambda: torch._int_mm(integers(17, 8), integers(16, 8)),
        "self.size(1) needs to match mat2.size(0) but got 8 and 16",
    ),
    "a product of floats as integers": (
        lambda: torch._int_mm(cuda(17, 8), integers(8, 8)),
        "expected scalar type Char but found Float",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_an_error_is_told_in_cudas_words(case: str) -> None:
    call, text = SAID[case]
    with pytest.raises(RuntimeError) as refusal:
        call()
    assert str(refusal.value) == text


def test_the_cpus_words_stay_the_cpus() -> None:
    with pytest.raises(RuntimeError) as refusal:
        torch.histc(cpu(3), bins=0)
    assert str(refusal.value) == "torch.histogram(): bins must be > 0, but got 0 for dimension 0"


def test_integers_are_multiplied_in_the_sizes_that_cublas_takes() -> None:
    assert torch._int_mm(integers(17, 8), integers(8, 8)).tolist() == [[8] * 8] * 17
