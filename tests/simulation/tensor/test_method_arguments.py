"""What a method of torch.Tensor says of arguments that it does not take."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.usefixtures("two_gpus")


ARGUMENTS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "too many for cuda": (
        lambda x, y: y.cuda(0, True, True), "cuda() takes from 0 to 2 positional arguments but 3 were given",
    ),
    "a memory format for cuda": (
        lambda x, y: y.cuda(memory_format=5), "cuda(): argument 'memory_format' must be torch.memory_format, not int",
    ),
    "a memory format for cpu": (
        lambda x, y: x.cpu(memory_format=5), "cpu(): argument 'memory_format' must be torch.memory_format, not int",
    ),
    "another of type": (lambda x, y: x.type(device=1), "type() got an unexpected keyword argument 'device'"),
    "too many for type": (
        lambda x, y: x.type("torch.FloatTensor", 1, 2),
        "type() takes from 0 to 2 positional arguments but 3 were given",
    ),
    "none for type_as": (lambda x, y: x.type_as(), 'type_as() missing 1 required positional arguments: "other"'),
    "too many for copy_": (
        lambda x, y: x.copy_(y, 1, 2),
        "copy_() received an invalid combination of arguments - got (Tensor, int, int), but expected "
        "(Tensor other, bool non_blocking = False)",
    ),
    "too many for is_pinned": (
        lambda x, y: x.is_pinned(1, 2), "is_pinned() takes from 0 to 1 positional arguments but 2 were given",
    ),
    "a bool to pin for": (
        lambda x, y: y.pin_memory(True),
        "pin_memory(): argument 'device' (position 1) must be torch.device, not bool",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments_that_a_method_does_not_take_are_refused_in_pytorchs_words(case: str) -> None:
    act, text = ARGUMENTS[case]
    with pytest.raises(TypeError) as error:
        act(torch.ones(2, device="cuda"), torch.ones(2))
    assert str(error.value) == text
