"""Tensors of a kind that needs more work at each operator: a simulation does that work if one of the kind is there."""

import copy
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch

from samedevice.simulation import simulate_cuda, state

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def nothing_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests left over counts in no simulation here."""
    monkeypatch.setattr(state, "living", weakref.WeakSet())


class Holder(torch.Tensor):
    """A program's class that holds a tensor, and leaves every operator to the others."""

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Any:
        made: Any = torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device=held.device)
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class Kind(NamedTuple):
    """A kind of tensors: how to make one, and what tells that it was known for one."""

    make: Callable[[], torch.Tensor]
    use: Callable[[Any], object]
    answer: str
    latches: str


KINDS = {
    "complex": Kind(
        lambda: torch.tensor([[1 + 2j, 2], [0, 1j]], device="cuda"),
        lambda x: (torch.linalg.pinv(x) @ x).real.round().abs().tolist(),
        "[[1.0, 0.0], [0.0, 1.0]]",
        "complex",
    ),
    "of a rare dtype": Kind(
        lambda: torch.ones(2, device="cuda").to(torch.float8_e4m3fn),
        lambda x: x.abs(),
        "\"abs_cuda\" not implemented for 'Float8_e4m3fn'",
        "rare",
    ),
    "quantized": Kind(
        lambda: torch.quantize_per_tensor(torch.ones(2, device="cuda"), 0.1, 0, torch.quint8),
        lambda x: x == x,
        "Could not run 'aten::eq.Tensor_out' with arguments from the 'QuantizedCUDA' backend.",
        "quantized rare",
    ),
    "of inference mode": Kind(
        torch.inference_mode()(lambda: torch.ones(4, device="cuda")),
        lambda x: x.view(2, 2).add_(1),
        "Inplace update to inference tensor outside InferenceMode is not allowed.",
        "inference",
    ),
    "nested": Kind(
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], device="cuda"),
        lambda x: x.requires_grad_(),
        "samedevice does not simulate gradients of nested tensors on a GPU",
        "layouts nested",
    ),
    "sparse": Kind(
        lambda: torch.eye(2, device="cuda").to_sparse(),
        lambda x: (x @ x).to_dense().tolist(),
        "[[1.0, 0.0], [0.0, 1.0]]",
        "layouts",
    ),
    "jagged": Kind(
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged, device="cuda"),
        lambda x: (x * 2).device,
        "cuda:0",
        "holders",
    ),
    "a holder of tensors": Kind(
        lambda: Holder(torch.ones(2, device="cuda")),
        lambda x: torch.ones(2, device="cuda") * x,
        "unsupported operand type(s) for *: 'Tensor' and 'Holder'",
        "holders",
    ),
}


def answer(use: Callable[[Any], object], tensor: torch.Tensor) -> str:
    try:
        return str(use(tensor))
    except (RuntimeError, TypeError) as error:
        return str(error)


def met() -> str:
    return " ".join(sorted(name for name, value in vars(state.now.met).items() if value))


@pytest.mark.parametrize("kind", KINDS)
def test_a_simulation_meets_a_kind_of_tensors_once_one_is_made(kind: str) -> None:
    make, use, expected, latches = KINDS[kind]
    with simulate_cuda():
        assert (met(), state.now.met_unusual) == ("", False)
        tensor = make()
        assert answer(use, tensor).startswith(expected)
        assert (met(), state.now.met_unusual) == (latches, True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_an_earlier_simulation_met_does_not_slow_the_next(kind: str) -> None:
    with simulate_cuda():
        answer(KINDS[kind].use, KINDS[kind].make())
    with simulate_cuda():
        torch.ones(2, device="cuda") + 1
        assert (met(), state.now.met_unusual) == ("", False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_that_is_left_over_is_still_one_of_its_kind(kind: str) -> None:
    make, use, expected, latches = KINDS[kind]
    with simulate_cuda():
        tensor = make()
    for _ in range(2):
        with simulate_cuda():
            assert (met(), state.now.met_unusual) == (latches, True)
            assert answer(use, tensor).startswith(expected)
    with simulate_cuda():
        pass
    del tensor
    with simulate_cuda():
        assert (met(), state.now.met_unusual) == ("", False)


def given_to(other: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    other.data = tensor
    return other


MADE_OF: dict[str, Callable[[torch.Tensor], object]] = {
    "a view": lambda x: x[:1],
    "a parameter": torch.nn.Parameter,
    "a copy": copy.deepcopy,
    "a copied parameter": lambda x: copy.deepcopy(torch.nn.Parameter(x)),
    "of another class": lambda x: x.as_subclass(torch.nn.Buffer),
    "a tensor that takes its memory": lambda x: given_to(torch.ones(2, device="cuda"), x),
    "a tensor of the CPU that takes its memory": lambda x: given_to(torch.ones(2), x),
    "what a graph has saved": lambda x: (torch.ones(2, device="cuda", requires_grad=True) * x).grad_fn,
}


@pytest.mark.parametrize("case", MADE_OF)
def test_what_is_made_of_a_tensor_is_one_of_its_kind_too(case: str) -> None:
    with simulate_cuda():
        left = MADE_OF[case](torch.ones(2, dtype=torch.complex64, device="cuda"))
    with simulate_cuda():
        assert met() == "complex"
    del left


def test_between_two_simulations_a_tensor_is_one_of_its_kind_too() -> None:
    with simulate_cuda():
        tensor = KINDS["sparse"].make()
    assert tensor.cpu().to_dense().tolist() == [[1, 0], [0, 1]]
    with simulate_cuda():
        assert met() == "layouts"
