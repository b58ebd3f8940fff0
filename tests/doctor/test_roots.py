"""A tensor is followed to its root: into functions that have returned, and nothing of the program is run for it."""

import pytest
import torch
from torch import nn

from samedevice import explain, simulate_cuda


def diagnosed(program):
    with simulate_cuda(2):
        try:
            program()
        except RuntimeError as error:
            return explain(error)
    pytest.fail("the program ran to its end")


def only_edit(diagnosis):
    assert diagnosis.note == ""
    (edit,) = diagnosis.culprits[0].edits
    return edit.function, edit.text


class Base:
    def start(self, x):
        return torch.zeros(x.size(0))


class Derived(Base):
    def start(self, x, scale=2.0):
        return super().start(x) * scale


def test_what_a_base_class_creates_is_created_there_on_the_right_device():
    def program():
        x, derived = torch.ones(3, device="cuda"), Derived()
        start = derived.start(x)
        return x + start

    assert only_edit(diagnosed(program)) == ("start", "return torch.zeros(x.size(0), device=x.device)")


def weights(n, device=None):
    return torch.ones(n, device=device)


def test_a_device_that_was_left_to_its_default_is_passed_where_the_function_is_called():
    def program():
        x = torch.ones(3, device="cuda")
        w = weights(3)
        return x * w

    assert only_edit(diagnosed(program)) == ("program", "w = weights(3, device=x.device)")


def test_a_part_of_what_a_function_returns_is_not_moved_as_a_whole():
    def pair(n):
        return torch.ones(n), [n]

    def program():
        x = torch.ones(3, device="cuda")
        w, _ = pair(3)
        return x * w

    assert only_edit(diagnosed(program)) == ("program", "w = w.to(x.device)")


def test_an_attribute_that_is_only_set_where_it_is_none_was_given_by_init():
    class Loss(nn.Module):
        def __init__(self, weight=None):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            if self.weight is None:
                self.weight = torch.ones(x.shape[-1])
            return (x * self.weight).sum()

    def program():
        return Loss(torch.ones(3)).to("cuda")(torch.ones(3, device="cuda"))

    assert diagnosed(program).culprits[0].cause == "unregistered_tensor_attribute"


def test_what_a_buffer_is_replaced_with_is_put_where_the_old_one_is():
    def table(n):
        return torch.arange(n).float()

    class Rotary(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = table(4)
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, x):
            if x.shape[0] > self.table.shape[0]:
                self.table = table(x.shape[0])
            return x * self.scale * self.table[: x.shape[0]]

    def program():
        return Rotary().to("cuda")(torch.ones(4, device="cuda"))

    texts = [edit.text for edit in diagnosed(program).culprits[0].edits]
    assert texts == [
        'self.register_buffer("table", table(4), persistent=False)',
        "self.table = table(x.shape[0]).to(self.table.device)",
    ]


def test_functions_that_call_themselves_end():
    def deeper(n):
        return deeper(n - 1) if n else torch.ones(3).numpy()

    def program():
        x = torch.ones(3, device="cuda")
        y = torch.as_tensor(deeper(5))
        return x + y

    assert diagnosed(program).culprits[0].expression == "y"


def test_nothing_of_the_program_is_run():
    ran = []

    class Eager(type):
        def __eq__(cls, other):
            ran.append("a metaclass's ==")
            return False

        __hash__ = type.__hash__

    class Batch(metaclass=Eager):
        def __init__(self, x):
            self.x = x

        @property
        def weights(self):
            ran.append("a property")
            return torch.ones(3)

    def made(x):
        ran.append("a function")
        return Batch(x).weights

    def program():
        x = torch.ones(3, device="cuda")
        w = made(x)
        ran.clear()
        return x * w

    diagnosis = diagnosed(program)
    assert diagnosis.note == ""
    assert ran == []
