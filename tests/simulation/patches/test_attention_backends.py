"""Which of CUDA's kernels for attention compute what: sdpa_kernel() leaves one of them enabled."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812
from torch.nn.attention import SDPBackend, sdpa_kernel


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


FLASH, EFFICIENT, CUDNN = SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION
COMPUTED = [
    (FLASH, torch.float16, 8), (FLASH, torch.bfloat16, 7), (EFFICIENT, torch.float32, 8), (EFFICIENT, torch.float16, 8),
    (EFFICIENT, torch.float16, 264), (SDPBackend.MATH, torch.float64, 7),
]  # fmt: skip
REFUSED = [
    (FLASH, torch.float32, 8), (FLASH, torch.float64, 8), (FLASH, torch.float16, 264), (EFFICIENT, torch.float32, 7),
    (EFFICIENT, torch.float64, 8), (CUDNN, torch.float32, 8), (CUDNN, torch.float16, 7),
]  # fmt: skip


def query(dtype: torch.dtype, length: int, *shape: int) -> torch.Tensor:
    return torch.rand(*(shape or (1, 2, 4)), length).cuda().to(dtype)


@pytest.mark.parametrize(("backend", "dtype", "length"), COMPUTED, ids=str)
def test_a_kernel_that_takes_the_dtype_and_the_size_computes(
    backend: SDPBackend, dtype: torch.dtype, length: int
) -> None:
    x = query(dtype, length)
    with sdpa_kernel(backend):
        result = F.scaled_dot_product_attention(x, x, x)
    assert (str(result.device), result.dtype) == ("cuda:0", dtype)
    torch.testing.assert_close(result, F.scaled_dot_product_attention(x, x, x), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(("backend", "dtype", "length"), REFUSED, ids=str)
def test_a_kernel_that_does_not_take_them_is_no_kernel(backend: SDPBackend, dtype: torch.dtype, length: int) -> None:
    x = query(dtype, length)
    with sdpa_kernel(backend), pytest.raises(RuntimeError) as refusal:
        F.scaled_dot_product_attention(x, x, x)
    assert str(refusal.value) == "No available kernel. Aborting execution."
    with sdpa_kernel(backend), pytest.raises(RuntimeError):
        F.scaled_dot_product_attention(x, x, x)  # what is enabled stays as the program left it


def test_flash_attention_takes_no_mask_and_none_of_the_fused_ones_three_dimensions() -> None:
    x, mask = query(torch.float16, 8), query(torch.float16, 4, 4)
    for backend, arguments in ((FLASH, (x, x, x, mask)), (EFFICIENT, (x[0], x[0], x[0]))):
        with sdpa_kernel(backend), pytest.raises(RuntimeError, match=r"No available kernel\. Aborting execution\."):
            F.scaled_dot_product_attention(*arguments)
    with sdpa_kernel(EFFICIENT):
        assert F.scaled_dot_product_attention(x, x, x, mask).dtype is torch.float16


def test_where_one_of_two_kernels_takes_it_that_one_computes() -> None:
    x = query(torch.float32, 8)
    with sdpa_kernel([FLASH, EFFICIENT]):
        assert F.scaled_dot_product_attention(x, x, x).dtype is torch.float32


def test_a_mask_of_float32_does_not_fit_halves() -> None:
    x, mask = query(torch.float16, 8), query(torch.float32, 4, 4)
    with pytest.raises(RuntimeError) as refusal:
        F.scaled_dot_product_attention(x, x, x, mask)
    assert str(refusal.value) == "invalid dtype for bias - should match query's dtype"
    with sdpa_kernel(SDPBackend.MATH):
        assert F.scaled_dot_product_attention(x, x, x, mask).dtype is torch.float16
