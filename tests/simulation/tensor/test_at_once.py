"""Numbers read and elements written in one go: what is computed and said is what the operators, one by one, would."""

import warnings
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from samedevice import simulate_cuda

pytestmark = pytest.mark.usefixtures("two_gpus")

PLACES: list[Any] = [0, -1, slice(1, 3), (0, 1), (..., 1), (slice(None), 2), (None, 1)]


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "cpu"])
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_view_is_written_to_from_anywhere(place: Any, device: str) -> None:
    for target in ("cuda", "cpu"):
        for value in (2, 2.5, True, torch.tensor(3), torch.tensor(3.5)):
            x, expected = torch.zeros(3, 4, device=target), torch.zeros(3, 4)
            x[place] = value.to(device) if isinstance(value, torch.Tensor) else value
            expected[place] = value
            assert x.cpu().equal(expected) and x.device.type == target


class Seen(TorchDispatchMode):
    """Notes the operators."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_every_operator() -> None:
    x = torch.zeros(2, 3, device="cuda")
    row = torch.ones(3, device="cuda")
    with Seen() as seen:
        x[0] = row
        x[0, 0].item()
    wanted = ["select.int", "copy_.default", "select.int", "select.int", "_local_scalar_dense.default"]
    assert seen.names == [f"aten.{name}" for name in wanted]


def test_the_cpu_waits_for_a_number() -> None:
    x = torch.zeros(2, device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that this is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        for read in (lambda: x[0].item(), lambda: float(x[0]), lambda: int(x[0]), lambda: bool(x[0])):
            with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
                read()
        with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
            x[0] = torch.ones(1)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_numbers_are_those_of_the_cpu() -> None:
    for number in (2, 2.5, True, 3 + 4j):
        plain = torch.tensor(number)
        on_gpu = plain.cuda()
        assert on_gpu.item() == plain.item() and type(on_gpu.item()) is type(plain.item())
        if not plain.is_complex():
            assert (float(on_gpu), int(on_gpu), bool(on_gpu)) == (float(plain), int(plain), bool(plain))
    for call in (lambda x: x.item(), float, int, bool, lambda x: x.item(1)):
        texts = []
        for device in ("cpu", "cuda"):
            with pytest.raises((RuntimeError, TypeError, ValueError)) as refusal:
                call(torch.ones(2, device=device))
            texts.append((type(refusal.value), str(refusal.value)))
        assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("place", "value"), [(5, 1.0), (0, torch.ones(5)), (0, torch.ones(2, 3)), (0, 1j), ((0, 0, 0), 1.0), (0, "a")]
)
def test_what_does_not_fit_is_refused_and_writes_nothing(place: Any, value: Any) -> None:
    errors = []
    for device in ("cpu", "cuda"):
        x = torch.zeros(2, 3, device=device)
        with pytest.raises((IndexError, RuntimeError, TypeError, ValueError)) as refusal:
            x[place] = value
        errors.append((type(refusal.value), str(refusal.value).replace("torch.cuda.", "torch.")))
        assert not x.any()
    assert errors[0] == errors[1]


def test_autograd_knows_what_was_written() -> None:
    x = torch.ones(2, 3, device="cuda", requires_grad=True)
    y = x * 2
    saved = y.exp()
    y[0] = torch.ones(3)
    y[1] = 3 * x[1]
    (y.sum() + saved.sum()).backward()
    assert x.grad is not None and x.grad[1].allclose(3 + 2 * saved[1])
    z = (x * 2).detach()
    product = x * z
    z[0] = 5.0  # which counts its version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        x[0] = 1.0
    with torch.no_grad():
        x[0] = torch.full((3,), 7.0)
    assert x[0].tolist() == [7.0] * 3


def test_a_gpu_that_is_no_more_can_be_read_but_not_written_to(two_gpus: None) -> None:
    from samedevice.simulation import state

    x = torch.ones(1, device="cuda:1")
    state.now.present.discard(x.device)
    assert x.item() == float(x) == 1.0
    with pytest.raises(RuntimeError, match=r"this tensor is on cuda:1 of a simulated CUDA"):
        x[0] = 2.0


class Own(torch.Tensor):
    """A class that reads its numbers itself."""

    def item(self) -> Any:
        return "its own"

    def __float__(self) -> float:
        return 7.0


def test_a_class_may_read_its_numbers_itself() -> None:
    x = torch.ones(()).as_subclass(Own).cuda()
    assert (x.item(), float(x), int(x)) == ("its own", 7.0, 1)


def test_when_the_simulation_has_ended_a_number_can_be_read() -> None:
    with simulate_cuda(2):
        x = torch.ones(1, device="cuda")
    assert (x.item(), float(x), bool(x)) == (1.0, 1.0, True)
