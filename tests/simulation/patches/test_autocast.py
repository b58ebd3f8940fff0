"""torch.autocast("cuda") casts on a simulated GPU as on a real one, and a gradient scaler has what to scale."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.testing._internal.autocast_test_lists import AutocastTestLists
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from samedevice import simulate_cuda
from samedevice.simulation import state
from samedevice.simulation.patches import autocast

pytestmark = pytest.mark.usefixtures("two_gpus")
HALF, FLOAT = torch.float16, torch.float32


def end_autocast() -> None:
    """Take away autocast's kernels, as the end of a simulation does."""
    while state.now.autocast_types:
        state.now.autocast_types.pop()
        state.now.libraries.pop()._destroy()
    autocast.stop()


def dtypes(result: Any) -> list[torch.dtype]:
    return [tensor.dtype for tensor in ([result] if isinstance(result, torch.Tensor) else result)]


# The lists by which PyTorch tests autocast on CUDA (test/test_cuda.py), with the dtype that each must give.
EXPECTED = {
    "torch_fp16": HALF, "nn_fp16": HALF, "linalg_fp16": HALF, "methods_fp16": HALF, "torch_fp32": FLOAT,
    "nn_fp32": FLOAT, "methods_fp32": FLOAT, "torch_need_autocast_promote": FLOAT,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using torch.cross without", "ignore:torch.chain_matmul is deprecated")
@pytest.mark.parametrize("group", EXPECTED)
def test_every_operator_of_pytorchs_lists_is_cast_as_on_cuda(group: str) -> None:
    wrong = []
    for name, args, *options in getattr(AutocastTestLists("cuda"), group):
        if name.startswith("cudnn_") or name == "einsum":
            continue  # there is no cuDNN here to call by name; PyTorch's own test leaves einsum out
        if group.startswith("methods"):
            call = getattr(args[0], name)
            args = args[1:]
        else:
            places = (torch._C._nn,) if group.startswith("nn") else (torch, F, torch._C._nn, torch._C._linalg)
            call = next(getattr(place, name) for place in places if hasattr(place, name))
        with torch.autocast("cuda"):
            result = call(*args, **next((o for o in options if isinstance(o, dict)), {}))
        if set(dtypes(result)) != {EXPECTED[group]}:
            wrong.append((name, dtypes(result)))
    assert not wrong


def test_half_precision_rounds_what_float32_computes() -> None:
    x, weight = torch.randn(16, 32, device="cuda"), torch.randn(8, 32, device="cuda")
    with torch.autocast("cuda"):
        result = F.linear(x, weight)
    assert not torch.equal(result.float(), F.linear(x, weight))
    torch.testing.assert_close(result.float(), F.linear(x, weight), rtol=1e-2, atol=1e-2)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2)).cuda()


def test_gradients_come_back_in_the_dtype_of_the_parameters() -> None:
    model, x = network(), torch.randn(3, 4, device="cuda")
    with torch.autocast("cuda"):
        output = model(x)
        loss = F.cross_entropy(output, torch.tensor([0, 1, 0], device="cuda"))
    loss.backward()
    assert (output.dtype, loss.dtype) == (HALF, FLOAT)
    assert {p.grad.dtype for p in model.parameters()} == {FLOAT}


def test_regions_nest_and_end() -> None:
    x = torch.ones(2, 2, device="cuda")
    with torch.autocast("cuda"):
        with torch.autocast("cuda", enabled=False):
            assert (x @ x).dtype == FLOAT
            assert not torch.is_autocast_enabled("cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            assert (x @ x).dtype == torch.get_autocast_dtype("cuda") == torch.bfloat16
        assert (x @ x).dtype == HALF
        assert torch.is_autocast_enabled("cuda")
    assert (x @ x).dtype == FLOAT
    assert not torch.is_autocast_enabled()


def test_autocast_is_also_a_decorator_and_has_deprecated_names() -> None:
    x = torch.ones(2, 2, device="cuda")
    assert torch.autocast("cuda")(torch.mm)(x, x).dtype == HALF
    with pytest.warns(FutureWarning, match="torch.cuda.amp.autocast"), torch.cuda.amp.autocast():
        assert (x @ x).dtype == HALF


def test_only_tensors_on_a_gpu_are_cast() -> None:
    on_cpu, on_gpu = torch.ones(2, 2), torch.ones(2, 2, device="cuda")
    with torch.autocast("cuda"):
        assert (on_cpu @ on_cpu).dtype == FLOAT
        assert on_cpu.half().sum().dtype == HALF
        assert F.binary_cross_entropy(on_cpu, on_cpu).dtype == FLOAT
        assert (on_gpu.double() @ on_gpu.double()).dtype == torch.float64


def test_autocast_of_the_cpu_leaves_the_gpu_alone() -> None:
    on_cpu, on_gpu = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, device="cuda")
    with torch.autocast("cpu"):
        assert (on_cpu @ on_cpu).dtype == torch.bfloat16
        assert (on_gpu @ on_gpu).dtype == FLOAT
        assert nn.RNN(2, 2)(on_cpu)[0].dtype == torch.bfloat16
        with torch.autocast("cuda"):
            assert (on_gpu @ on_gpu).dtype == HALF
        assert torch.cat([on_cpu, on_cpu.bfloat16()]).dtype == FLOAT
        result = F.linear(on_cpu, on_cpu)
    result.sum().backward()
    assert on_cpu.grad.dtype == FLOAT


