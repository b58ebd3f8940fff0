"""A tensor that outlives its simulation: it can be looked at and brought back, and to compute with it is refused."""

import pickle
from typing import Any

import pytest
import torch

from samedevice import simulate_cuda


@pytest.fixture
def left_over() -> Any:
    """A tensor of cuda:1, whose simulation has ended."""
    with simulate_cuda(devices=2):
        return torch.arange(3.0, device="cuda:1")


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + 1,
        lambda x: torch.ones(3) + x,
        lambda x: x.add_(1),
        lambda x: torch.zeros(3).copy_(x),
        lambda x: x[0],
        lambda x: x.clone(),
        lambda x: torch.stack([x, torch.ones(3)]),
        lambda x: torch.zeros_like(x),
        lambda x: x.double(),
        lambda x: torch.cov(x),
        lambda x: torch.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
    ],
)
def test_computing_with_a_tensor_that_is_left_over_says_in_one_sentence_what_to_do(left_over: Any, use: Any) -> None:
    with pytest.raises(RuntimeError) as refusal:
        use(left_over)
    assert str(refusal.value) == (
        "this tensor is on cuda:1 of a simulated CUDA, but the simulation has ended: bring it back with .cpu(), "
        "or compute with it inside simulate_cuda(devices=2)"
    )


def test_moving_a_tensor_that_is_left_over_to_a_gpu_says_that_there_is_none(left_over: Any) -> None:
    for move in (lambda: left_over.cuda(), lambda: left_over.to("cuda:0")):
        with pytest.raises(
            RuntimeError, match="the simulated CUDA has ended, and its GPUs with it: compute on the CPU"
        ):
            move()


def test_a_tensor_that_is_left_over_can_be_looked_at_and_brought_back(left_over: Any) -> None:
    expected = torch.arange(3.0)
    assert repr(left_over) == "tensor([0., 1., 2.], device='cuda:1')"
    assert left_over.device == torch.device("cuda:1") and left_over.is_cuda
    assert left_over.tolist() == [0.0, 1.0, 2.0]
    assert left_over.numpy(force=True).tolist() == [0.0, 1.0, 2.0]
    for back in (left_over.cpu(), left_over.to("cpu"), left_over.detach().cpu(), left_over.to(expected)):
        assert type(back) is torch.Tensor and torch.equal(back, expected)
    assert torch.equal(pickle.loads(pickle.dumps(left_over)), expected)
    with simulate_cuda(devices=1):
        number = torch.tensor(2, device="cuda")
    assert (number.item(), float(number), f"{number:.1f}", [1, 2, 3][number], bool(number)) == (2, 2.0, "2.0", 3, True)


def test_a_module_that_is_left_over_can_be_brought_back_with_its_gradients() -> None:
    with simulate_cuda(devices=1):
        module = torch.nn.Linear(2, 2).cuda()
        weight = module.weight
        module(torch.ones(1, 2, device="cuda")).sum().backward()
        loss = module(torch.ones(1, 2, device="cuda")).sum()
    for use in (loss.backward, lambda: module(torch.ones(1, 2))):
        with pytest.raises(RuntimeError, match="has ended"):
            use()
    module.cpu()
    assert module.weight is weight and type(weight) is torch.nn.Parameter
    module(torch.ones(1, 2)).sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_tensor_that_is_left_over_works_in_a_later_simulation_that_has_its_gpu(left_over: Any) -> None:
    with simulate_cuda(devices=1):
        with pytest.raises(RuntimeError, match=r"the simulation that is running has 1 GPU\(s\).*devices=2\)$"):
            left_over + 1
        assert left_over.cpu().tolist() == [0.0, 1.0, 2.0]
    with simulate_cuda(devices=3):
        assert str((left_over + torch.ones(3, device="cuda:1")).device) == "cuda:1"


def test_what_stops_a_tensor_from_being_printed_leaves_the_simulation_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    with simulate_cuda(1):
        tensor = torch.arange(4, device="cuda")
        monkeypatch.setattr("torch._tensor_str._vector_str", interrupted)
        with pytest.raises(KeyboardInterrupt):
            repr(tensor)
        monkeypatch.undo()
        assert str(torch.ones(2, device="cuda")[:, None].device) == "cuda:0"
