"""What a program does on the CPU alone is the same in a simulation as outside of one.

The programs were found by PyTorch's own tests, run without and with a simulation.
"""

import copy
import functools
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd.graph import get_gradient_edge

import samedevice


def inside(program: Callable[[], Any]) -> Any:
    with samedevice.simulate_cuda(1):
        return program()


_CALLS: dict[str, Callable[[torch.Tensor], object]] = {
    "zeros_like": lambda x: torch.zeros_like(x),
    "rand_like": lambda x: torch.rand_like(x, device="cpu"),
    "new_zeros": lambda x: x.new_zeros(3),
    "new_tensor": lambda x: x.new_tensor([1]),
    "new": lambda x: x.new(3),
    "tensor": lambda x: torch.as_tensor(x),
    "ones": lambda x: torch.ones(3),
    "to": lambda x: x.to(torch.float64),
    "cpu": lambda x: x.cpu(),
    "type": lambda x: x.type(torch.float64),
    "type_as": lambda x: x.type_as(torch.ones(3)),
    "copy_": lambda x: x.copy_(torch.ones(3)),
    "setitem": lambda x: x.__setitem__(0, torch.tensor(1.0)),
    "is_pinned": lambda x: x.is_pinned(),
    "data": lambda x: x.data,
    "set data": lambda x: setattr(x, "data", torch.ones(3)),
    "grad": lambda x: x.grad,
    "set grad": lambda x: setattr(x, "grad", torch.ones(3)),
    "hook": lambda x: x.requires_grad_().register_hook(print),
    "histc": lambda x: torch.histc(x),
    "x.histc": lambda x: x.histc(),
    "histogram": lambda x: torch.histogram(x, 3),
    "set_": lambda x: x.set_(torch.ones(3)),
    "bernoulli": lambda x: torch.bernoulli(x, generator=torch.Generator()),
    "normal_": lambda x: x.normal_(generator=torch.Generator()),
    "normal": lambda x: torch.normal(x, 1.0),
    "multinomial": lambda x: torch.multinomial(x, 1),
    "device": lambda x: x.device,
    "is_cuda": lambda x: (x.is_cuda, x.is_cpu, x.get_device()),
    "repr": repr,
    "backward": lambda x: (x.requires_grad_() * 2).sum().backward(),
    "dropout": lambda x: torch.nn.functional.dropout(x),
}


