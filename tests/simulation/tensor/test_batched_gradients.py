"""Batched gradients stay on the GPU of their tensor: grad(is_grads_batched=True), jacobian and hessian(vectorize=True).

PyTorch's rules for slices, selections, diagonals and traces make zeros of their own for them.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import functional, gradcheck, gradgradcheck
from torch.nn import functional as F  # noqa: N812

from samedevice import simulate_cuda

HOME = "cuda:1"

FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a row": lambda x: x[0],
    "a column": lambda x: x[:, -1],
    "a slice": lambda x: x[0:2],
    "a slice in steps": lambda x: x[:, 1::2],
    "two rows": lambda x: x[0] * x[1],
    "select": lambda x: x.select(-1, 1),
    "narrow": lambda x: x.narrow(-2, 1, 2),
    "diagonal": lambda x: x.diagonal(),
    "a diagonal above": lambda x: x.diagonal(1, -2, -1),
    "trace": lambda x: x[:, :3].trace(),
    "indices": lambda x: x[torch.tensor([0, 2], device=x.device)],
    "unbind": lambda x: x.unbind(1)[1],
    "split": lambda x: x.split(2, 1)[1],
    "chunk": lambda x: x.chunk(2)[1],
    "as_strided": lambda x: x.as_strided((2, 2), (1, 1)),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "expand": lambda x: x[:1].expand(3, 4),
    "pad": lambda x: F.pad(x, (1, 1)),
    "a circular pad": lambda x: F.pad(x[None], (1, 1), mode="circular"),
    "trapezoid": lambda x: torch.trapezoid(x),
    "written to": lambda x: (y := x.clone()).mul_(2)[1:].pow(2) + y[0],
    "zeros for a gradient": lambda x: x.sgn(),
}


def data(device: str) -> torch.Tensor:
    return (torch.arange(12.0, dtype=torch.float64).view(3, 4) / 3).sin().to(device)


def grads(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    x = x.clone().requires_grad_()
    y = function(x)
    return torch.autograd.grad(y, x, torch.stack([torch.ones_like(y), y.detach()]), is_grads_batched=True)[0]


WAYS: dict[str, Callable[[Any, torch.Tensor], Any]] = {
    "is_grads_batched": grads,
    "jacobian": lambda function, x: functional.jacobian(function, x, vectorize=True),
    "hessian": lambda function, x: functional.hessian(lambda x: function(x).pow(2).sum(), x, vectorize=True),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_batched_gradients_have_the_cpus_values_on_the_gpu(way: str, name: str) -> None:
    function = FUNCTIONS[name]
    try:
        expected = WAYS[way](function, data("cpu"))
    except RuntimeError as error:  # of as_strided, on which side of the map the dimension lies
        with simulate_cuda(devices=2), pytest.raises(RuntimeError) as refusal:
            WAYS[way](function, data(HOME))
        assert str(refusal.value) == str(error)
        return
    with simulate_cuda(devices=2):
        result = WAYS[way](function, data(HOME))
        assert str(result.device) == HOME
        torch.testing.assert_close(result.cpu(), expected)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_pytorchs_own_check_of_batched_gradients_passes(name: str, two_gpus: None) -> None:
    if name == "a circular pad":
        pytest.skip("PyTorch refuses it on every device")
    if name == "zeros for a gradient":
        pytest.skip("no derivative at the places where the check looks")
    x = data(HOME).requires_grad_()
    assert gradcheck(FUNCTIONS[name], x, check_batched_grad=True)
    assert gradgradcheck(FUNCTIONS[name], x, check_batched_grad=True)


def test_a_batched_gradient_says_where_it_is(two_gpus: None) -> None:
    places: list[Any] = []

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            places.append((str(gradient.device), gradient.is_cuda, gradient.is_cpu, gradient.get_device()))
            return gradient * torch.ones(4, device=gradient.device)

    for function in (torch.sin, FUNCTIONS["a slice"], FUNCTIONS["a row"], torch.sgn):
        places.clear()
        x = data(HOME).requires_grad_()
        y = Seen.apply(x)
        y.register_hook(lambda g: places.append((str(g.device), g.is_cuda, g.is_cpu, g.get_device())))
        z = function(y)
        torch.autograd.grad(z, x, torch.ones(2, *z.shape, device=HOME, dtype=z.dtype), is_grads_batched=True)
        assert places == [(HOME, True, False, 1)] * 2, function


def test_batched_gradients_inside_batched_gradients_stay_there_too(two_gpus: None) -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            with torch.enable_grad():
                x = data(HOME).requires_grad_()
                rows = x[1:]
            (inner,) = torch.autograd.grad(rows, x, torch.stack([gradient, gradient * 2]), is_grads_batched=True)
            places.append(str(inner.device))
            return inner.sum(0)[1:]

    places: list[str] = []
    x = data(HOME)[1:].requires_grad_()
    gradients = torch.stack([torch.ones_like(x), x.detach()])
    (result,) = torch.autograd.grad(Twice.apply(x), x, gradients, is_grads_batched=True)
    assert (places, str(result.device)) == ([HOME], HOME)
    torch.testing.assert_close(result, gradients * 3)


def test_a_batched_gradient_on_the_cpu_is_refused_where_it_meets_the_gpu(two_gpus: None) -> None:
    x = data(HOME).requires_grad_()
    x.register_hook(lambda gradient: gradient * torch.ones(4))
    gradients = torch.ones(2, 4, device=HOME, dtype=x.dtype)
    with pytest.raises(RuntimeError) as refusal:
        torch.autograd.grad(x[0], x, gradients, is_grads_batched=True)
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!"
    )


def test_zeros_that_a_derivative_makes_are_on_the_gpu_for_hooks_and_later(two_gpus: None) -> None:
    places = []
    x = data(HOME).requires_grad_()
    x.register_hook(lambda gradient: places.append(str((gradient * 2).device)))
    x.sgn().sum().backward()
    assert x.grad is not None
    assert [*places, str((x.grad * 2).device)] == [HOME, HOME]


def test_no_other_rule_for_batched_gradients_makes_tensors_of_its_own() -> None:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    rules = {name for name in torch._C._dispatch_get_all_op_names() if has_kernel(name, "Batched")}
    assert {name for name in rules if name.endswith("_backward")} == {
        "aten::diagonal_backward", "aten::select_backward", "aten::slice_backward", "aten::trace_backward",
        "aten::sigmoid_backward", "aten::threshold_backward",  # these compute with what they are given
    }  # fmt: skip


ASKED: dict[str, tuple[Callable[[torch.Tensor], Any], Any]] = {
    "zeros_like": (lambda g: torch.zeros_like(g).device, torch.device(HOME)),
    "new_ones": (lambda g: g.new_ones(3).device, torch.device(HOME)),
    "cpu": (lambda g: g.cpu().device, torch.device("cpu")),
    "there and back": (lambda g: g.to("cuda:0").to(HOME).device, torch.device(HOME)),
    "type": (lambda g: g.type(), "torch.cuda.DoubleTensor"),
    "type_as": (lambda g: g.type_as(torch.ones(1)).device, torch.device("cpu")),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_batched_gradient_answers_as_on_cuda(name: str, two_gpus: None) -> None:
    ask, answer = ASKED[name]
    answers = []
    x = data(HOME).requires_grad_()
    y = x * 2
    y.register_hook(lambda gradient: answers.append(ask(gradient)))
    torch.autograd.grad(y, x, torch.ones(2, *y.shape, device=HOME, dtype=y.dtype), is_grads_batched=True)
    assert answers == [answer]


REFUSED: dict[str, tuple[Callable[[torch.Tensor], Any], type[Exception], str]] = {
    "another device": (
        lambda g: g.to("cuda:0"),
        RuntimeError,
        "Function MulBackward0 returned an invalid gradient at index 0 - expected device cuda:1 but got cuda:0",
    ),
    "the CPU": (
        lambda g: g.cpu(),
        RuntimeError,
        "hook '<lambda>' has changed the type of value (was torch.cuda.DoubleTensor got torch.DoubleTensor)",
    ),
    "numpy": (
        lambda g: g.numpy(),
        TypeError,
        "can't convert cuda:1 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_hook_makes_of_a_batched_gradient_is_refused_as_on_cuda(name: str, two_gpus: None) -> None:
    hook, error, text = REFUSED[name]
    x = data(HOME).requires_grad_()
    y = x * 2
    y.register_hook(hook)
    with pytest.raises(error) as refusal:
        torch.autograd.grad(y, x, torch.ones(2, *y.shape, device=HOME, dtype=y.dtype), is_grads_batched=True)
    assert str(refusal.value) == text
