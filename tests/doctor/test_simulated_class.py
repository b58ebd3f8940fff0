"""An error after `type(x) is torch.Tensor` of a simulated GPU's tensor: a known difference, which explain() names."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from samedevice import explain, simulate_cuda


class Mine(Tensor): ...


class Layer:
    def __init__(self, weight: Tensor) -> None:
        self.weight = weight


def is_tensor(x: Tensor) -> None:
    if type(x) is not torch.Tensor:
        raise TypeError(f"expected a Tensor, got {type(x)}")


def reversed_sides(x: Tensor) -> None:
    if not Tensor is type(x):  # noqa: E714
        raise TypeError("expected a Tensor")


def is_parameter(x: Tensor) -> None:
    layer = Layer(nn.Parameter(x))
    assert type(layer.weight) is nn.Parameter, "not a Parameter"


def is_own_class(x: Tensor) -> None:
    x = x.as_subclass(Mine)
    if type(x) is Mine:
        return
    raise ValueError("neither of the classes that this takes")


def all_boxes(x: Tensor) -> None:
    """As torchmetrics asks of its input (detection/helpers.py)."""
    preds, key = [{"boxes": x, "labels": x}], "boxes"
    if any(type(pred[key]) is not Tensor for pred in preds):
        raise ValueError(f"Expected all {key} in `preds` to be of type Tensor")


TESTS: dict[str, tuple[Callable[[Tensor], None], str]] = {
    "if": (is_tensor, "type(x) is not torch.Tensor"),
    "the class first": (reversed_sides, "Tensor is type(x)"),
    "assert": (is_parameter, "type(layer.weight) is nn.Parameter"),
    "an earlier if": (is_own_class, "type(x) is Mine"),
    "a comprehension": (all_boxes, "type(pred[key]) is not Tensor"),
}


def explained(function: Callable[[Any], None], x: Any) -> Any:
    with pytest.raises((TypeError, ValueError, AssertionError)) as raised:
        function(x)
    return explain(raised.value)


@pytest.mark.parametrize("name", TESTS)
def test_a_test_for_the_very_class_of_a_simulated_tensor_is_named(name: str) -> None:
    function, test = TESTS[name]
    with simulate_cuda(devices=1):
        diagnosis = explained(function, torch.ones(3, device="cuda"))
    assert diagnosis.says.startswith(f"This is most likely a known difference of the simulation: `{test}` compares")
    assert diagnosis.other is not None and diagnosis.other.id == "simulated_class"
    shown = str(diagnosis)
    assert "isinstance()" in shown
    assert "https://" not in shown
    assert (diagnosis.message, diagnosis.causes, diagnosis.culprits) == (None, (), ())


def equal(x: Tensor) -> None:
    if type(x) != torch.Tensor:  # noqa: E721
        raise TypeError("expected a Tensor")
    raise ValueError("another reason")


def another_class(x: Tensor) -> None:
    if type(x) is not nn.Parameter:
        raise TypeError("expected a Parameter")


def after_it(x: Tensor) -> None:
    assert isinstance(x, Tensor)
    if type(x) is Tensor:
        x = x + 1
    raise ValueError("another reason")


@pytest.mark.parametrize("function", [equal, another_class, after_it])
def test_a_test_that_a_simulated_tensor_answers_as_on_cuda_is_not_named(function: Callable[[Tensor], None]) -> None:
    with simulate_cuda(devices=1):
        assert explained(function, torch.ones(3, device="cuda")).other is None


@pytest.mark.parametrize("x", [1, torch.ones(3).as_subclass(Mine)])
def test_what_is_no_simulated_tensor_is_not_taken_for_one(x: Any) -> None:
    assert explained(is_tensor, x).other is None
    with simulate_cuda(devices=1):
        assert explained(is_tensor, x).other is None
