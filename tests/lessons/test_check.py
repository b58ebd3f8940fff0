"""What `check` says of an answer: `passed` or a hint, and never an exception."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from lessons import check, start
from lessons.exercises.lesson_01 import EXERCISES

LOSS = EXERCISES["a"]


def right(model, batch, target):
    device = next(model.parameters()).device
    return functional.mse_loss(model(batch.to(device)), target.to(device))


@pytest.fixture
def said(machine, capsys):
    """Call with an answer: what check prints."""
    start(gpus=1)

    def of(function, exercise="01-a"):
        capsys.readouterr()
        check(exercise, function)
        return capsys.readouterr().out

    return of


def test_a_right_answer_passes(said):
    assert said(right) == "passed\n"


def test_before_start_the_first_cell_is_named(machine, capsys):
    check("01-a", right)
    assert "first code cell" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["01-z", "99-a", "a", "", "../01-a", "01", None, 1])
def test_an_unknown_exercise_is_named(said, name):
    assert repr(name) in said(right, name)


@pytest.mark.parametrize("answer", [None, 0.5, torch.ones(1)])
def test_what_is_no_function_is_named(said, answer):
    assert type(answer).__name__ in said(answer)


@pytest.mark.parametrize("function", [lambda: 0, lambda model: 0, lambda a, b, c, d: 0])
def test_a_wrong_signature_gets_the_right_one(said, function):
    assert "(model, batch, target)" in said(function)


def test_an_error_is_shown_in_one_line_with_the_exercises_hint(said):
    raised, hint = said(lambda model, batch, target: model(batch)).splitlines()
    assert "RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu" in raised
    assert hint == LOSS.on_error


@pytest.mark.parametrize("error", [SystemExit(1), ValueError(), RuntimeError("one\ntwo"), AssertionError("no")])
def test_no_error_of_an_answer_escapes(said, error):
    def answer(model, batch, target):
        raise error

    raised, hint = said(answer).splitlines()
    assert type(error).__name__ in raised
    assert hint == LOSS.on_error


@pytest.mark.parametrize("result", [None, 0.5, [], "passed"])
def test_a_result_that_is_no_tensor_is_named(said, result):
    assert type(result).__name__ in said(lambda model, batch, target: result)


def test_a_result_on_the_wrong_device_gets_its_hint(said):
    answer = said(lambda *batch: right(*batch).cpu())
    assert "cpu" in answer
    assert LOSS.on_wrong_device in answer


def test_wrong_numbers_get_their_hint(said):
    assert said(lambda *batch: right(*batch) + 1) == LOSS.on_wrong_numbers + "\n"
    assert said(lambda *batch: right(*batch) * float("nan")) == LOSS.on_wrong_numbers + "\n"


def test_a_wrong_shape_is_named(said):
    assert "(1,)" in said(lambda *batch: right(*batch).reshape(1))


def test_a_result_cut_from_its_gradient_is_named(said):
    assert "gradient" in said(lambda *batch: right(*batch).detach())


def test_a_result_that_cannot_be_compared_gets_a_hint(said):
    answer = said(lambda model, batches: torch.zeros(3, 3, device="meta", dtype=torch.long), "01-b")
    assert answer.splitlines()[-1] == EXERCISES["b"].on_error


def test_the_readers_random_numbers_and_default_device_stay(said):
    torch.manual_seed(1)
    expected = torch.rand(2)
    torch.manual_seed(1)
    torch.set_default_device("cuda")
    try:
        assert said(right) == "passed\n"
        assert nn.Linear(1, 1).weight.device == torch.device("cuda:0")
    finally:
        torch.set_default_device(None)
    assert torch.equal(torch.rand(2), expected)