def lstm_on_the_cpu() -> torch.dtype | str:
    """The dtype that an LSTM gives under the CPU's autocast, or its error: oneDNN has none for many CPUs."""
    try:
        with torch.autocast("cpu"):
            return nn.LSTM(2, 2)(torch.ones(2, 2))[0].dtype
    except RuntimeError as error:
        return str(error)


@pytest.fixture(scope="module")
def lstm_without_simulation() -> torch.dtype | str:
    return lstm_on_the_cpu()  # of wider scope than `two_gpus`, so before it


def test_an_lstm_under_autocast_of_the_cpu_does_what_it_does_without_a_simulation(
    lstm_without_simulation: torch.dtype | str,
) -> None:
    assert lstm_on_the_cpu() == lstm_without_simulation


def test_autocast_belongs_to_the_thread() -> None:
    x, seen = torch.ones(2, 2, device="cuda"), []

    def multiply() -> None:
        seen.append((x @ x).dtype)
        with torch.autocast("cuda"):
            seen.append((x @ x).dtype)

    with torch.autocast("cuda"):
        thread = threading.Thread(target=multiply)
        thread.start()
        thread.join()
    assert seen == [FLOAT, HALF]


def test_binary_cross_entropy_is_refused_in_pytorchs_words() -> None:
    x = torch.full((2,), 0.5)
    with torch.autocast("cuda"), pytest.raises(RuntimeError) as refusal:
        F.binary_cross_entropy(x.cuda(), x.cuda())
    ours = str(refusal.value)
    end_autocast()  # PyTorch's own kernel is there again
    with torch._C._IncludeDispatchKeyGuard(torch._C.DispatchKey.AutocastCUDA), torch.autocast("cuda"):
        end_autocast()
        torch._C._dispatch_tls_set_dispatch_key_included("AutocastCUDA", True)
        with pytest.raises(RuntimeError) as refusal:
            F.binary_cross_entropy(x, x)
    assert ours == str(refusal.value)


def test_a_dtype_that_autocast_cannot_promote_is_refused() -> None:
    x = torch.ones(2, device="cuda")
    with torch.autocast("cuda"), pytest.raises(RuntimeError) as refusal:
        torch.dot(x.bfloat16(), x.bfloat16())
    assert str(refusal.value) == "Unexpected floating ScalarType in at::autocast::prioritize"


def test_a_parameter_is_cast_once_in_a_region() -> None:
    weight, x = torch.ones(2, 2, device="cuda", requires_grad=True), torch.ones(2, 2, device="cuda")
    with torch.autocast("cuda"):
        first, second = x @ weight, x @ weight
    assert first.grad_fn.next_functions[1][0] is second.grad_fn.next_functions[1][0]
    with torch.autocast("cuda", cache_enabled=False):
        first, second = x @ weight, x @ weight
    assert first.grad_fn.next_functions[1][0] is not second.grad_fn.next_functions[1][0]
    with torch.no_grad():
        weight.fill_(3.0)
    with torch.autocast("cuda"):
        assert (x @ weight)[0, 0].item() == 6


def test_a_cast_without_gradient_is_not_kept_for_later() -> None:
    weight, x = torch.ones(2, 2, device="cuda", requires_grad=True), torch.ones(2, 2, device="cuda")
    with torch.autocast("cuda"):
        with torch.no_grad():
            assert not (x @ weight).requires_grad
        assert (x @ weight).requires_grad


