"""What CUDA's kernels compute and the CPU's do not."""

import pytest
import torch
from ones import cuda
from torch.nn import functional as F  # noqa: N812


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


def test_integers_may_be_divided_by_zero() -> None:
    numbers = cuda(2, dtype=torch.long)
    for divided in (numbers // 0, numbers % torch.zeros(2, dtype=torch.long, device="cuda"), torch.fmod(numbers, 0)):
        assert (str(divided.device), divided.dtype) == ("cuda:0", torch.long)
    assert (6 * numbers // torch.tensor([2, 0], device="cuda")).tolist()[0] == 3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_what_only_cuda_computes_in_16_bits(dtype: torch.dtype) -> None:
    volume = torch.rand(1, 1, 4, 4, 4).cuda().to(dtype).requires_grad_()
    pooled = F.avg_pool3d(volume, 2)
    pooled.sum().backward()
    assert (pooled.dtype, str(pooled.device)) == (dtype, "cuda:0")
    assert torch.equal(pooled, F.avg_pool3d(volume.float(), 2).to(dtype))
    assert volume.grad is not None and volume.grad.dtype is dtype and volume.grad.unique().tolist() == [0.125]
    negative = -cuda(4).to(dtype)
    leaked = F.rrelu(negative, 0.5, 0.5, training=True)
    F.rrelu_(negative, 0.5, 0.5, training=True)
    assert leaked.tolist() == negative.tolist() == [-0.5] * 4
    assert F.multi_margin_loss(cuda(2, 2).to(dtype), cuda(2, dtype=torch.long)).dtype is dtype
