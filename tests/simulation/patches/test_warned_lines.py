"""Warnings name the line of the program that they are about, as those of PyTorch's CUDA build (2.13.0) do."""

import inspect
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy
import pytest
import torch
from torch import nn

pytestmark = pytest.mark.usefixtures("two_gpus", "warn_always")

_RESIZED = "An output with one or more elements was resized since it had shape"
_UINT8 = "indexing with dtype torch.uint8 is now deprecated"
_COMPLEX = "Casting complex values to real discards the imaginary part"
_COPIED = "To copy construct from a tensor, it is recommended"
_NOT_WRITABLE = "The given NumPy array is not writable"
_PINNED = "The argument 'device' of Tensor.is_pinned() is deprecated. Please do not pass this argument."


@pytest.fixture
def warn_always() -> Iterator[None]:
    """What C++ says once in a process, it says at every call."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


def g(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(*shape, dtype=dtype, device="cuda")


def mask() -> torch.Tensor:
    return g(3, dtype=torch.uint8)


def z(device: str = "cuda") -> torch.Tensor:
    return torch.ones(2, dtype=torch.complex64, device=device)


def read_only() -> Any:
    array = numpy.ones(3)
    array.flags.writeable = False
    return array


def of_what_is_resized() -> torch.Tensor:
    y = torch.ones(2, 2, 3, device="cuda")
    return torch.add(y, 1, out=g(3))


def in_backward() -> None:
    x = g(2).requires_grad_()
    x.register_hook(lambda gradient: torch.add(gradient, 1, out=g(5)))
    x.sum().backward()


def write_by_a_mask() -> None:
    g(3)[mask()] = g(3)


LINES: dict[str, tuple[Callable[[], Any], str, int]] = {
    "an output": (lambda: torch.add(g(2, 2), 1, out=g(3)), _RESIZED, 1),
    "an output, of a matrix product": (lambda: torch.mm(g(2, 2), g(2, 2), out=g(3)), _RESIZED, 1),
    "an output, of a reduction": (lambda: torch.sum(g(2, 2), dim=0, out=g(5)), _RESIZED, 1),
    "an output, of a function with several": (lambda: torch.linalg.qr(g(2, 2), out=(g(9), g(9))), _RESIZED, 2),
    "an output on the CPU": (lambda: torch.add(torch.ones(2, 2), 1, out=torch.ones(3)), _RESIZED, 1),
    "an output, in a function of the program": (of_what_is_resized, _RESIZED, 1),
    "a mask": (lambda: g(3)[mask()], _UINT8, 1),
    "a mask on the CPU": (lambda: g(3)[mask().cpu()], _UINT8, 1),
    "a mask that is written by": (write_by_a_mask, _UINT8, 1),
    "complex to real": (lambda: z().to(torch.float32), _COMPLEX, 1),
    "complex to real on the CPU": (lambda: z("cpu").to(torch.float32), _COMPLEX, 1),
    "complex to real, by its name": (lambda: z().float(), _COMPLEX, 1),
    "complex to real, by a type": (lambda: z().type(torch.float32), _COMPLEX, 1),
    "complex to real, copied": (lambda: g(2).copy_(z()), _COMPLEX, 1),
    "complex to real, with a gradient": (lambda: z().requires_grad_().to(torch.float32), _COMPLEX, 1),
    "complex to real, under vmap": (lambda: torch.vmap(lambda x: x.to(torch.float32))(z()), _COMPLEX, 1),
    "a tensor of a tensor": (lambda: torch.tensor(g(2)), _COPIED, 1),
    "a new tensor of a tensor": (lambda: g(2).new_tensor(g(2)), _COPIED, 1),
    "an array": (lambda: torch.as_tensor(read_only(), device="cuda"), _NOT_WRITABLE, 1),
    "an array on the CPU": (lambda: torch.as_tensor(read_only()), _NOT_WRITABLE, 1),
    "what is deprecated": (lambda: torch.range(0, 2, device="cuda"), "torch.range is deprecated", 1),
    "a gradient that is not there": (lambda: (g(2).requires_grad_() * 2).grad, "The .grad attribute of a Tensor", 1),
    "of the CPU's": (lambda: (torch.ones(2).requires_grad_() * 2).grad, "The .grad attribute of a Tensor", 1),
    "a hook in backward": (in_backward, _RESIZED, 1),
    "CSR": (lambda: g(2, 2).to_sparse_csr(), "Sparse CSR tensor support is in beta state.", 1),
    "an argument": (lambda: torch.ones(2).is_pinned("cuda"), _PINNED, 1),
    "an argument, twice": (lambda: torch.ones(2).pin_memory("cuda"), "The argument 'device' of Tensor.", 2),
}


@pytest.mark.parametrize("case", LINES)
def test_a_warning_names_the_line_that_called_pytorch(case: str) -> None:
    act, text, number = LINES[case]
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        act()
    lines, first = inspect.getsourcelines(act)
    assert len(log) == number, [str(each.message) for each in log]
    for each in log:
        assert str(each.message).startswith(text)
        assert each.filename == __file__
        assert first <= each.lineno < first + len(lines)


def test_the_line_within_a_function_is_named() -> None:
    with pytest.warns(UserWarning, match=_RESIZED) as log:
        of_what_is_resized()
    lines, first = inspect.getsourcelines(of_what_is_resized)
    assert log[0].lineno == first + len(lines) - 1


def test_a_warning_within_pytorchs_python_names_its_line() -> None:
    layer = nn.Linear(2, 2, bias=False).cuda()
    layer.weight.data = torch.ones(2, 2, dtype=torch.complex64, device="cuda")
    with pytest.warns(UserWarning, match=_COMPLEX) as log:
        layer.to(torch.float32)
    assert [each.filename for each in log] == [nn.Module.to.__code__.co_filename]


def test_a_second_line_is_warned_of_too_and_one_line_once() -> None:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("default")
        for _ in range(3):
            g(3)[mask()]
        g(3)[mask()]
    assert len(log) == 2
    assert log[1].lineno == log[0].lineno + 1


@pytest.mark.parametrize("module", ["another", "samedevice", "samedevice.simulation.tensor.dispatch"])
def test_filters_by_module_leave_other_modules_alone(module: str) -> None:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        warnings.filterwarnings("error", module=module)
        of_what_is_resized()
    assert len(log) == 1


def test_filters_by_module_match_that_of_the_program() -> None:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        warnings.filterwarnings("error", module=__name__)
        with pytest.raises(UserWarning, match=_RESIZED):
            of_what_is_resized()
    assert not log


def test_another_thread_is_warned_of_its_own_line() -> None:
    thread = threading.Thread(target=of_what_is_resized)
    with pytest.warns(UserWarning, match=_RESIZED) as log:
        thread.start()
        thread.join()
    assert log[0].filename == __file__


def test_the_module_of_warnings_looks_as_ever_while_a_simulation_runs() -> None:
    assert warnings.filters is vars(warnings)["filters"]
    assert isinstance(warnings, ModuleType)
    before = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(warnings.filters) == len(before) + 1
        of_what_is_resized()
    assert list(warnings.filters) == before


def test_nothing_of_warnings_is_left_replaced() -> None:
    program = """
import types, warnings
from samedevice import simulate_cuda
before = dict(vars(warnings))
with warnings.catch_warnings():
    with simulate_cuda(1):
        pass
    assert type(warnings) is types.ModuleType
assert vars(warnings) == before
"""
    subprocess.run([sys.executable, "-c", program], check=True)
