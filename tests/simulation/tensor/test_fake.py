"""Fake tensors on simulated GPUs: they trace, have gradients and refuse to meet as on CUDA, and never end Python."""

import copy
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from functorch.compile import aot_function, make_boxed_func
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from samedevice import simulate_cuda

GPU, OTHER = torch.device("cuda:0"), torch.device("cuda:1")


def leaf(device: str = "cuda") -> torch.Tensor:
    return torch.rand(3, 4, device=device, requires_grad=True)


def several(x: torch.Tensor) -> torch.Tensor:
    """Formulas whose derivatives make tensors of their own, and a factory."""
    return x[0:2].cumsum(0).sum(0) + x.unbind(0)[1] * torch.ones(4, device=x.device) + x.prod(0) + x.std()


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")  # PyTorch's own, by deepcopy
def test_a_fake_tensor_says_where_it_is(two_gpus: None) -> None:
    mode = FakeTensorMode()
    for given in (leaf("cuda:1"), nn.Parameter(torch.ones(2, device="cuda:1")), torch.ones(2, device="cuda:1")):
        fake = mode.from_tensor(given)
        places = (fake.device, fake.is_cuda, fake.is_cpu, fake.is_meta, fake.get_device(), fake.type())
        assert places == (OTHER, True, False, False, 1, "torch.cuda.FloatTensor")
        assert "device='cuda:1'" in repr(fake)
        assert fake.requires_grad == given.requires_grad
        assert (copy.copy(fake).device, copy.deepcopy(fake).device) == (OTHER, OTHER)
        with mode:
            assert (fake * 2).device == torch.zeros_like(fake).device == fake.new_ones(1).device == OTHER
            assert (fake.cpu().is_cpu, fake.cuda(0).device) == (True, GPU)


def test_a_fake_leaf_has_a_gradient_on_its_gpu(two_gpus: None) -> None:
    mode = FakeTensorMode()
    fake, other = mode.from_tensor(leaf()), mode.from_tensor(leaf("cuda:1"))
    with mode:
        (several(fake).to(OTHER) + several(other)).sum().backward()
    assert (fake.grad.device, other.grad.device) == (GPU, OTHER)
    assert isinstance(fake.grad, FakeTensor)


def test_modules_made_under_fake_tensor_mode_train(two_gpus: None) -> None:
    with FakeTensorMode():
        model = nn.Sequential(nn.Linear(4, 4, device="cuda"), nn.BatchNorm1d(4, device="cuda"), nn.Dropout())
        optimizer = torch.optim.AdamW(model.parameters())
        loss = nn.functional.cross_entropy(model(torch.rand(3, 4).cuda()), torch.tensor([0, 1, 2], device="cuda"))
        loss.backward()
        optimizer.step()
        assert torch.tensor(3.0, device="cuda").item() == 3
    assert model[0].weight.grad.device == GPU


def test_fake_tensors_on_two_devices_refuse_to_meet(two_gpus: None) -> None:
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fake = mode.from_tensor(leaf())
        for other, found in (
            (torch.ones(4), "cpu"),
            (torch.ones(4, device="cuda:1"), "cuda:1"),
            (mode.from_tensor(leaf("cuda:1")), "cuda:1"),
        ):
            with pytest.raises(RuntimeError) as refusal:
                fake + other
            assert str(refusal.value) == (
                f"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and {found}!"
                if torch.__version__ >= "2.13"
                else "Unhandled FakeTensor Device Propagation for aten.add.Tensor, found two different devices "
                f"cuda:0, {found}"
            )


def test_a_real_tensor_on_a_gpu_is_refused_under_fake_tensor_mode_as_on_cuda(two_gpus: None) -> None:
    x = leaf()
    with FakeTensorMode(), pytest.raises(AssertionError, match=r"^Please convert all Tensors to FakeTensors first"):
        x * 2


@pytest.mark.parametrize("tracing_mode", ["fake", "symbolic"])
def test_make_fx_traces_a_gradient_on_the_gpu(two_gpus: None, tracing_mode: str) -> None:
    x = leaf("cuda:1")
    graph = make_fx(lambda x: torch.autograd.grad(several(x).sum(), x)[0], tracing_mode=tracing_mode)(x)
    assert graph(x).device == OTHER
    assert torch.allclose(graph(x), torch.autograd.grad(several(x).sum(), x)[0])
    assert "device(type='cuda', index=1)" in graph.code
    assert "type='meta'" not in graph.code


def test_aot_autograd_computes_on_the_gpu_what_eager_code_does(two_gpus: None) -> None:
    seen = []

    def function(x: torch.Tensor) -> Any:
        seen.append((x.device, x.is_cuda, x.is_meta, x.get_device()))
        return several(x), x.cumprod(1)  # the second is not used: its gradient is zeros that C++ makes

    x, y = leaf("cuda:1"), leaf("cuda:1")
    with torch.no_grad():
        y.copy_(x)
    traced = aot_function(function, fw_compiler=lambda graph, _: make_boxed_func(graph.forward))
    traced(x)[0].sum().backward()
    several(y).sum().backward()
    assert set(seen) == {(OTHER, True, False, 1)}
    assert (x.grad.device, torch.allclose(x.grad, y.grad)) == (OTHER, True)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # by PyTorch's own derivatives
def test_torch_func_transforms_fake_tensors(two_gpus: None) -> None:
    mode = FakeTensorMode()
    fake = mode.from_tensor(torch.rand(3, 4, device="cuda"))
    with mode:
        for result in (
            torch.func.grad(lambda x: several(x).sum())(fake),
            torch.func.jacfwd(torch.sin)(fake),
            torch.func.vmap(lambda row: row * torch.ones(4, device="cuda") + torch.tensor(1.0, device="cuda"))(fake),
        ):
            assert (type(result), result.device) == (FakeTensor, GPU)


def test_a_function_may_return_a_gradient_on_another_device_for_a_fake_tensor(two_gpus: None) -> None:
    class ToCPU(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient.cpu()

    with FakeTensorMode():
        ToCPU.apply(torch.ones(3, device="cuda", requires_grad=True)).sum().backward()  # as on CUDA


USES: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x * 2,
    lambda x, y: y.sum().backward(),
    lambda x, y: x.detach().requires_grad_() * 2,
    lambda x, y: nn.Parameter(x) * 2,
]


@pytest.mark.parametrize("use", USES)
def test_a_fake_tensor_that_outlives_its_gpu_refuses_operators(use: Any) -> None:
    with simulate_cuda(devices=1):
        mode = FakeTensorMode()
        x = mode.from_tensor(leaf())
        y = x * 2
    assert "device='cuda:0'" in repr(x)
    for context in (nullcontext(), mode):
        with context, pytest.raises(RuntimeError, match="the simulated CUDA has ended, and its GPUs with it"):
            use(x, y)
    with mode:
        assert (torch.ones(2) * 2).is_cpu
