"""Products and convolutions of float16 are summed in float32 and rounded once, and refused as ever."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

pytestmark = pytest.mark.usefixtures("two_gpus")

Product = Callable[..., Any]
PRODUCTS: dict[str, tuple[Product, list[tuple[int, ...]]]] = {
    "mm": (torch.mm, [(9, 40), (40, 7)]),
    "addmm": (torch.addmm, [(7,), (9, 40), (40, 7)]),
    "mv": (torch.mv, [(9, 40), (40,)]),
    "bmm": (torch.bmm, [(2, 9, 40), (2, 40, 7)]),
    "baddbmm": (torch.baddbmm, [(2, 9, 7), (2, 9, 40), (2, 40, 7)]),
    "conv1d": (F.conv1d, [(2, 4, 9), (3, 4, 3), (3,)]),
    "conv2d": (F.conv2d, [(2, 4, 9, 9), (3, 4, 3, 3)]),
    "conv_transpose2d": (F.conv_transpose2d, [(2, 4, 5, 5), (4, 3, 3, 3)]),
}


@pytest.mark.parametrize("case", PRODUCTS)
def test_a_product_of_halves_is_rounded_once(case: str) -> None:
    product, shapes = PRODUCTS[case]
    torch.manual_seed(0)
    plain = [torch.randn(shape).half() for shape in shapes]
    on_gpu = [x.cuda().requires_grad_() for x in plain]
    result = product(*on_gpu)
    larger = [x.float().requires_grad_() for x in plain]
    wanted = product(*larger)
    assert (result.dtype, str(result.device)) == (torch.float16, "cuda:0")
    assert torch.equal(result.detach().cpu(), wanted.detach().half())
    result.backward(torch.ones_like(result))
    wanted.backward(torch.ones_like(wanted))
    for x, y in zip(on_gpu, larger, strict=True):
        assert x.grad is not None and y.grad is not None
        assert (x.grad.dtype, str(x.grad.device)) == (torch.float16, "cuda:0")
        assert torch.allclose(x.grad.cpu().float(), y.grad, rtol=2e-3, atol=2e-3)


def test_what_float16_cannot_hold_is_infinite() -> None:
    large = torch.full((2, 2), 1000.0, dtype=torch.float16, device="cuda")
    assert (large @ large).isinf().all()


def test_dtypes_that_do_not_fit_are_refused_as_they_were_given() -> None:
    halves, floats = torch.ones(2, 2, device="cuda").half(), torch.ones(2, 2, device="cuda")
    with pytest.raises(RuntimeError) as refusal:
        halves @ floats
    assert str(refusal.value) == "expected mat1 and mat2 to have the same dtype, but got: c10::Half != float"
    with pytest.raises(RuntimeError) as refusal:
        halves @ torch.ones(3, 2, device="cuda").half()
    assert str(refusal.value) == "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x2)"
