"""The backward of an operator that a number on the CPU joined: CUDA refuses some, and computes all others."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

pytestmark = pytest.mark.usefixtures("two_gpus")

TWO_DEVICES = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
MASK = "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"


def number(learns: bool = True) -> torch.Tensor:
    return torch.tensor(2.0, requires_grad=learns)


def on_gpu(learns: bool = True) -> torch.Tensor:
    return torch.full((2,), 2.0, device="cuda", requires_grad=learns)


def refusal(result: torch.Tensor) -> str:
    with pytest.raises(RuntimeError) as raised:
        result.sum().backward()
    return str(raised.value)


@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("power", [torch.pow, torch.float_power, torch.Tensor.pow, lambda x, y: x**y])
def test_a_number_to_the_power_of_a_gpus_tensor_that_learns_is_refused_in_backward(
    power: Callable[..., torch.Tensor], learns: bool
) -> None:
    assert refusal(power(number(learns), on_gpu())) == TWO_DEVICES
    assert refusal(power(number(learns), torch.tensor(2.0, device="cuda", requires_grad=True))) == TWO_DEVICES
    assert refusal(power(nn.Parameter(number(False), learns), on_gpu())) == TWO_DEVICES


@pytest.mark.parametrize("learns", [True, False])
def test_a_number_that_learns_with_the_sign_of_a_gpus_tensor_is_refused_in_backward(learns: bool) -> None:
    assert refusal(torch.copysign(number(), on_gpu(learns))) == MASK


@pytest.mark.parametrize("operator", [torch.pow, torch.copysign, torch.mul, torch.div, torch.atan2, torch.xlogy])
def test_other_numbers_learn(operator: Callable[..., torch.Tensor]) -> None:
    base, exponent = on_gpu(), number()
    operator(base, exponent).sum().backward()
    assert base.grad is not None and base.grad.device.type == "cuda"
    assert exponent.grad is not None and exponent.grad.device.type == "cpu"
    scalar = number()
    torch.pow(scalar, on_gpu(False)).sum().backward()
    assert scalar.grad is not None and scalar.grad.device.type == "cpu" and scalar.grad == 8


def test_the_power_of_numbers_that_cuda_computes_has_its_values() -> None:
    torch.testing.assert_close(torch.pow(number(False), on_gpu(False)).cpu(), torch.full((2,), 4.0))
    assert torch.pow(number(), on_gpu()).device == torch.device("cuda:0")


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # PyTorch's own, at the first jvp of a process
def test_transforms_are_refused_what_backward_is() -> None:
    n, x = number(False), on_gpu(False)
    for power_of_x in (
        lambda: torch.func.grad(lambda x: torch.pow(n, x).sum())(x),
        lambda: torch.func.jvp(lambda x: torch.pow(n, x), (x,), (x,)),
    ):
        with pytest.raises(RuntimeError) as raised:
            power_of_x()
        assert str(raised.value) == TWO_DEVICES
    with pytest.raises(RuntimeError) as raised:
        torch.func.grad(lambda n: torch.copysign(n, x).sum())(n)
    assert str(raised.value) == MASK
    assert torch.func.grad(lambda n: torch.pow(n, x).sum())(n).device.type == "cpu"
    assert torch.func.vmap(lambda x: torch.pow(n, x))(x).device.type == "cuda"
    assert torch.func.jvp(lambda x: torch.copysign(n, x), (x,), (x,))[1].device.type == "cuda"


def test_a_hook_packs_a_number_as_pytorchs_own_tensor() -> None:
    packed: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        packed.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = torch.pow(number(), on_gpu())
    assert [str(tensor.device) for tensor in packed] == ["cuda:0", "cpu", "cuda:0"]
    assert type(packed[1]) is torch.Tensor
    assert refusal(result) == TWO_DEVICES


def test_a_number_on_the_cpu_may_be_the_target_of_a_loss() -> None:
    target = torch.tensor(0.5)
    x = on_gpu()
    nn.functional.soft_margin_loss(x, target).backward()
    on_cpu = torch.full((2,), 2.0, requires_grad=True)
    nn.functional.soft_margin_loss(on_cpu, target).backward()
    assert x.grad is not None and x.grad.device.type == "cuda"
    torch.testing.assert_close(x.grad.cpu(), on_cpu.grad)
