"""Training as people write it, on one simulated GPU, on two, and in torch's own DataParallel."""

import os
import traceback
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, Dataset, TensorDataset

pytestmark = pytest.mark.usefixtures("two_gpus")


def data() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    x = torch.randn(64, 4)
    return x, x.sum(1, keepdim=True)


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9),
    "SGD foreach": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, foreach=True),
    "Adam": lambda p: torch.optim.Adam(p, 0.01),
    "Adam fused": lambda p: torch.optim.Adam(p, 0.01, fused=True),
    "AdamW": lambda p: torch.optim.AdamW(p, 0.01),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.01),
    "Adagrad": lambda p: torch.optim.Adagrad(p, 0.05),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_loss_falls_by_the_same_numbers_as_on_the_cpu(optimizer: str) -> None:
    def losses(device: str) -> list[float]:
        model = network().to(device)
        steps = OPTIMIZERS[optimizer](model.parameters())
        seen = []
        for x, y in DataLoader(TensorDataset(*data()), batch_size=16):
            loss = F.mse_loss(model(x.to(device)), y.to(device))
            steps.zero_grad()
            loss.backward()
            steps.step()
            seen.append(loss.item())
        return seen

    on_cpu = losses("cpu")
    assert on_cpu[-1] < on_cpu[0]
    assert losses("cuda:1") == on_cpu


def test_an_optimizer_that_stepped_before_the_move_is_refused() -> None:
    model = nn.Linear(2, 2)
    steps = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    steps.step()
    model.cuda()
    assert str(model.weight.grad.device) == "cuda:0"
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        steps.step()


def test_gradients_return_to_where_the_tensor_came_from() -> None:
    w = torch.ones(3, requires_grad=True)
    scale = torch.tensor(2.0, requires_grad=True)
    (w.cuda() * scale).to("cuda:1").sum().backward()
    assert (str(w.grad.device), str(scale.grad.device)) == ("cpu", "cpu")
    assert (w.grad.tolist(), scale.grad.item()) == ([2, 2, 2], 3)


def test_a_model_split_over_two_gpus_trains() -> None:
    first, second = nn.Linear(4, 8).to("cuda:0"), nn.Linear(8, 1).to("cuda:1")
    steps = torch.optim.SGD([*first.parameters(), *second.parameters()], 0.05)
    x, y = data()
    losses = []
    for _ in range(5):
        loss = F.mse_loss(second(first(x.cuda(0)).to("cuda:1")), y.cuda(1))
        steps.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*first.parameters(), *second.parameters()], 1.0)
        steps.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert (str(first.weight.grad.device), str(second.weight.grad.device)) == ("cuda:0", "cuda:1")


