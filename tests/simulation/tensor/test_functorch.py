"""torch.func, forward-mode and higher derivatives on a simulated GPU: the CPU's values, on that GPU."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from torch import nn
from torch.func import (
    functional_call,
    functionalize,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F  # noqa: N812
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

from samedevice import simulate_cuda

# PyTorch compiles its derivatives in forward mode by TorchScript, at the first one of a process.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

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
    "vmap, a cumulative product's gradients": lambda d: vmap(grad(lambda row: row.cumprod(0).sum()))(d.x),
    "vmap, a slice written": lambda d: vmap(lambda row: row.slice_scatter(row[:1], 0, 1, 2))(d.x),
    "grad, attention": lambda d: grad(lambda x: F.scaled_dot_product_attention(x, x, x).sum())(d.x[None]),
    "jvp, cosine_similarity": lambda d: jvp(lambda x: F.cosine_similarity(x, d.w[:1]), (d.x,), (d.x,)),
    "grad, quantile": lambda d: grad(lambda x: x.quantile(0.5))(d.x),
    "jvp, pinverse": lambda d: jvp(torch.pinverse, (d.x,), (d.x,)),
    "vmap, pinverse's gradients": lambda d: vmap(grad(lambda x: x.pinverse().sum()))(torch.stack([d.x, d.x * 2])),
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


def on_two(a: str, b: str) -> str:
    return f"Expected all tensors to be on the same device, but found at least two devices, {a} and {b}!"


def accused(argument: str, here: str, there: str, method: str) -> str:
    return (
        f"Expected all tensors to be on the same device, but got {argument} is on {here}, different from other tensors "
        f"on {there} (when checking argument in method wrapper_CUDA_{method})"
    )


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def gpu(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="cuda")


def stacked_modules(device: str, x: torch.Tensor) -> Any:
    models = [nn.Linear(3, 2).to(device) for _ in range(2)]
    parameters, buffers = stack_module_state(models)
    return vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(parameters, buffers)


def per_sample(x: torch.Tensor, target: torch.Tensor) -> Any:
    network = nn.Linear(3, 5).cuda()

    def loss(parameters: Any, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(functional_call(network, parameters, (x,)), target)

    return vmap(grad(loss), in_dims=(None, 0, 0))(dict(network.named_parameters()), x, target)


# What C++ alone holds: what a transform wraps, views that a rule of vmap makes, and what is computed of these.
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "vmap, linear": (
        lambda: vmap(lambda w, x: F.linear(x, w), in_dims=(None, 0))(gpu(4, 3), ones(2, 3)),
        accused("mat2", "cuda:0", "cpu", "mm"),
    ),
    "vmap, a product": (
        lambda: vmap(lambda x, y: x @ y)(gpu(2, 3), ones(2, 3)),
        accused("mat2", "cpu", "cuda:0", "bmm"),
    ),
    "vmap, a number of each row": (lambda: vmap(lambda x, y: x + y)(gpu(2, 3), ones(2)), on_two("cuda:0", "cpu")),
    "vmap, results": (lambda: vmap(lambda x, y: x * 2 + y * 2)(gpu(2, 3), ones(2, 3)), on_two("cuda:0", "cpu")),
    "vmap, sums": (lambda: vmap(lambda x, y: x.sum() + y.sum())(gpu(2, 3), ones(2, 3)), on_two("cuda:0", "cpu")),
    "vmap, brought to the CPU": (lambda: vmap(lambda x: x + x.cpu())(gpu(2, 3)), on_two("cuda:0", "cpu")),
    "vmap, random numbers": (
        lambda: vmap(lambda x: x + torch.randn(3), randomness="different")(gpu(2, 3)),
        on_two("cuda:0", "cpu"),
    ),
    "vmap, a loss": (
        lambda: vmap(F.cross_entropy)(gpu(2, 4, 3), ones(2, 4).long()),
        accused("index", "cpu", "cuda:0", "gather"),
    ),
    "vmap, with a history": (
        lambda: vmap(lambda x, y: x @ (y * 2))(gpu(2, 3).requires_grad_(), ones(2, 3).requires_grad_()),
        accused("mat2", "cpu", "cuda:0", "bmm"),
    ),
    "vmap in vmap": (
        lambda: vmap(vmap(lambda x, y: x + y, in_dims=(0, None)), in_dims=(None, 0))(gpu(2, 3), ones(4, 3)),
        on_two("cuda:0", "cpu"),
    ),
    "vmap, a convolution": (
        lambda: vmap(F.conv2d)(gpu(2, 1, 3, 8, 8), ones(2, 4, 3, 3, 3)),
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    ),
    "vmap, attention": (
        lambda: vmap(F.scaled_dot_product_attention)(gpu(2, 1, 3, 4), ones(2, 1, 3, 4), gpu(2, 1, 3, 4)),
        "Expected query, key, and value to have the same device type, but got query.device: cuda:0 key.device: cpu "
        "and value.device: cuda:0 instead.",
    ),
    "vmap, a chain of products": (
        lambda: vmap(lambda x, y: torch.linalg.multi_dot([x, y]))(gpu(2, 3, 3), ones(2, 3, 3)),
        "multi_dot(): all tensors must be on the same device but tensor 0 is on cuda:0 and tensor 1 on cpu",
    ),
    "vmap, a similarity": (
        lambda: vmap(lambda x, y: F.cosine_similarity(x, y, 0))(gpu(2, 3), ones(2, 3)),
        accused("min", "cuda:0", "cpu", "clamp_min__Tensor"),
    ),
    "vmap, running statistics": (
        lambda: vmap(F.batch_norm, in_dims=(0, None, None))(gpu(2, 4, 3), ones(3), ones(3)),
        accused("running_mean", "cpu", "cuda:0", "_native_batch_norm"),
    ),
    "vmap, running statistics that would be written to": (
        lambda: vmap(lambda x: F.batch_norm(x, gpu(3), ones(3), training=True))(gpu(2, 4, 3)),
        "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
        "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
        "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please see "
        "the functorch website for resources on how to patch your module to work with vmap",
    ),
    "vmap, a fused norm": (lambda: vmap(nn.RMSNorm(3))(gpu(2, 3)), on_two("cuda:0", "cpu")),
    "vmap, a weight beside statistics": (
        lambda: vmap(lambda x: F.batch_norm(x, None, None, gpu(3), gpu(3), training=True))(ones(2, 4, 3)),
        on_two("cuda:0", "cpu"),
    ),
    "stacked modules, their input": (
        lambda: stacked_modules("cuda", ones(5, 3)),
        accused("mat2", "cuda:0", "cpu", "bmm"),
    ),
    "stacked modules": (lambda: stacked_modules("cpu", gpu(5, 3)), accused("mat2", "cpu", "cuda:0", "bmm")),
    "gradients of each sample, the input": (
        lambda: per_sample(ones(4, 6, 3), gpu(4, 6).long()),
        accused("mat2", "cuda:0", "cpu", "mm"),
    ),
    "gradients of each sample, the target": (
        lambda: per_sample(gpu(4, 6, 3), ones(4, 6).long()),
        accused("index", "cpu", "cuda:0", "gather"),
    ),
    "jvp, made on the CPU by name": (
        lambda: jvp(lambda x: x * torch.ones(3, device="cpu"), (gpu(3),), (gpu(3),)),
        on_two("cuda:0", "cpu"),
    ),
    "jvp": (lambda: jvp(lambda x: x * ones(3), (gpu(3),), (gpu(3),)), on_two("cuda:0", "cpu")),
    "jvp, a result": (lambda: jvp(lambda x: (x * 2) * gpu(3), (ones(3),), (ones(3),)), on_two("cuda:0", "cpu")),
    "jacfwd": (lambda: jacfwd(lambda x: x @ ones(3, 2))(gpu(3)), accused("mat2", "cpu", "cuda:0", "mm")),
    "vmap of jacrev": (lambda: vmap(jacrev(lambda x: x * ones(3)))(gpu(2, 3)), on_two("cuda:0", "cpu")),
    "hessian": (lambda: hessian(lambda x: (x * ones(3)).sum())(gpu(3)), on_two("cuda:0", "cpu")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mixed_devices_are_refused_in_what_transforms_wrap(case: str, two_gpus: None) -> None:
    program, text = REFUSED[case]
    with pytest.raises(RuntimeError) as refusal:
        program()
    assert str(refusal.value) == text


def test_what_leaves_a_transform_on_the_cpu_is_a_plain_tensor(two_gpus: None) -> None:
    x = ones(2, 3).requires_grad_()
    doubled = vmap(lambda row: row * 2)(x)
    doubled.sum().backward()
    results = [
        doubled,
        x.grad,
        vmap(lambda x, y: y * 2)(gpu(2, 3), ones(2, 3)),
        *jvp(torch.sin, (ones(3),), (ones(3),)),
        *vjp(vmap(torch.sin), ones(3))[1](ones(3)),
        jacfwd(torch.sin)(ones(3)),
        grad(lambda x: vmap(torch.sin)(x).sum())(ones(3)),
        vmap(lambda x: x.cpu())(gpu(2, 3)),
    ]
    assert {type(result) for result in results} == {torch.Tensor}
    assert x.grad is not None and x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_a_dual_tensor_keeps_its_tangent_on_another_device(two_gpus: None) -> None:
    with forward_ad.dual_level():
        moved = forward_ad.unpack_dual(forward_ad.make_dual(gpu(3), gpu(3)).cpu() * 2)
        assert moved.tangent.device == torch.device("cpu") and moved.tangent.tolist() == [2, 2, 2]


def test_a_tangent_on_the_cpu_meets_its_tensor_on_the_gpu(two_gpus: None) -> None:
    with forward_ad.dual_level(), pytest.raises(RuntimeError) as refusal:
        forward_ad.make_dual(gpu(3), ones(3)).sin()
    assert str(refusal.value) == on_two("cuda:0", "cpu")


def test_torch_get_device_tells_the_gpu_as_the_method_does(two_gpus: None) -> None:
    tensors = [torch.ones(2), torch.ones(2, device="cuda"), torch.ones(2, device="cuda:1")]
    assert [torch.get_device(tensor) for tensor in tensors] == [-1, 0, 1]


def test_batched_gradients_are_held_to_the_device_of_their_tensor(two_gpus: None) -> None:
    x = gpu(3).requires_grad_()
    with pytest.raises(RuntimeError) as refusal:
        torch.autograd.grad(x * 2, x, ones(2, 3), is_grads_batched=True)
    assert str(refusal.value) == "invalid gradient at index 0 - expected device cuda:0 but got cpu"
    jacobian = torch.autograd.functional.jacobian(lambda x: x.cpu() * 2, gpu(3), vectorize=True)
    assert jacobian.device == torch.device("cuda:0") and torch.equal(jacobian.cpu(), 2 * torch.eye(3))


def test_numpy_refuses_what_vmap_has_wrapped(two_gpus: None) -> None:
    with pytest.raises(TypeError) as refusal:
        vmap(lambda x: x.numpy())(gpu(2, 3))
    assert str(refusal.value) == (
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )


@pytest.mark.parametrize("dropout", [F.dropout, F.alpha_dropout, F.feature_alpha_dropout, F.dropout1d])
def test_dropout_makes_its_noise_on_the_gpu_inside_grad(dropout: Any, two_gpus: None) -> None:
    x = torch.ones(4, 3, 5, device=HOME)
    for inplace in (False, True):
        result = grad(lambda x, inplace=inplace: dropout(x * 1, 0.5, True, inplace).sum())(x)
        assert str(result.device) == HOME and {0.0} < set(result.flatten().tolist())
    with pytest.raises(RuntimeError) as refusal:
        grad(lambda x: (dropout(x, 0.5, True) * ones(5)).sum())(x)
    assert str(refusal.value) == on_two(HOME, "cpu")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2, lambda x: x.sin() @ torch.ones(3, 2).to(x.device), lambda x: x.prod(0), lambda x: x.sgn() + x,
        lambda x: F.softsign(x), lambda x: torch.linalg.slogdet(x[:, :3].double())[1], lambda x: x.std(0) + x[0],
        lambda x: F.cosine_similarity(x[0], x[1], dim=0), lambda x: x.var(1), lambda x: x.sgn(),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning")  # on the CPU too
def test_linearize_records_zeros_where_the_tensor_is(function: Any) -> None:
    x = torch.tensor([[0.2, 1.0, 0.5], [1.5, 0.1, 2.0], [0.3, 0.4, 1.1]])
    expected = linearize(function, x)[1](x)
    with simulate_cuda(devices=2):
        value, tangents = linearize(function, x.to(HOME))
        result = tangents(x.to(HOME))
        assert (str(value.device), str(result.device)) == (HOME, HOME)
        torch.testing.assert_close(result.cpu(), expected)


def test_linearize_refuses_a_tensor_that_the_function_makes_on_the_cpu(two_gpus: None) -> None:
    for function in (lambda x: x * torch.ones(3), lambda x: x * torch.ones(3, device="cpu", dtype=x.dtype)):
        with pytest.raises(RuntimeError) as refusal:
            linearize(function, gpu(3))
        assert str(refusal.value) == on_two("cuda:0", "cpu")


def test_a_graph_of_make_fx_makes_zeros_where_the_tensor_is(two_gpus: None) -> None:
    def columns(x: torch.Tensor) -> torch.Tensor:
        return torch.autograd.grad(x.unbind(0)[1].sum() + x.prod(0).sum(), x)[0]

    for function in (columns, grad(lambda x: x[1].sum() + x.prod(0).sum()), jacfwd(lambda x: x.prod(0))):
        graph = make_fx(function)(gpu(2, 3).requires_grad_(function is columns))
        assert str(graph(gpu(2, 3)).device) == "cuda:0"


def test_functionalize_keeps_what_its_function_makes_on_the_gpu(two_gpus: None) -> None:
    result = functionalize(lambda x: (torch.ones(3, device=x.device).add_(x), torch.zeros_like(x)))(gpu(3))
    assert [(str(x.device), x.tolist()) for x in result] == [("cuda:0", [2.0] * 3), ("cuda:0", [0.0] * 3)]


def test_a_tangent_of_zeros_is_where_its_tensor_is(two_gpus: None) -> None:
    x = gpu(3, 3).tril()
    sign, logarithm = jvp(torch.linalg.slogdet, (x,), (x,))[1]
    assert (str(sign.device), str(logarithm.device), str((sign * 2).device)) == ("cuda:0",) * 3
    assert str(jvp(grad(lambda x: (x - 1).abs().sum()), (x,), (x,))[1].device) == "cuda:0"


def test_pinv_with_a_tolerance_that_is_a_number_computes_inside_transforms(two_gpus: None) -> None:
    x = torch.tensor([[2.0, 1.0], [0.5, 3.0]])
    for tolerances in ({"rtol": 1e-3}, {"atol": 1e-3}, {"atol": 1e-3, "rtol": 1e-4}, {}):

        def total(x: torch.Tensor, tolerances: dict[str, float] = tolerances) -> torch.Tensor:
            return torch.linalg.pinv(x, **tolerances).sum()

        expected = grad(total)(x)
        torch.testing.assert_close(grad(total)(x.cuda()).cpu(), expected)
        torch.testing.assert_close(
            jvp(torch.pinverse, (x.cuda(),), (x.cuda(),))[1].cpu(), jvp(torch.pinverse, (x,), (x,))[1]
        )


def test_a_gradient_that_is_wrapped_does_not_go_from_one_gpu_to_another(two_gpus: None) -> None:
    def away(x: torch.Tensor) -> torch.Tensor:
        return x.to("cuda:0").sin()

    for transform, kind in ((grad(lambda x: away(x).sum()), "TensorWrapper"), (jacrev(away), "BatchedTensorImpl")):
        with pytest.raises(NotImplementedError) as refusal:
            transform(gpu(3).to("cuda:1"))
        assert str(refusal.value) == f"Cannot access storage of {kind}"
    # Outside of its transform the gradient is not wrapped, and a CPU in between has no stream.
    x = gpu(3).to("cuda:1")
    assert str(vjp(away, x)[1](gpu(3).to("cuda:0"))[0].device) == "cuda:1"
    assert str(grad(lambda x: x.cpu().to("cuda:0").sum())(x).device) == "cuda:1"


LEVELS: dict[str, Callable[[Any], Any]] = {
    "vmap": lambda ask: vmap(ask)(torch.ones(2)),
    "grad": lambda ask: grad(lambda x: (ask(x), x.sum())[1])(torch.ones(2)),
    "jvp": lambda ask: jvp(ask, (torch.ones(2),), (torch.ones(2),)),
    "functionalize": lambda ask: torch.func.functionalize(ask)(torch.ones(2)),
}


@pytest.mark.parametrize("level", LEVELS)
def test_a_simulation_that_starts_where_tensors_are_wrapped_knows_where_they_are(level: str) -> None:
    seen = []

    def ask(x: torch.Tensor) -> torch.Tensor:
        with simulate_cuda(2):
            seen.append((x.device.type, x.cuda().device.type, x.is_cuda, x.cuda().is_cuda))
        return x

    LEVELS[level](ask)
    assert seen == [("cpu", "cuda", False, True)]


@pytest.mark.parametrize("level", LEVELS)
def test_wrapped_tensors_are_known_from_the_first_level_on(level: str) -> None:
    seen = []

    def ask(x: torch.Tensor) -> torch.Tensor:
        seen.append((str(x.cuda(1).device), x.cuda(1).is_cuda, x.device.type, x.is_cpu))
        return x

    with simulate_cuda(2):
        assert "device" not in vars(torch.Tensor)  # PyTorch's own, which is read faster, serves until then
        LEVELS[level](ask)
    assert seen == [("cuda:1", True, "cpu", True)]
