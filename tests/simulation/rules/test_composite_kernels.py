"""Kernels in front of composed operators: there while a simulation runs, and gone after it."""

import torch
from torch.nn.functional import cosine_similarity

from samedevice import simulate_cuda


def _has_kernel(operator: str, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(operator, key))


def test_kernels_last_as_long_as_the_simulation() -> None:
    places = [("aten::linalg_multi_dot", "AutogradCPU"), ("aten::linspace.Tensor_Tensor", "Python")]
    assert [_has_kernel(*place) for place in places] == [False, False]
    for _ in range(2):
        with simulate_cuda():
            assert [_has_kernel(*place) for place in places] == [True, True]
        assert [_has_kernel(*place) for place in places] == [False, False]


def test_tensors_of_the_cpu_pass_through_them() -> None:
    first, second = torch.randn(2, 3, requires_grad=True), torch.randn(2, 3)
    expected = cosine_similarity(first, second)
    (slope,) = torch.autograd.grad(expected.sum(), first)
    with simulate_cuda():
        similarity = cosine_similarity(first, second)
        (gradient,) = torch.autograd.grad(similarity.sum(), first)
    assert torch.equal(similarity, expected)
    assert torch.equal(gradient, slope)
    assert type(similarity) is torch.Tensor
