"""`@simulate_cuda(2)` of functions, coroutines and generators."""

import asyncio
import contextlib
import inspect
import unittest
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from samedevice import simulate_cuda

NONE = 0  # how many GPUs there are outside


def seen() -> int:
    """How many GPUs there are: none outside, whatever this machine has."""
    from samedevice.simulation import state

    return state.now.installed


@simulate_cuda(2)
def count(a: int, *, b: int = 2) -> tuple[int, int, int]:
    """Counts."""
    return torch.cuda.device_count(), a, b


def test_each_call_starts_and_stops() -> None:
    for _ in range(2):
        assert count(1, b=3) == (2, 1, 3)
        assert seen() == NONE


def test_a_decorated_function_looks_as_it_was() -> None:
    assert (count.__name__, count.__doc__) == ("count", "Counts.")
    assert list(inspect.signature(count).parameters) == ["a", "b"]


def test_an_error_leaves_the_simulation() -> None:
    @simulate_cuda()
    def fail() -> None:
        torch.ones(1, device="cuda") + torch.ones(2, device="cpu")

    with pytest.raises(RuntimeError, match="same device"):
        fail()
    assert seen() == NONE


def test_a_function_that_calls_itself_runs_inside_itself() -> None:
    @simulate_cuda(2)
    def down(depth: int) -> int:
        return down(depth - 1) if depth else torch.cuda.device_count()

    assert down(3) == 2
    assert seen() == NONE


def test_the_numbers_that_gpus_draw_are_chosen() -> None:
    @simulate_cuda(rng="cpu")
    def draw() -> float:
        torch.manual_seed(2)
        return torch.rand(1, device="cuda").item()

    drawn = draw()
    torch.manual_seed(2)
    assert drawn == torch.rand(1).item()


def test_a_coroutine_runs_inside() -> None:
    @simulate_cuda(2)
    async def wait() -> int:
        await asyncio.sleep(0)
        return torch.cuda.device_count()

    assert inspect.iscoroutinefunction(wait)

    async def several() -> list[int]:
        made = wait()
        assert seen() == NONE
        return await asyncio.gather(made, wait())

    assert asyncio.run(several()) == [2, 2]
    assert seen() == NONE


def test_a_generator_runs_inside_until_it_ends() -> None:
    @simulate_cuda(2)
    def each() -> Generator[int, int, str]:
        sent = yield torch.cuda.device_count()
        with contextlib.suppress(ValueError):
            yield sent
        return "done"

    assert inspect.isgeneratorfunction(each)
    values = each()
    assert seen() == NONE
    assert (next(values), seen()) == (2, 2)
    assert values.send(5) == 5
    with pytest.raises(StopIteration) as end:
        values.throw(ValueError())
    assert (end.value.value, seen()) == ("done", NONE)
    unfinished = each()
    next(unfinished)
    unfinished.close()
    assert seen() == NONE


def test_an_asynchronous_generator_runs_inside_until_it_ends() -> None:
    @simulate_cuda(2)
    async def each() -> AsyncIterator[int]:
        yield torch.cuda.device_count()
        await asyncio.sleep(0)
        yield seen()

    async def collect() -> list[int]:
        return [value async for value in each()]

    assert asyncio.run(collect()) == [2, 2]
    assert seen() == NONE


class Methods:
    @simulate_cuda(2)
    def of_the_object(self) -> Any:
        return self, torch.cuda.device_count()

    @classmethod
    @simulate_cuda(2)
    def of_the_class(cls) -> Any:
        return cls, torch.cuda.device_count()

    @staticmethod
    @simulate_cuda(2)
    def of_nothing() -> int:
        return torch.cuda.device_count()


def test_methods_are_decorated() -> None:
    methods = Methods()
    assert methods.of_the_object() == (methods, 2)
    assert Methods.of_the_class() == (Methods, 2)
    assert Methods.of_nothing() == 2


class TestOfUnittest(unittest.TestCase):
    @simulate_cuda(2)
    def test_a_method_of_unittest_runs_inside(self) -> None:
        self.assertEqual(torch.cuda.device_count(), 2)


@pytest.fixture
@simulate_cuda(2)
def gpus(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path


def test_a_fixture_runs_inside_and_keeps_its_arguments(gpus: Path) -> None:
    assert (gpus.is_dir(), torch.cuda.device_count()) == (True, 2)


@simulate_cuda(3)
@pytest.mark.parametrize("number", [1, 2])
def test_a_test_with_parameters_runs_inside(number: int, tmp_path: Path) -> None:
    assert torch.cuda.device_count() == 3
    assert number in (1, 2)
    assert tmp_path.is_dir()


def test_a_decorator_without_parentheses_is_refused() -> None:
    with pytest.raises(TypeError, match=r"write @simulate_cuda\(\) or @simulate_cuda\(2\)"):

        @simulate_cuda  # type: ignore[arg-type]
        def function() -> None: ...


@pytest.mark.parametrize("what", [Methods, classmethod(len), 3])
def test_what_is_no_function_is_refused(what: Any) -> None:
    with pytest.raises(TypeError, match="simulate_cuda decorates functions, not"):
        simulate_cuda(2)(what)