class Doubles(torch.autograd.Function):
    """A function of a user's whose backward answers from the wrong device."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
        return torch.ones(3)


GRADIENTS: dict[str, tuple[Callable[[torch.Tensor], object], str]] = {
    "backward(gradient=)": (
        lambda w: (w * 2).backward(gradient=torch.ones(3)),
        "invalid gradient at index 0 - expected device cuda:0 but got cpu",
    ),
    "grad of the cpu": (
        lambda w: setattr(w, "grad", torch.ones(3)),
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'. "
        "Please ensure that the gradient and the tensor are on the same device",
    ),
    "grad of another gpu": (
        lambda w: setattr(w, "grad", torch.ones(3, device="cuda:1")),
        "attempting to assign a gradient located on device with index '\1' to a tensor located on device with index '",
    ),
    "a function's": (
        lambda w: Doubles.apply(w).sum().backward(),
        "Function DoublesBackward returned an invalid gradient at index 0 - expected device cuda:0 but got cpu",
    ),
    "a hook's": (
        lambda w: (w.register_hook(lambda gradient: gradient.cpu()), w.sum().backward()),
        "hook '<lambda>' has changed the type of value (was torch.cuda.FloatTensor got torch.FloatTensor)",
    ),
}


@pytest.mark.parametrize("case", GRADIENTS)
def test_a_gradient_on_another_device_is_refused(case: str) -> None:
    use, text = GRADIENTS[case]
    with pytest.raises(RuntimeError) as refusal:
        use(torch.ones(3, device="cuda", requires_grad=True))
    assert str(refusal.value) == text


def test_data_parallel_trains_and_its_gradients_are_the_cpus() -> None:
    x, y = data()
    alone, parallel = network(), nn.DataParallel(network().cuda(), device_ids=[0, 1])
    for model, target in ((alone, y), (parallel, y.cuda())):
        output = model(x)
        assert output.device == target.device
        F.mse_loss(output, target).backward()
    for mine, theirs in zip(parallel.module.parameters(), alone.parameters(), strict=True):
        assert str(mine.grad.device) == "cuda:0"
        torch.testing.assert_close(mine.grad.cpu(), theirs.grad)


class Scaled(nn.Module):
    """A module with a plain tensor attribute, which .to() does not move and replicas share."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 1)
        self.scale = torch.ones(1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.scale


def test_data_parallel_reports_the_replica_that_failed() -> None:
    model = Scaled().cuda()
    model.scale = model.scale.cuda()
    with pytest.raises(RuntimeError) as refusal:
        nn.DataParallel(model, device_ids=[0, 1])(torch.ones(4, 4))
    lines = str(refusal.value).strip().split("\n")
    assert lines[0] == "Caught RuntimeError in replica 1 on device 1."
    assert lines[-1] == (
        "RuntimeError: Expected all tensors to be on the same device, "
        "but found at least two devices, cuda:1 and cuda:0!"
    )


def test_data_parallel_wants_the_model_on_its_first_gpu() -> None:
    with pytest.raises(RuntimeError) as refusal:
        nn.DataParallel(nn.Linear(4, 1), device_ids=[0, 1])(torch.ones(4, 4))
    assert str(refusal.value) == (
        "module must have its parameters and buffers on device cuda:0 (device_ids[0]) "
        "but found one of them on device: cpu"
    )


def test_data_parallel_cannot_join_outputs_of_different_shapes() -> None:
    class Varying(nn.Module):
        def forward(self, x):
            return x[:, : int(x[0, 0])]

    x = torch.tensor([[3.0] * 4, [2.0] * 4])
    with pytest.raises(RuntimeError) as refusal:
        nn.DataParallel(Varying(), device_ids=[0, 1])(x)
    assert str(refusal.value) == "Input tensor at index 1 has invalid shape [1, 2], but expected [1, 3]"


class OnGPU(Dataset):
    """A dataset whose workers touch the GPU."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.ones(2, device="cuda")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_worker_may_not_touch_a_gpu_that_its_parent_used() -> None:
    torch.zeros(1, device="cuda")
    with pytest.raises(RuntimeError) as refusal:
        list(DataLoader(OnGPU(), num_workers=1, multiprocessing_context="fork"))
    traceback.clear_frames(refusal.tb)  # else the iterator, found as garbage later, waits five seconds for its worker
    assert str(refusal.value).strip().split("\n")[-1] == (
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, "
        "you must use the 'spawn' start method"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_worker_may_use_a_gpu_that_its_parent_only_seeded() -> None:
    torch.manual_seed(0)
    batches = list(DataLoader(OnGPU(), num_workers=1, multiprocessing_context="fork", collate_fn=len))
    assert batches == [1] * 4


def test_workers_and_pinned_memory_work_with_cpu_data() -> None:
    batches = list(DataLoader(TensorDataset(*data()), batch_size=32, num_workers=1, pin_memory=True))
    assert [x.is_pinned() for x, _ in batches] == [True, True]
    assert str(batches[0][0].cuda(non_blocking=True).device) == "cuda:0"


def test_shuffling_under_a_default_gpu_is_refused() -> None:
    with torch.device("cuda"), pytest.raises(RuntimeError) as refusal:
        list(DataLoader(list(range(4)), shuffle=True))
    assert str(refusal.value) == "Expected a 'cuda' device type for generator but found 'cpu'"


def test_each_device_draws_its_own_random_numbers() -> None:
    torch.manual_seed(0)
    alone = torch.randn(2)
    torch.manual_seed(0)
    on_gpu = torch.randn(3, device="cuda")
    assert torch.equal(torch.randn(2), alone)
    torch.cuda.manual_seed(0)
    assert torch.equal(torch.randn(3, device="cuda"), on_gpu)
    state = torch.cuda.get_rng_state()
    first = torch.rand(2, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.rand(2, device="cuda"), first)


def test_a_gradient_scaler_steps() -> None:
    model, x = nn.Linear(4, 1).cuda(), torch.randn(8, 4).cuda()
    before = model.weight.detach().clone()
    steps, scaler = torch.optim.SGD(model.parameters(), 0.1), torch.amp.GradScaler("cuda")
    scaler.scale(model(x).square().mean()).backward()
    scaler.step(steps)
    scaler.update()
    assert not torch.equal(model.weight, before)


def test_recurrent_and_attention_layers_train() -> None:
    x = torch.randn(3, 2, 8).cuda()
    for model in (nn.LSTM(8, 8).cuda(), nn.TransformerEncoderLayer(8, 2).cuda()):
        output = model(x)
        (output[0] if isinstance(output, tuple) else output).sum().backward()
        assert {str(p.grad.device) for p in model.parameters()} == {"cuda:0"}


def test_packed_sequences_come_back_on_the_gpu_with_their_lengths_on_the_cpu() -> None:
    x = torch.randn(3, 2, 4).cuda().requires_grad_()
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([3, 2]))
    padded, lengths = nn.utils.rnn.pad_packed_sequence(nn.LSTM(4, 5).cuda()(packed)[0])
    padded.sum().backward()
    assert [str(t.device) for t in (packed.data, packed.batch_sizes, padded, lengths, x.grad)] == [
        "cuda:0", "cpu", "cuda:0", "cpu", "cuda:0",
    ]  # fmt: skip


def test_torch_cuda_and_torch_accelerator_agree() -> None:
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert (torch.accelerator.device_count(), torch.accelerator.is_available()) == (2, True)
    with torch.cuda.device(1):
        assert torch.accelerator.current_device_index() == 1
    held = torch.zeros(1000, device="cuda:1")
    assert torch.cuda.memory_allocated(1) >= held.nbytes
    assert torch.cuda.get_device_properties(0).name == torch.cuda.get_device_name(1)
