"""Operators that PyTorch composes in C++, where what they make inside decides what their gradients meet."""

import itertools

import pytest
import torch
from torch.nn import functional as F  # noqa: N812
from torch.utils import _python_dispatch

PLACES = ("cpu", "cuda:0", "cuda:1")


@pytest.mark.parametrize(("targets", "lengths"), list(itertools.product(PLACES, PLACES)))
def test_ctc_loss_takes_targets_and_lengths_from_anywhere_and_has_the_cpus_gradient(
    two_gpus: None, targets: str, lengths: str
) -> None:
    x = torch.linspace(-1, 1, 40).reshape(5, 2, 4).log_softmax(2)
    labels = torch.tensor([[1, 2], [3, 1]])
    sizes = [torch.tensor([5, 4]), torch.tensor([2, 1])]
    expected = x.detach().requires_grad_()
    F.ctc_loss(expected, labels, *sizes).backward()
    for given in (sizes, [size.to(lengths) for size in sizes], [size.tolist() for size in sizes]):
        found = x.to("cuda:0").requires_grad_()
        loss = F.ctc_loss(found, labels.to(targets), *given)
        loss.backward()
        assert (str(loss.device), str(found.grad.device)) == ("cuda:0", "cuda:0")
        torch.testing.assert_close(found.grad.cpu(), expected.grad)


@pytest.mark.parametrize("lengths", PLACES)
def test_ctc_loss_of_an_unbatched_input_takes_lengths_of_no_dimension(two_gpus: None, lengths: str) -> None:
    x, labels = torch.linspace(-1, 1, 20).reshape(5, 4).log_softmax(1), torch.tensor([1, 2])
    sizes = torch.tensor(5), torch.tensor(2)
    expected, found = x.detach().requires_grad_(), x.cuda().requires_grad_()
    F.ctc_loss(expected, labels, *sizes).backward()
    F.ctc_loss(found, labels.cuda(), *(size.to(lengths) for size in sizes)).backward()
    assert found.grad is not None
    assert torch.equal(found.grad.cpu(), expected.grad)  # type: ignore[arg-type]


def test_ctc_loss_refuses_lengths_that_are_no_integers(two_gpus: None) -> None:
    x, labels = torch.zeros(5, 2, 4, device="cuda"), torch.ones(2, 2, dtype=torch.long)
    with pytest.raises(RuntimeError, match=r"^target_lengths must be integral$"):
        F.ctc_loss(x, labels, torch.tensor([5, 4]), torch.tensor([2.0, 1.0]))


def test_a_composed_operator_leaves_pytorchs_flag_for_modes_alone(two_gpus: None) -> None:
    flags = []

    def pack(x: torch.Tensor) -> torch.Tensor:
        flags.append(_python_dispatch.is_in_torch_dispatch_mode())
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        F.cosine_similarity(torch.ones(2, 2, device="cuda", requires_grad=True), torch.ones(2, 2, device="cuda"))
    assert flags
    assert not any(flags)


@pytest.mark.parametrize(
    ("classes", "number", "text"),
    [
        ([], -1, "Can not infer total number of classes from empty tensor."),
        ([], 0, "Can not infer total number of classes from empty tensor."),
        ([0, 1], -2, "num_classes should be positive"),
        ([0, 5], 3, "index 5 is out of bounds for dimension 1 with size 3"),
    ],
)
def test_one_hot_refuses_classes_that_it_has_no_place_for(
    two_gpus: None, classes: list[int], number: int, text: str
) -> None:
    with pytest.raises(RuntimeError) as refusal:
        F.one_hot(torch.tensor(classes, device="cuda", dtype=torch.long), number)
    assert str(refusal.value) == text


def test_one_hot_makes_its_result_on_the_gpu_of_the_classes(two_gpus: None) -> None:
    for number in (3, -1):
        made = F.one_hot(torch.tensor([2, 0], device="cuda:1"), number)
        assert (str(made.device), made.tolist()) == ("cuda:1", [[0, 0, 1], [1, 0, 0]])
    assert F.one_hot(torch.tensor([], device="cuda", dtype=torch.long), 3).shape == (0, 3)
    classes = torch.tensor([2, 0], device="cuda")
    assert torch.vmap(lambda x: F.one_hot(x, 3))(classes).tolist() == [[0, 0, 1], [1, 0, 0]]
