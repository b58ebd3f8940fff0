"""Every optimizer of torch.optim on a simulated GPU, in each of its implementations, steps as on the CPU."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn, optim

from samedevice import simulate_cuda

NAMES = [
    name for name, kind in vars(optim).items()
    if isinstance(kind, type) and issubclass(kind, optim.Optimizer) and kind is not optim.Optimizer
]  # fmt: skip


def implementations(name: str) -> Iterator[dict[str, Any]]:
    known = inspect.signature(getattr(optim, name)).parameters
    yield {}
    module = inspect.getsource(inspect.getmodule(getattr(optim, name)))
    fused_on_cuda = "cuda_unsupported=True" not in module  # Adagrad of torch 2.11
    for flag in ("foreach", "fused", "amsgrad", "maximize"):
        if flag in known and (flag != "fused" or fused_on_cuda):
            yield {flag: True}
    for flags in ({"foreach": False}, {"foreach": True, "capturable": True}, {"foreach": False, "capturable": True}):
        if flags.keys() <= known.keys():
            yield flags
    if "momentum" in known:
        yield {"momentum": 0.9}


def trajectory(device: str, name: str, flags: dict[str, Any]) -> tuple[list[float], list[torch.Tensor]]:
    """The losses of a few steps, and the parameters at the end."""
    torch.manual_seed(0)
    if name == "SparseAdam":
        model: nn.Module = nn.Embedding(5, 3, sparse=True)
        x, y = torch.tensor([0, 2, 2, 4]), torch.ones(4, 3)
    else:
        bias = name != "Muon"  # which takes matrices alone
        model = nn.Sequential(nn.Linear(4, 8, bias), nn.Tanh(), nn.Linear(8, 1, bias))
        x = torch.randn(16, 4)
        y = x.sum(1, keepdim=True)
    model, x, y = model.to(device), x.to(device), y.to(device)
    optimizer = getattr(optim, name)(model.parameters(), **flags)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = nn.functional.mse_loss(model(x), y)
        value.backward()
        return value

    losses = [float(optimizer.step(loss)) for _ in range(3)]
    assert {str(p.grad.device) for p in model.parameters()} == {device}
    return losses, [p.detach() for p in model.parameters()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_an_optimizer_steps_as_on_the_cpu(name: str) -> None:
    for flags in implementations(name):
        on_cpu = {flag: value for flag, value in flags.items() if flag != "capturable"}  # which the CPU refuses
        losses, parameters = trajectory("cpu", name, on_cpu)
        with simulate_cuda(devices=2):
            ours, moved = trajectory("cuda:1", name, flags)
            assert ours == pytest.approx(losses, rel=1e-5, nan_ok=True), flags  # LBFGS that maximizes runs away
            for mine, theirs in zip(moved, parameters, strict=True):
                assert str(mine.device) == "cuda:1"
                torch.testing.assert_close(mine.cpu(), theirs, rtol=1e-4, atol=1e-5, equal_nan=True)


def test_foreach_is_the_default_on_a_gpu(two_gpus: None) -> None:
    from torch.optim.optimizer import _default_to_fused_or_foreach

    parameters = list(nn.Linear(2, 2).cuda().parameters())
    assert _default_to_fused_or_foreach(parameters, differentiable=False) == (False, True)


@pytest.mark.parametrize(("here", "there"), [("cuda:0", "cuda:1"), ("cuda:0", "cpu")])
def test_state_that_stayed_on_a_gpu_is_refused_by_the_text_of_the_installed_torch(
    two_gpus: None, here: str, there: str
) -> None:
    model = nn.Linear(3, 2).to(here)
    optimizer = optim.Adam(model.parameters(), foreach=True)
    for place in (here, there):
        model.to(place)(torch.ones(4, 3, device=place)).sum().backward()
        if place == here:
            optimizer.step()
    with pytest.raises(RuntimeError, match="Tensors of the same index must be on the same device and the same dtype "):
        optimizer.step()


def test_state_that_stayed_on_the_cpu_meets_the_operators(two_gpus: None) -> None:
    model = nn.Linear(3, 2)
    optimizer = optim.Adam(model.parameters(), foreach=True)
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    model.to("cuda")
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        optimizer.step()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_clipping_values_where_there_is_no_gradient_raises_what_pytorch_raises(two_gpus: None, device: str) -> None:
    parameter = nn.Parameter(torch.ones(2, device=device))
    with pytest.raises(RuntimeError, match=r"Expected !nested_tensorlist\[0\]\.empty\(\) to be true"):
        nn.utils.clip_grad_value_([parameter], 1.0)
    parameter.grad = torch.full((2,), 3.0, device=device)
    nn.utils.clip_grad_value_([parameter], 1.0)
    assert parameter.grad.tolist() == [1, 1]
