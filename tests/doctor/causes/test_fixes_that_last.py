"""A fix changes the thing and no copy of it: what a line writes to stays where it is, and what it reads is moved."""

import pytest
import torch

from samedevice import explain, simulate_cuda


def blend(averages, weights):
    for average, weight in zip(averages, weights, strict=True):
        average.lerp_(weight * 2, 0.1)


def subtract(averages, weights):
    for average, weight in zip(averages, weights, strict=True):
        average.add_(weight - average, alpha=0.1)


class Maps:
    def __init__(self):
        self.maps = {"a": torch.zeros(2)}

    def hook(self, name):
        def keep(x):
            self.maps[name].mul_(0.9).add_(x, alpha=0.1)

        return keep


def share(parameters, others):
    for parameter, other in zip(parameters, others, strict=True):
        other.grad = parameter.grad


def to_numpy(x, scale):
    return (x * scale).sum(dim=0).numpy()


def edits_of(function, *arguments):
    with pytest.raises((RuntimeError, TypeError)) as raised:
        function(*arguments)
    culprit = explain(raised.value).culprits[0]
    return [(edit.action, edit.text) for edit in culprit.edits]


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (blend, "average.lerp_((weight * 2).to(average.device), 0.1)"),
        (subtract, "average.add_(weight.to(average.device) - average, alpha=0.1)"),
    ],
)
def test_what_is_read_comes_to_the_element_of_a_list_that_is_written_to(function, line):
    with simulate_cuda():
        edits = edits_of(function, [torch.zeros(2)], [torch.ones(2, device="cuda")])
    assert edits == [("replace", line)]


def add_products(totals, x, scale):
    for total in totals:
        total.add_(x * scale)


def test_all_that_is_computed_for_the_writing_comes_there_as_a_whole():
    with simulate_cuda():
        x = torch.ones(2, device="cuda")
        edits = edits_of(add_products, [torch.zeros(2)], x, x)
    assert edits == [("replace", "total.add_((x * scale).to(total.device))")]


def add_up(tensors, device):
    total = torch.zeros(2, device=device)
    for tensor in tensors:
        total += tensor.exp()


def test_a_total_stays_on_the_gpu_that_the_program_has_named():
    with simulate_cuda(2):
        edits = edits_of(add_up, [torch.ones(2, device="cuda:1")], torch.device("cuda:0"))
    assert edits == [("replace", "total += tensor.exp().to(total.device)")]


def hooked(gradient):
    keep = torch.ones(2)
    hook = lambda grad, keep=keep: grad * keep  # noqa: E731
    hook(gradient)


def test_the_default_of_a_lambda_knows_none_of_its_names():
    with simulate_cuda():
        ((_, text),) = edits_of(hooked, torch.ones(2, device="cuda"))
    assert text.startswith("hook = lambda grad, keep=keep: grad * keep.to(grad.device)")


def restore(checkpoint):
    torch.set_rng_state(checkpoint["rng"])


def test_a_random_state_on_a_gpu_comes_back_to_the_cpu():
    with simulate_cuda():
        edits = edits_of(restore, {"rng": torch.get_rng_state().to("cuda")})
    assert edits == [("replace", 'torch.set_rng_state(checkpoint["rng"].cpu())')]


def test_what_is_written_to_is_moved_where_it_is_kept():
    with simulate_cuda():
        edits = edits_of(Maps().hook("a"), torch.ones(2, device="cuda"))
    assert edits == [("before", "self.maps[name] = self.maps[name].to(x.device)")]


def test_the_gradient_is_moved_and_not_a_copy_of_its_parameter():
    with simulate_cuda(2):
        here, there = (torch.ones(2, device=f"cuda:{index}", requires_grad=True) for index in (0, 1))
        there.sum().backward()
        edits = edits_of(share, [there], [here])
    assert edits == [("replace", "other.grad = parameter.grad.to(other.device)")]


def test_the_result_is_copied_that_numpy_refuses():
    with simulate_cuda():
        x = torch.ones(2, device="cuda")
        edits = edits_of(to_numpy, x, x)
    assert edits == [("replace", "return (x * scale).sum(dim=0).cpu().numpy()")]


def late_move(x, weight):
    hidden = torch.zeros(2)
    x = x.to(weight.device)
    return x * weight + hidden


def test_a_device_is_taken_from_no_name_that_is_moved_only_later():
    with simulate_cuda():
        edits = edits_of(late_move, torch.ones(2), torch.ones(2, device="cuda"))
    assert edits == [("replace", "hidden = torch.zeros(2, device=weight.device)")]


class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        angles = torch.ones(2)
        self.cos, self.sin, self.size = angles.cos(), angles.sin(), 2

    def forward(self, x):
        return x * self.cos + x * self.sin


def test_what_is_assigned_beside_a_buffer_becomes_one_or_stays_assigned():
    with simulate_cuda():
        edits = edits_of(Rotary().to("cuda"), torch.ones(2, device="cuda"))
    lines = [
        'self.register_buffer("cos", angles.cos(), persistent=False)',
        'self.register_buffer("sin", angles.sin(), persistent=False)',
        "self.size = 2",
    ]
    assert edits == [("replace", "\n".join(lines))]