LAYERS: dict[str, Callable[[], tuple[nn.Module, tuple[Any, ...]]]] = {
    "lstm": lambda: (nn.LSTM(8, 8, batch_first=True), (torch.randn(2, 3, 8),)),
    "gru": lambda: (nn.GRU(8, 8), (torch.randn(2, 3, 8),)),
    "rnn": lambda: (nn.RNN(8, 8), (torch.randn(2, 3, 8),)),
    "conv": lambda: (nn.Conv2d(3, 4, 3), (torch.randn(2, 3, 8, 8),)),
    "transposed conv": lambda: (nn.ConvTranspose1d(3, 4, 3), (torch.randn(2, 3, 8),)),
    "attention": lambda: (nn.MultiheadAttention(8, 2), (torch.randn(3, 2, 8),) * 3),
    "bilinear": lambda: (nn.Bilinear(8, 8, 4), (torch.randn(2, 8), torch.randn(2, 8))),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_compute_in_half_precision_and_train_in_float32(layer: str) -> None:
    module, inputs = LAYERS[layer]()
    module = module.cuda()
    with torch.autocast("cuda"):
        output = module(*(x.cuda() for x in inputs))
    output = output[0] if isinstance(output, tuple) else output
    assert output.dtype == (FLOAT if layer == "bilinear" else HALF)
    output.float().sum().backward()
    assert {(p.grad.dtype, str(p.grad.device)) for p in module.parameters()} == {(FLOAT, "cuda:0")}


def test_a_transformer_layer_ends_with_the_float32_of_its_norm() -> None:
    layer, x = nn.TransformerEncoderLayer(8, 2, batch_first=True).cuda(), torch.randn(2, 3, 8).cuda()
    with torch.autocast("cuda"):
        assert layer(x).dtype == FLOAT
        assert F.scaled_dot_product_attention(x, x, x).dtype == HALF
        assert torch.einsum("bij,bkj->bik", x, x).dtype == HALF


class Squared(torch.autograd.Function):
    """A function of a user's, which asks to compute in float32."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        assert not torch.is_autocast_enabled("cuda")
        return x @ x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        assert (ctx.saved_tensors[0] @ gradient).dtype == gradient.dtype == FLOAT
        return gradient


def test_a_function_with_custom_fwd_is_given_the_dtype_it_asks_for() -> None:
    x = torch.ones(2, 2, device="cuda", requires_grad=True)
    with torch.autocast("cuda"):
        result = Squared.apply(x.half())
    assert result.dtype == FLOAT
    result.sum().backward()
    assert x.grad.dtype == FLOAT


def test_a_checkpoint_is_recomputed_in_the_dtypes_of_its_forward() -> None:
    model, x, seen = network(), torch.randn(3, 4, device="cuda"), []

    def forward(x: torch.Tensor) -> torch.Tensor:
        hidden = model[0](x)
        seen.append(hidden.dtype)
        return model[1:](hidden)

    with torch.autocast("cuda"):
        output = checkpoint(forward, x, use_reentrant=False)
    output.float().sum().backward()
    assert seen == [HALF, HALF]


def test_data_parallel_replicas_autocast_in_their_threads() -> None:
    class Checked(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            assert super().forward(x).dtype == HALF
            return super().forward(x)

    model = nn.DataParallel(Checked(4, 2).cuda())
    with torch.autocast("cuda"):
        assert model(torch.randn(4, 4).cuda()).dtype == HALF


def test_a_gradient_scaler_skips_a_step_with_infinities_and_backs_off() -> None:
    weight = torch.ones(2, device="cuda:1", requires_grad=True)
    steps = torch.optim.SGD([weight], 0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=4.0, growth_interval=1)
    scaler.scale((weight * float("inf")).sum()).backward()
    scaler.step(steps)
    scaler.update()
    assert (weight.tolist(), scaler.get_scale()) == ([1, 1], 2.0)
    steps.zero_grad()
    scaler.scale(weight.sum()).backward()
    assert weight.grad.tolist() == [2, 2]
    scaler.unscale_(steps)
    assert weight.grad.tolist() == [1, 1]
    scaler.step(steps)
    scaler.update()
    assert (weight.tolist(), scaler.get_scale()) == (pytest.approx([0.9, 0.9]), 4.0)


def test_mixed_precision_training_lowers_the_loss() -> None:
    model, x = network(), torch.randn(32, 4, device="cuda")
    target = (x.sum(1) > 0).long()
    steps, scaler = torch.optim.Adam(model.parameters(), 0.05), torch.amp.GradScaler("cuda")
    losses = []
    for _ in range(10):
        steps.zero_grad()
        with torch.autocast("cuda"):
            loss = F.cross_entropy(model(x), target)
        scaler.scale(loss).backward()
        scaler.unscale_(steps)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(steps)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert scaler.get_scale() == 65536


def test_nothing_of_autocast_is_left_when_the_simulation_has_ended() -> None:
    def standing() -> str:
        return torch._C._dispatch_dump("aten::mm")

    with simulate_cuda():
        pass
    before = standing()
    x = torch.ones(2, 2, device="cuda")
    with torch.autocast("cuda"):
        x @ x
        assert standing() != before
    end_autocast()
    assert standing() == before
    assert not torch._C._dispatch_tls_is_dispatch_key_included("AutocastCUDA")


class CountsCasts(TorchDispatchMode):
    """Count the casts that happen inside."""

    casts = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.casts += func is torch.ops.aten._to_copy.default
        return func(*args, **(kwargs or {}))


def test_a_parameter_is_cast_once_whatever_the_grad_mode(two_gpus: None) -> None:
    weight = torch.ones(3, 3, device="cuda", requires_grad=True)
    x = torch.ones(3, 3, device="cuda", dtype=torch.float16)
    with torch.autocast("cuda"), CountsCasts() as mode:
        with torch.no_grad():
            x @ weight
            x @ weight
        x @ weight
    assert mode.casts == 1
    with torch.autocast("cuda", cache_enabled=False), CountsCasts() as mode:
        x @ weight
        x @ weight
    assert mode.casts == 2


def test_jagged_nested_tensors_on_a_gpu_are_cast_too() -> None:
    def made(device: str) -> torch.Tensor:
        offsets = torch.tensor([0, 2, 6], device=device)
        jagged = torch.nested.nested_tensor_from_jagged(torch.ones(6, 3, device=device), offsets)
        with torch.autocast("cuda"):
            return nn.Linear(3, 2).to(device)(jagged)

    assert made("cuda").dtype is HALF and made("cpu").dtype is FLOAT