class _Logged(torch.Tensor):
    """A tensor that logs which functions it was asked to override."""

    log: list[str]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.log.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class _Logs(torch.overrides.TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.log.append(func.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("call", _CALLS.values(), ids=_CALLS)
def test_classes_and_modes_override_the_same_functions(call: Callable[[torch.Tensor], object]) -> None:
    def program() -> list[list[str]]:
        _Logged.log = []
        call(torch.ones(3).as_subclass(_Logged))
        x, mode = torch.ones(3), _Logs()
        with mode:
            call(x)
        return [_Logged.log, mode.log]

    # The device that a program names is read by calling torch.device.
    assert [[name for name in log if name != "device"] for log in inside(program)] == program()


def _table() -> list[Any]:
    return [torch.zeros_like, torch.histc, torch.bernoulli, torch.Tensor.new_zeros, torch.Tensor.copy_]


def test_functions_are_found_in_tables_from_before_and_from_inside() -> None:
    class Listed:
        """A class that is no tensor and overrides what is in its table."""

        table: list[Any]

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func.__name__ if func in set(cls.table) else NotImplemented

    def program() -> list[str]:
        return [function(Listed()) for function in (torch.zeros_like, torch.histc, torch.bernoulli)]

    def filled() -> list[str]:
        Listed.table = _table()
        return program()

    assert filled() == inside(program) == inside(filled) == ["zeros_like", "histc", "bernoulli"]


def test_a_class_hands_functions_back_to_pytorch() -> None:
    if not hasattr(torch.overrides, "redispatch_function"):
        pytest.skip("younger than this torch")

    class Redispatched(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = torch.overrides.redispatch_function(func, types, args, kwargs or {})
            return made.as_subclass(cls) if type(made) is torch.Tensor else made

    def program() -> list[str]:
        parts = []
        for call in _CALLS.values():
            torch.manual_seed(0)
            call(torch.ones(3).as_subclass(Redispatched))
        for call in (torch.zeros_like, copy.deepcopy, lambda x: x.to(torch.float64), lambda x: x.new_zeros(2)):
            parts.append(repr(call(torch.ones(3).as_subclass(Redispatched))))
        return parts

    assert inside(program) == program()


def test_a_trace_has_the_functions_of_the_program() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.zeros_like(x) + x.new_zeros(3) + x.to(torch.float64).cpu().type_as(x)
            return torch.bernoulli(x.copy_(y)) + torch.histc(x)

    def program() -> str:
        return str(torch.fx.symbolic_trace(Model()).code)

    assert inside(program) == program()


def test_functions_are_pickled_by_the_names_that_pytorch_has() -> None:
    functions = [*_table(), torch.ones, torch.fft.fftfreq, torch.tensor]
    pickled = inside(lambda: [pickle.dumps(f) for f in (*_table(), torch.ones, torch.fft.fftfreq, torch.tensor)])
    assert [pickle.loads(text) for text in pickled] == functions
    assert not any(b"samedevice" in text for text in pickled)
    make = inside(lambda: pickle.dumps(functools.partial(torch.zeros, 3)))
    assert pickle.loads(make)().shape == (3,)
    assert inside(lambda: pickle.loads(pickle.dumps(torch.ones)) is copy.deepcopy(torch.ones) is torch.ones)


def test_arguments_may_be_named_as_pytorch_names_them() -> None:
    def program() -> list[Any]:
        x, seeded = torch.ones(3), torch.Generator().manual_seed(0)
        return [
            torch.zeros_like(input=x).tolist(),
            torch.full_like(input=x, fill_value=2, device="cpu").tolist(),
            torch.histc(input=x, bins=2).tolist(),
            torch.histogram(input=x, bins=2).hist.tolist(),
            torch.normal(mean=x, std=x, generator=seeded).tolist(),
            torch.bernoulli(input=x, generator=seeded).tolist(),
        ]

    assert inside(program) == program()


def test_wrong_arguments_are_refused_by_pytorch() -> None:
    calls: list[Callable[[torch.Tensor], object]] = [
        lambda x: torch.zeros_like(),
        lambda x: torch.zeros_like("a"),
        lambda x: torch.zeros_like(x, pin_memory="a"),
        lambda x: torch.zeros(3, pin_memory="a"),
        lambda x: torch.histc(),
        lambda x: torch.histc("a"),
        lambda x: torch.histogram("a", 3),
        lambda x: torch.bernoulli(x, generator=3),
        lambda x: x.new_zeros(),
        lambda x: x.type_as(3),
    ]

    def program() -> list[str]:
        said = []
        for call in calls:
            with pytest.raises(TypeError) as refusal:
                call(torch.ones(3))
            said.append(str(refusal.value))
        return said

    assert inside(program) == program()


def test_warnings_are_shown_for_the_line_of_the_program() -> None:
    def program() -> list[tuple[str, int, str]]:
        x, result = torch.ones(3), torch.ones(3, requires_grad=True) * 2
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("default")
            torch.tensor(x)
            torch.tensor(x)
            x.new_tensor(x)
            assert result.grad is None
        return [(warning.filename, warning.lineno, str(warning.message)) for warning in shown]

    expected = program()
    assert [warning[0] for warning in expected] == [__file__] * 4
    assert inside(program) == expected


def test_help_on_properties_is_pytorchs() -> None:
    def program() -> list[str | None]:
        return [torch.Tensor.grad.__doc__, torch.Tensor.device.__doc__, torch.Tensor.is_cuda.__doc__]

    assert inside(program) == program()


def test_streams_of_other_devices_are_pytorchs() -> None:
    def program() -> tuple[type, int, int, int]:
        stream = torch.Stream(stream_id=1, device_index=2, device_type=3)
        return type(stream), stream.stream_id, stream.device_index, stream.device_type

    assert inside(program) == program()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_gradients_are_asked_for_by_edges_of_the_graph(device: str) -> None:
    with samedevice.simulate_cuda(1):
        x = torch.ones(3, device=device, requires_grad=True)
        y = x * 2
        by_leaf, by_result = torch.autograd.grad(y.sum(), (get_gradient_edge(x), get_gradient_edge(y)))
        assert (by_leaf.tolist(), by_result.tolist()) == ([2, 2, 2], [1, 1, 1])
        assert by_leaf.device == by_result.device == x.device
