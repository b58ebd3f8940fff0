"""A TorchFunctionMode hears of a tensor on a GPU what it hears on CUDA: one call each, by PyTorch's own functions."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

pytestmark = pytest.mark.usefixtures("two_gpus")


class Listening(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.heard.append(func)
        return func(*args, **(kwargs or {}))


# What PyTorch's CUDA build tells a mode, by the name of each function.
CALLS: dict[str, tuple[Callable[[torch.Tensor], Any], list[str]]] = {
    "device": (lambda x: x.device, ["__get__"]),
    "is_cuda": (lambda x: x.is_cuda, ["__get__"]),
    "is_cpu": (lambda x: x.is_cpu, ["__get__"]),
    "get_device": (lambda x: x.get_device(), ["get_device"]),
    "tolist": (lambda x: x.tolist(), ["tolist"]),
    "numpy, forced": (lambda x: x.numpy(force=True), ["numpy"]),
    "untyped_storage": (lambda x: x.untyped_storage(), ["untyped_storage"]),
    "record_stream": (lambda x: x.record_stream(torch.cuda.current_stream()), ["record_stream"]),
    "repr": (repr, ["__repr__"]),
    "deepcopy": (copy.deepcopy, ["__deepcopy__"]),
    "format": (lambda x: f"{x[0]:.1f}", ["__getitem__", "__format__"]),
    "a parameter": (nn.Parameter, []),
    "cpu": (lambda x: x.cpu(), ["cpu"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_mode_hears_one_call_and_calls_back_what_it_was_given(name: str) -> None:
    function, names = CALLS[name]
    x = torch.ones(3, device="cuda:1")
    expected = function(x)
    with Listening() as mode:
        result = function(x)
    assert [each.__name__ for each in mode.heard] == names
    if not isinstance(result, torch.UntypedStorage):
        assert repr(result) == repr(expected)


def test_what_a_mode_hears_is_found_in_its_tables() -> None:
    table = {torch.Tensor.tolist: "a list", torch.Tensor.apply_: "a function", torch.Tensor.__repr__: "text"}
    x = torch.ones(3, device="cuda")
    with Listening() as mode:
        x.tolist(), repr(x)
        with pytest.raises(TypeError):
            x.apply_(abs)
    assert [table[each] for each in mode.heard] == ["a list", "text", "a function"]
    with Listening() as mode:
        copy.deepcopy(x), repr(x)
    assert mode.heard[0] is torch.Tensor.__deepcopy__ and mode.heard[1] is torch.Tensor.__repr__


@pytest.mark.parametrize("call", ["numpy", "apply_"])
def test_a_refusal_comes_after_the_mode_has_heard_of_it(call: str) -> None:
    x = torch.ones(3, device="cuda")
    with Listening() as mode, pytest.raises(TypeError):
        x.numpy() if call == "numpy" else x.apply_(abs)
    assert [each.__name__ for each in mode.heard] == [call]


def test_a_mode_may_answer_by_itself_or_not_at_all() -> None:
    class Answering(TorchFunctionMode):
        answer: Any = "here"

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(types)
            return self.answer

    seen: list[Any] = []
    parameter = nn.Parameter(torch.ones(3, device="cuda"))
    with Answering() as mode:
        assert (parameter.device, parameter.tolist()) == ("here", "here")
        mode.answer = NotImplemented
        with pytest.raises(TypeError, match=r"^Multiple dispatch failed for 'torch\.Tensor\.tolist'; all "):
            parameter.tolist()
    assert seen == [(nn.Parameter,)] * 3
