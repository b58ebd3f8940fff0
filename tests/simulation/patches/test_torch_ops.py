"""Operators that a program calls by their names, on the device that it names."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from samedevice import simulate_cuda

pytestmark = pytest.mark.usefixtures("two_gpus")
aten = torch.ops.aten

CALLED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a copy to the CPU": (lambda x, y: aten._to_copy(x, device="cpu"), "cpu"),
    "of another dtype": (lambda x, y: aten._to_copy.default(x, device=torch.device("cpu"), dtype=torch.half), "cpu"),
    "a copy to the other GPU": (lambda x, y: aten._to_copy.default(x, device="cuda:1"), "cuda:1"),
    "a copy to where it is": (lambda x, y: aten._to_copy.default(x, device="cuda:0"), "cuda:0"),
    "a copy without a device": (lambda x, y: aten._to_copy.default(x, dtype=torch.half), "cuda:0"),
    "a copy to the GPU": (lambda x, y: aten._to_copy.default(y, device="cuda"), "cuda:0"),
    "zeros on the CPU": (lambda x, y: aten.zeros_like(x, device="cpu"), "cpu"),
    "zeros with every option": (
        lambda x, y: aten.zeros_like.default(
            x, dtype=torch.half, layout=torch.strided, device=torch.device("cpu"), pin_memory=False
        ),
        "cpu",
    ),
    "zeros on the GPU": (lambda x, y: aten.zeros_like.default(y, device="cuda:1"), "cuda:1"),
    "zeros without a device": (lambda x, y: aten.zeros_like.default(x), "cuda:0"),
    "integers by an overload": (lambda x, y: aten.randint_like.low_dtype(x, 0, 3, device="cpu"), "cpu"),
    "new ones": (lambda x, y: aten.new_ones(x, [2], device="cpu"), "cpu"),
    "a graph that moves": (lambda x, y: make_fx(lambda z: z.cpu() + torch.zeros(2))(x)(x), "cpu"),
    "a graph that makes": (lambda x, y: make_fx(lambda z: torch.zeros_like(z, device="cpu"))(x)(x), "cpu"),
    "a graph that stays": (lambda x, y: make_fx(lambda z: z.half() * 2)(x)(x), "cuda:0"),
}


@pytest.mark.parametrize("case", CALLED)
def test_an_operator_called_by_its_name_means_the_device_that_it_names(case: str) -> None:
    call, device = CALLED[case]
    assert str(call(torch.ones(2, device="cuda"), torch.ones(2)).device) == device


class Mode(TorchDispatchMode):
    """Hands on what it is given."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.fixture
def flag_of_the_process() -> Iterator[None]:
    """Afterwards, PyTorch's flags say again that no mode is on."""
    yield
    for name in ("_is_in_torch_dispatch_mode", "_is_in_non_infra_torch_dispatch_mode"):
        setattr(_python_dispatch, name, False)
    if hasattr(_python_dispatch, "_is_in_any_mode_without_ignore_compile_internals"):
        _python_dispatch._is_in_any_mode_without_ignore_compile_internals = False
    with Mode():  # as it is left, C++ is told as well
        pass


@pytest.mark.usefixtures("flag_of_the_process")
def test_modes_that_two_threads_leave_in_another_order_count_no_longer() -> None:
    entered, may_leave = threading.Event(), threading.Event()

    def first() -> None:
        with Mode():
            entered.set()
            may_leave.wait()

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait()
    x = torch.ones(2, device="cuda")
    with Mode():
        may_leave.set()
        thread.join()
    assert _python_dispatch.is_in_torch_dispatch_mode()  # PyTorch puts back what it found in the middle
    assert aten._to_copy.default(x, device="cpu").device.type == "cpu"


def test_a_mode_of_another_thread_does_not_count() -> None:
    entered, may_leave = threading.Event(), threading.Event()

    def other() -> None:
        with Mode():
            entered.set()
            may_leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    device = aten._to_copy.default(torch.ones(2, device="cuda"), device="cpu").device
    may_leave.set()
    thread.join()
    assert device.type == "cpu"


def test_operators_are_found_where_they_were_kept() -> None:
    operator = aten.empty_like.default
    with simulate_cuda(2):
        inside = {operator: 1, aten._to_copy: 2}
    assert {operator: 1, aten._to_copy: 2} == inside
    assert hash(operator) == hash(operator._op)


def test_a_copy_by_name_is_one_where_the_tensor_is() -> None:
    x = torch.ones(2, device="cuda")
    assert aten._to_copy.default(x, device="cuda:0").data_ptr() != x.data_ptr()


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_dynamically_quantized_layers_are_for_the_cpu() -> None:
    layer = torch.ao.nn.quantized.dynamic.Linear(2, 2)
    assert layer(torch.ones(1, 2)).shape == (1, 2)
    with pytest.raises(NotImplementedError) as error:
        layer(torch.ones(1, 2, device="cuda"))
    assert str(error.value).startswith(
        "Could not run 'quantized::linear_dynamic' with arguments from the 'CUDA' backend."
    )


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_what_quantized_tensors_lack_on_cuda_is_missing_there() -> None:
    x = torch.quantize_per_tensor(torch.ones(2, device="cuda"), 0.1, 0, torch.quint8)
    with pytest.raises(NotImplementedError) as error:
        x + x
    assert str(error.value).startswith("Could not run 'aten::add.out' with arguments from the 'QuantizedCUDA' backend.")


def test_fake_quantization_by_tensors_stays_on_the_gpu() -> None:
    x = torch.ones(2, device="cuda", requires_grad=True)
    scale, zero = torch.ones((), device="cuda"), torch.zeros((), dtype=torch.int32, device="cuda")
    torch.fake_quantize_per_tensor_affine(x, scale, zero, 0, 255).sum().backward()
    assert (str(x.grad.device), x.grad.tolist()) == ("cuda:0", [1, 1])  # type: ignore[union-attr]
    with pytest.raises(RuntimeError) as error:
        torch.fake_quantize_per_tensor_affine(x, scale.cpu(), zero, 0, 255)
    assert str(error.value) == (
        "Expected all tensors to be on the same device, but got scale is on cpu, different from other tensors on "
        "cuda:0 (when checking argument in method "
        "wrapper_CUDA___fake_quantize_per_tensor_affine_cachemask_tensor_qparams)"
    )
