"""torch.func, forward-mode and higher derivatives on a simulated GPU: the CPU's values, on that GPU."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap
from torch.nn import functional as F  # noqa: N812
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

from samedevice import simulate_cuda

HOME = "cuda:1"


class Data:
    """A few tensors and a network, the same on every device."""

    def __init__(self, device: str) -> None:
        torch.manual_seed(0)
        self.device = device
        self.x, self.w = torch.randn(4, 3).to(device), torch.randn(3, 3).to(device)
        self.index = torch.tensor([0, 1, 2, 0]).to(device)
        self.network = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).to(device)

    def layer(self, row: torch.Tensor) -> torch.Tensor:
        return (row @ self.w).tanh()


def per_sample_gradients(data: Data) -> Any:
    def loss(parameters: Any, row: torch.Tensor) -> torch.Tensor:
        return functional_call(data.network, parameters, (row,)).sum()

    return vmap(grad(loss), in_dims=(None, 0))(dict(data.network.named_parameters()), data.x)


def ensemble(data: Data) -> Any:
    torch.manual_seed(1)
    models = [nn.Linear(3, 2).to(data.device) for _ in range(3)]
    parameters, buffers = stack_module_state(models)

    def call(p: Any, b: Any, x: torch.Tensor) -> Any:
        return functional_call(models[0], (p, b), (x,))

    return vmap(call, in_dims=(0, 0, None))(parameters, buffers, data.x)


def tangent(data: Data) -> Any:
    with forward_ad.dual_level():
        z = forward_ad.make_dual(data.x, torch.ones_like(data.x))
        parts = [(z @ data.w).sin(), z.cumsum(0), F.layer_norm(z, (3,)), F.softmax(z, 0), z.std(0, keepdim=True)]
        return forward_ad.unpack_dual(torch.cat(parts)).tangent


def twice(data: Data) -> Any:
    x = data.x.clone().requires_grad_()
    (first,) = torch.autograd.grad((x.sin() @ data.w).pow(2).sum(), x, create_graph=True)
    return torch.autograd.grad(first.pow(2).sum(), x)


def recomputed(data: Data, use_reentrant: bool) -> Any:
    x = data.x.clone().requires_grad_()
    checkpoint(data.network, x, use_reentrant=use_reentrant).sum().backward()
    return x.grad


def batched(data: Data) -> Any:
    x = data.x.clone().requires_grad_()
    gradients = torch.stack([torch.ones_like(x), data.x])
    return torch.autograd.grad((x * 2).sin(), x, gradients, is_grads_batched=True)


CASES: dict[str, Callable[[Data], Any]] = {
    "grad": lambda d: grad(lambda x: x.sin().pow(2).sum())(d.x),
    "grad, a tensor made where x is": lambda d: grad(lambda x: (x * torch.ones(3, device=x.device)).sum())(d.x),
    "vmap": lambda d: vmap(lambda row: (row @ d.w).softmax(0))(d.x),
    "vmap, a tensor made where the row is": lambda d: vmap(lambda r: r + torch.arange(3, device=r.device))(d.x),
    "vmap, indices": lambda d: vmap(lambda row, i: row[i])(d.x, d.index),
    "vmap, a loss": lambda d: vmap(F.cross_entropy)(d.x, d.index),
    "vmap, attention": lambda d: vmap(lambda r: F.scaled_dot_product_attention(*[r[None, None]] * 3))(d.x),
    "vmap, cosine_similarity": lambda d: vmap(lambda row: F.cosine_similarity(row, d.w[0], dim=0))(d.x),
    "vmap, one_hot": lambda d: vmap(lambda i: F.one_hot(i, 3))(d.index),
    "vmap, quantile": lambda d: vmap(lambda row: row.quantile(0.5))(d.x),
    "jvp": lambda d: jvp(d.layer, (d.x,), (torch.ones_like(d.x),)),
    "vjp": lambda d: vjp(d.layer, d.x)[1](torch.ones_like(d.x)),
    "jacrev": lambda d: jacrev(d.layer)(d.x[0]),
    "jacrev in chunks": lambda d: jacrev(d.layer, chunk_size=1)(d.x[0]),
    "jacfwd": lambda d: jacfwd(d.layer)(d.x[0]),
    "hessian": lambda d: hessian(lambda row: d.layer(row).sum())(d.x[0]),
    "functional_call": lambda d: functional_call(d.network, {k: p * 2 for k, p in d.network.named_parameters()}, d.x),
    "gradients of each sample": per_sample_gradients,
    "an ensemble": ensemble,
    "forward mode": tangent,
    "double backward": twice,
    "checkpoint": lambda d: recomputed(d, use_reentrant=False),
    "checkpoint, reentrant": lambda d: recomputed(d, use_reentrant=True),
    "batched gradients": batched,
    "a vectorised Jacobian": lambda d: torch.autograd.functional.jacobian(d.layer, d.x[0], vectorize=True),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_derivatives_and_transforms_give_the_cpus_values_on_the_gpu(case: str) -> None:
    expected = tree_leaves(CASES[case](Data("cpu")))
    with simulate_cuda(devices=2):
        got = tree_leaves(CASES[case](Data(HOME)))
        assert {str(x.device) for x in got} == {HOME}
        for ours, theirs in zip(got, expected, strict=True):
            torch.testing.assert_close(ours.cpu(), theirs)


def test_a_tensor_of_the_cpu_is_refused_inside_a_transform_too(two_gpus: None) -> None:
    for transform in (grad, vmap):
        with pytest.raises(RuntimeError) as refusal:
            transform(lambda row: (row * torch.ones(3)).sum())(torch.ones(2, 3, device="cuda"))
        assert str(refusal.value) == (
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
        )
