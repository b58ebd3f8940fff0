"""Each device draws from its own generator, whose state is a seed and an offset as on CUDA."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, random_split

pytestmark = pytest.mark.usefixtures("two_gpus")


def test_the_state_of_a_gpus_generator_is_its_seed_and_its_offset() -> None:
    torch.cuda.manual_seed_all(5)
    assert torch.cuda.get_rng_state(1).tolist() == [5] + [0] * 15
    assert (torch.cuda.get_rng_state().dtype, torch.cuda.get_rng_state().device.type) == (torch.uint8, "cpu")
    torch.rand(3, device="cuda")
    assert torch.cuda.get_rng_state().tolist() == [5] + [0] * 7 + [4] + [0] * 7
    assert torch.Generator("cuda").manual_seed(-1).initial_seed() == 2**64 - 1


def test_a_state_brings_back_the_numbers_that_followed_it() -> None:
    torch.rand(1, device="cuda")
    one, each = torch.cuda.get_rng_state("cuda:0"), torch.cuda.get_rng_state_all()
    drawn = torch.randn(5, device="cuda")
    torch.cuda.set_rng_state(one)
    assert torch.equal(torch.randn(5, device="cuda"), drawn)
    torch.cuda.set_rng_state_all(each)
    assert torch.equal(torch.randn(5, device="cuda"), drawn)


def test_seeds_reach_every_device_and_drawing_on_one_leaves_the_others_alone() -> None:
    torch.manual_seed(3)
    assert (torch.cuda.initial_seed(), torch.initial_seed()) == (3, 3)
    on_cpu, on_gpu = torch.rand(2), torch.rand(2, device="cuda:1")
    torch.manual_seed(3)
    torch.rand(9, device="cuda:0")
    assert torch.equal(torch.rand(2, device="cuda:1"), on_gpu)
    assert torch.equal(torch.rand(2), on_cpu)
    torch.cuda.manual_seed(4)
    assert (torch.cuda.initial_seed(), torch.initial_seed()) == (4, 3)


def test_numbers_do_not_repeat() -> None:
    torch.manual_seed(0)
    drawn = torch.cat([torch.rand(100, device="cuda") for _ in range(100)])
    assert drawn.unique().numel() > 9900
    assert drawn.mean().item() == pytest.approx(0.5, abs=0.02)
    assert drawn.view(100, 100).corrcoef().fill_diagonal_(0).abs().max() < 0.6


def test_fork_rng_puts_the_gpus_back_too() -> None:
    state = torch.cuda.get_rng_state(1)
    with torch.random.fork_rng(devices=[0, 1]):
        torch.rand(3, device="cuda:1")
    assert torch.equal(torch.cuda.get_rng_state(1), state)


def test_dropout_draws_from_the_generator_of_its_gpu() -> None:
    x = torch.ones(1000, device="cuda")
    torch.manual_seed(0)
    first, on_cpu = F.dropout(x), torch.rand(2)
    torch.cuda.manual_seed(0)
    assert torch.equal(F.dropout(x), first)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(2), on_cpu)


def test_a_generator_that_is_passed_leaves_the_default_one_alone() -> None:
    generator = torch.Generator("cuda:1").manual_seed(7)
    before = torch.cuda.get_rng_state()
    first = torch.rand(3, device="cuda", generator=generator)
    second = torch.empty(3, device="cuda").uniform_(generator=generator)
    assert torch.equal(torch.cuda.get_rng_state(), before)
    assert not torch.equal(first, second)
    assert generator.get_offset() == 8
    generator.set_offset(4)
    assert torch.equal(torch.rand(3, device="cuda", generator=generator), second)
    copy = generator.clone_state()
    assert (copy.device, copy.get_offset()) == (torch.device("cuda:1"), 8)


CPU, GPU = (
    "Expected a 'cpu' device type for generator but found 'cuda'",
    ("Expected a 'cuda' device type for generator but found 'cpu'"),
)
REFUSED: dict[str, tuple[Callable[[torch.Generator], Any], str]] = {
    "rand": (lambda g: torch.rand(3, generator=g), CPU),
    "randperm": (lambda g: torch.randperm(3, generator=g), CPU),
    "normal": (lambda g: torch.normal(torch.ones(3), 1.0, generator=g), CPU),
    "normal_": (lambda g: torch.ones(3).normal_(generator=g), CPU),
    "uniform_": (lambda g: torch.ones(3).uniform_(generator=g), CPU),
    "random_": (lambda g: torch.ones(3).random_(generator=g), CPU),
    "bernoulli": (lambda g: torch.bernoulli(torch.ones(3), generator=g), CPU),
    "bernoulli by name": (lambda g: torch.bernoulli(input=torch.ones(3), generator=g), CPU),
    "multinomial": (lambda g: torch.multinomial(torch.ones(3), 2, generator=g), CPU),
    "init": (lambda g: torch.nn.init.trunc_normal_(torch.ones(3), generator=g), CPU),
    "shuffling": (lambda g: list(DataLoader([1, 2], shuffle=True, generator=g)), CPU),
    "workers' seed": (lambda g: list(DataLoader([1, 2], generator=g)), CPU),
    "random_split": (lambda g: random_split([1, 2], [1, 1], generator=g), CPU),
    "on a gpu": (lambda g: torch.ones(3, device="cuda").normal_(generator=torch.Generator()), GPU),
    "made on a gpu": (lambda g: torch.rand(3, device="cuda", generator=torch.Generator()), GPU),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_generator_of_another_device_type_is_refused(case: str) -> None:
    draw, text = REFUSED[case]
    with pytest.raises(RuntimeError) as refusal:
        draw(torch.Generator("cuda"))
    assert str(refusal.value) == text


UNDRAWN: dict[str, Callable[[str, torch.Generator], Any]] = {
    "rand": lambda device, g: torch.rand(0, device=device, generator=g),
    "randint": lambda device, g: torch.randint(3, (0,), device=device, generator=g),
    "randperm": lambda device, g: torch.randperm(0, device=device, generator=g),
    "normal of a mean": lambda device, g: torch.normal(torch.ones(0, device=device), 1.0, generator=g),
    "normal_": lambda device, g: torch.ones(0, device=device).normal_(generator=g),
    "bernoulli_": lambda device, g: torch.ones(0, device=device).bernoulli_(generator=g),
    "multinomial": lambda device, g: torch.multinomial(torch.ones(0, 3, device=device), 1, generator=g),
}
WRONG: dict[str, tuple[Callable[[str, torch.Generator], Any], str]] = {
    "random_": (
        lambda device, g: torch.ones(3, device=device).random_(5, 2, generator=g),
        "random_ expects 'from' to be less than 'to', but got from=5 >= to=2",
    ),
    "normal": (
        lambda device, g: torch.normal(torch.ones(3, device=device), -1.0, generator=g),
        "normal expects std >= 0.0, but found std -1",
    ),
    "bernoulli_": (
        lambda device, g: torch.ones(3, device=device).bernoulli_(2, generator=g),
        "bernoulli_ expects p to be in [0, 1], but got p=2",
    ),
    "randperm": (
        lambda device, g: torch.randperm(-1, device=device, generator=g),
        "Trying to create tensor with negative dimension -1: [-1]",
    ),
    "multinomial": (
        lambda device, g: torch.multinomial(torch.ones(3, device=device), 5, generator=g),
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    ),
}


@pytest.mark.parametrize(("device", "other"), [("cuda", "cpu"), ("cpu", "cuda")])
def test_a_generator_is_looked_at_where_numbers_are_drawn_and_after_the_other_arguments(
    device: str, other: str
) -> None:
    for name, draw in UNDRAWN.items():
        made = draw(device, torch.Generator(other))
        assert (made.device.type, made.numel()) == (device, 0), name
    for name, (call, text) in WRONG.items():
        with pytest.raises(RuntimeError) as refusal:
            call(device, torch.Generator(other))
        assert str(refusal.value) == text, name


@pytest.mark.parametrize(("device", "other"), [("cuda", "cpu"), ("cpu", "cuda")])
def test_a_tensor_keeps_its_numbers_where_its_generator_is_refused(device: str, other: str) -> None:
    x = torch.ones(3, device=device)
    with pytest.raises(RuntimeError, match="device type for generator"):
        x.uniform_(2, 3, generator=torch.Generator(other))
    assert x.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("wrong", "kind", "text"),
    [
        (torch.zeros(5056, dtype=torch.uint8), RuntimeError, "RNG state is wrong size"),
        (torch.zeros(16), TypeError, "RNG state must be a torch.ByteTensor"),
    ],
)
def test_a_state_that_is_none_is_refused(wrong: torch.Tensor, kind: type[Exception], text: str) -> None:
    for restore in (torch.cuda.set_rng_state, torch.Generator("cuda").set_state):
        with pytest.raises(kind) as refusal:
            restore(wrong)
        assert str(refusal.value) == text
    with pytest.raises(RuntimeError) as refusal:
        torch.Generator("cuda").set_offset(7)
    assert str(refusal.value) == "offset must be a multiple of 4"


def test_a_generator_is_pickled_with_its_device_and_state() -> None:
    generator = torch.Generator("cuda:1").manual_seed(3)
    torch.rand(2, device="cuda:1", generator=generator)
    loaded = pickle.loads(pickle.dumps(generator))
    assert (str(loaded.device), loaded.initial_seed(), loaded.get_offset()) == ("cuda:1", 3, generator.get_offset())
    expected = torch.rand(2, device="cuda:1", generator=generator)
    assert torch.equal(torch.rand(2, device="cuda:1", generator=loaded), expected)
