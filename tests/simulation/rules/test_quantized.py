"""Quantized tensors on a GPU: CUDA has kernels of few operators for them, and the CPU's are not used in their place.

Every text is what PyTorch 2.13's CUDA build says, up to the list of backends, which is the build's own.
"""

from collections.abc import Callable

import pytest
import torch
from ones import cpu, cuda
from torch.nn import functional as F  # noqa: N812

pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")  # that it will be removed


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


def q(*shape: int, device: str = "cuda") -> torch.Tensor:
    return torch.quantize_per_tensor(torch.ones(shape, device=device), 0.1, 0, torch.quint8)


def by_channel() -> torch.Tensor:
    return torch.quantize_per_channel(cuda(2, 3), cuda(2), torch.zeros(2, device="cuda"), 0, torch.quint8)


def no_kernel(name: str) -> str:
    return f"Could not run 'aten::{name}' with arguments from the 'QuantizedCUDA' backend. "


ANOTHER_DEVICE = "quantize_tensor_per_{}_affine expects a quantized and float tensors to be on the same device."
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "an operator with a kernel for the CPU": (lambda: q(3).max(), no_kernel("max")),
    "its form that writes to outputs": (lambda: q(3) == 1, no_kernel("eq.Scalar_out")),
    "of several outputs": (lambda: q(3).topk(2), no_kernel("topk.values")),
    "in place": (lambda: q(3).add_(1), no_kernel("add.out")),
    "in place, with a kernel for the CPU": (lambda: q(3).resize_(4), no_kernel("resize_")),
    "a number": (lambda: q(3) * 2, no_kernel("mul.out")),
    "a list": (lambda: torch.cat([q(3), q(3)]), no_kernel("cat.out")),
    "a composed function": (lambda: torch.stack([q(3), q(3)]), no_kernel("cat.out")),
    "indices": (lambda: q(3)[torch.zeros(2, dtype=torch.long, device="cuda")], no_kernel("index.Tensor_out")),
    "a module's function": (lambda: F.interpolate(q(1, 1, 2, 2), scale_factor=2), no_kernel("upsample_nearest2d.out")),
    "no kernel, before devices": (lambda: torch.equal(q(3), q(3, device="cpu")), no_kernel("equal")),
    "devices, before no kernel": (
        lambda: q(3) == q(3, device="cpu"),
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ),
    "dtypes, before devices": (
        lambda: q(3) + cpu(3),
        "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, "
        "offending types: QUInt8 Float",
    ),
    "mean": (
        lambda: q(3).mean(),
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
        "Got: QUInt8",
    ),
    "sort": (
        lambda: q(3).sort(),
        "empty_strided not supported on quantized tensors yet see https://github.com/pytorch/pytorch/issues/74540",
    ),
    "a copy from the CPU": (lambda: q(3).copy_(cpu(3)), ANOTHER_DEVICE.format("tensor")),
    "a copy to the CPU": (lambda: q(3, device="cpu").copy_(cuda(3)), ANOTHER_DEVICE.format("tensor")),
    "a copy by channel": (lambda: by_channel().copy_(cpu(2, 3)), ANOTHER_DEVICE.format("channel")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_operator_that_cuda_has_no_kernel_of_is_refused(case: str) -> None:
    call, text = REFUSED[case]
    with pytest.raises((RuntimeError, NotImplementedError)) as refusal:
        call()
    assert str(refusal.value).startswith(text)


def test_what_cuda_has_kernels_of_is_computed_on_the_gpu() -> None:
    for made in (q(3).relu(), q(2, 3)[0], q(2, 3).flip(0), F.gelu(q(3)), q(3).clone(), q(3).copy_(cuda(3))):
        assert (str(made.device), made.dtype) == ("cuda:0", torch.quint8)
    assert q(3).dequantize().tolist() == [1, 1, 1]
    assert str(q(3).int_repr().device) == "cuda:0"


def test_quantized_tensors_on_the_cpu_are_computed_as_ever() -> None:
    q(3)  # one on a GPU was met
    here = q(3, device="cpu")
    assert (here == 1).tolist() == [True, True, True]
    assert torch.cat([here, here]).dequantize().tolist() == [1] * 6
