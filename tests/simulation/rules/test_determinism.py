"""torch.use_deterministic_algorithms: what a GPU's kernels cannot do in a fixed order raises or warns, as on CUDA."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

pytestmark = pytest.mark.usefixtures("two_gpus")


@pytest.fixture(autouse=True)
def deterministic(two_gpus: None) -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def gpu(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="cuda")


def leaf(*shape: int) -> torch.Tensor:
    return gpu(*shape).requires_grad_()


# Backward runs for each result that has a gradient.
RAISE: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "histc": (lambda: gpu(3).histc(4), "_histc_cuda with floating point input"),
    "weighted bincount": (lambda: torch.bincount(gpu(3).long(), gpu(3)), "_bincount_cuda"),
    "median": (lambda: gpu(3).median(0)[0], "median CUDA with indices output"),
    "nanmedian": (lambda: gpu(3).nanmedian(0)[0], "median CUDA with indices output"),
    "nll_loss of images": (
        lambda: F.nll_loss(gpu(2, 3, 4, 4), gpu(2, 4, 4).long()),
        "nll_loss2d_forward_out_cuda_template",
    ),
    "max_unpool": (lambda: F.max_unpool1d(gpu(1, 1, 2), gpu(1, 1, 2).long(), 2), "max_unpooling2d_forward_out"),
    "adaptive_avg_pool2d": (lambda: F.adaptive_avg_pool2d(leaf(1, 1, 8, 8), 3), "adaptive_avg_pool2d_backward_cuda"),
    "max_pool3d": (lambda: F.max_pool3d(leaf(1, 1, 4, 4, 4), 2), "max_pool3d_with_indices_backward_cuda"),
    "bicubic, smoothed": (
        lambda: F.interpolate(leaf(1, 1, 4, 4), scale_factor=2, mode="bicubic", antialias=True),
        "upsample_bicubic2d_aa_backward_out_cuda",
    ),
    "reflect": (lambda: F.pad(leaf(1, 1, 8), (1, 1), mode="reflect"), "reflection_pad1d_backward_out_cuda"),
    "take, backwards": (lambda: leaf(3).take(gpu(1).long()), "put_"),
    "scatter_reduce": (
        lambda: gpu(3).scatter_reduce(0, gpu(2).long(), gpu(2), "prod"),
        "scatter_reduce_cuda_prod_",
    ),
    "scatter": (
        lambda: gpu(3).scatter(0, gpu(2).long(), gpu(2), reduce="multiply"),
        "scatter_reduce_cuda_kernel",
    ),
    "index_reduce": (lambda: gpu(3).index_reduce(0, gpu(2).long(), gpu(2), "mean"), "index_reduce_cuda"),
    "embedding_bag": (
        lambda: F.embedding_bag(gpu(1, 2).long(), leaf(4, 3), mode="max"),
        "embedding_bag_backward_cuda_max",
    ),
}


def bicubic() -> torch.Tensor:
    return F.interpolate(leaf(1, 1, 4, 4), scale_factor=2, mode="bicubic")


if torch.__version__ < "2.15":  # from then on it is composed of operators that have a fixed order
    RAISE["bicubic"] = (bicubic, "upsample_bicubic2d_backward_out_cuda")


@pytest.mark.parametrize("case", RAISE)
def test_what_has_no_fixed_order_on_a_gpu_raises(case: str) -> None:
    program, name = RAISE[case]
    with pytest.raises(RuntimeError) as refusal:
        result = program()
        if result.requires_grad:
            result.sum().backward()
    assert str(refusal.value) == (
        f"{name} does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this operation, or you can "
        "use the 'warn_only=True' option, if that's acceptable for your application. You can also file an issue at "
        "https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support for this "
        "operation."
    )


def test_with_warn_only_it_warns_at_the_line_of_the_program() -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning) as told:
        gpu(3).histc(4)
    assert str(told[0].message).startswith("_histc_cuda with floating point input does not have a deterministic ")
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    "program",
    [
        lambda: torch.ones(3).histc(4),
        lambda: gpu(3).long().histc(4),
        lambda: torch.bincount(gpu(3).long()),
        lambda: gpu(3).median(),
        lambda: gpu(3).cumsum(0),
        lambda: gpu(3).scatter_reduce(0, gpu(2).long(), gpu(2), "sum"),
        lambda: F.nll_loss(gpu(2, 3), gpu(2).long()),
        lambda: gpu(3, 3) @ gpu(3, 3),
        *((lambda: bicubic().sum().backward(),) if "bicubic" not in RAISE else ()),
    ],
)
def test_what_has_a_fixed_order_runs(program: Callable[[], Any]) -> None:
    program()


def test_nothing_raises_when_the_setting_is_off_again() -> None:
    torch.use_deterministic_algorithms(False)
    gpu(3).histc(4)
