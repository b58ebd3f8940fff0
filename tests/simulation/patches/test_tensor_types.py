"""Code from before `device=`: legacy constructors, Tensor.new and default tensor types, as on PyTorch's CUDA build."""

import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from samedevice.simulation.patches import tensor_types

pytestmark = [
    pytest.mark.usefixtures("two_gpus"),
    pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type"),
    pytest.mark.filterwarnings(r"ignore:The torch.cuda.\*DtypeTensor constructors"),
]

_CPU_EXPECTED = "legacy constructor expects device type: cpu but device type: cuda was passed"
_CUDA_EXPECTED = "legacy constructor expects device type: cuda but device type: cpu was passed"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.ones(2).new([1.0, 2.0], device="cuda"), _CPU_EXPECTED),
        (lambda: torch.ones(2).new(2, device="cuda"), _CPU_EXPECTED),
        (lambda: torch.ones(2, device="cuda").new([1.0, 2.0], device="cpu"), _CUDA_EXPECTED),
        (lambda: torch.cuda.FloatTensor(2, device="cpu"), _CUDA_EXPECTED),
        (lambda: torch.FloatTensor(2, device="cuda"), _CPU_EXPECTED),
        (lambda: torch.Tensor([1.0], device="cuda"), _CPU_EXPECTED),
    ],
)
def test_a_legacy_constructor_stays_on_its_type_of_device(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(RuntimeError) as error:
        make()
    assert str(error.value) == text


def test_the_index_is_free() -> None:
    here = torch.ones(2, device="cuda")
    made = (torch.cuda.FloatTensor(2, device="cuda:1"), here.new(2, device="cuda:1"), here.new([2.0], device="cuda:1"))
    assert {str(x.device) for x in made} == {"cuda:1"}
    assert str(here.new([1.0]).device) == "cuda:0"


def test_new_of_a_tensor_is_that_tensor() -> None:
    cpu, gpu = torch.ones(2), torch.ones(2, device="cuda")
    assert gpu.new(gpu).data_ptr() == gpu.data_ptr()
    options = "layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    for first, second, here, there in ((cpu, gpu, "cpu", "cuda:0"), (gpu, cpu, "cuda", "cpu")):
        with pytest.raises(TypeError) as error:
            first.new(second)
        assert str(error.value) == (
            f"expected TensorOptions(dtype=float, device={here}, {options} "
            f"(got TensorOptions(dtype=float, device={there}, {options})"
        )


def test_the_constructors_of_a_gpu_warn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_types, "_warned", False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.cuda.FloatTensor(2)
        torch.cuda.LongTensor([1])
    assert [(str(warning.message), warning.filename) for warning in told] == [
        (
            "The torch.cuda.*DtypeTensor constructors are no longer recommended. It's best to use methods such as "
            "torch.tensor(data, dtype=*, device='cuda') to create tensors.",
            __file__,
        )
    ]


@pytest.fixture
def cuda_by_default(two_gpus: None) -> Iterator[None]:
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    try:
        yield
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")


def _devices() -> dict[str, str]:
    texts = (
        "torch.Tensor([1.])", "torch.Tensor(2)", "torch.Tensor()", "torch.ones(1)", "torch.tensor(1.)",
        "torch.arange(3)", "torch.rand(2)", "torch.nn.Linear(1, 1).weight", "torch.nn.Parameter()",
        "torch.Tensor(2, device='cuda:1')", "torch.Tensor(torch.ones(2, device='cpu'))", "torch.FloatTensor(2)",
        "torch.ones(2, device='cpu').new([1.])", "torch.from_numpy(torch.ones(2, device='cpu').numpy())",
    )  # fmt: skip
    return {text: str(eval(text).device) for text in texts}


@pytest.mark.usefixtures("cuda_by_default")
def test_the_default_tensor_type_holds_in_every_thread() -> None:
    found = [_devices()]
    thread = threading.Thread(target=lambda: found.append(_devices()))
    thread.start()
    thread.join()
    here, elsewhere = found
    assert here == elsewhere
    assert list(here.values()) == ["cuda:0"] * 9 + ["cuda:1"] + ["cpu"] * 4
    assert torch.get_default_device() == torch.device("cpu")
    with pytest.raises(RuntimeError) as error:
        torch.Tensor([1.0], device="cpu")
    assert str(error.value) == _CUDA_EXPECTED
    torch.cuda.set_device(1)
    assert str(torch.ones(1).device) == str(torch.Tensor(2).device) == "cuda:1"


@pytest.mark.usefixtures("cuda_by_default")
def test_the_default_device_is_above_the_default_tensor_type() -> None:
    with torch.device("cpu"):
        assert str(torch.ones(1).device) == "cpu"
        assert str(torch.Tensor(2).device) == "cuda:0"
    assert str(torch.ones(1).device) == "cuda:0"


def test_it_ends_where_the_default_type_is_the_cpus(cuda_by_default: None) -> None:
    torch.set_default_tensor_type(torch.DoubleTensor)
    assert str(torch.Tensor([1.0]).device) == str(torch.ones(1).device) == "cpu"
    assert torch.ones(1).dtype == torch.float64


@pytest.mark.slow
def test_the_default_tensor_type_may_be_set_before_the_first_tensor_is_made() -> None:
    program = """
import torch
from samedevice import simulate_cuda
simulate_cuda().start()
torch.set_default_tensor_type(torch.cuda.FloatTensor)
assert torch.zeros(1).is_cuda
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


@pytest.mark.parametrize(
    ("make", "here", "there"),
    [
        (lambda: torch.cuda.FloatTensor(torch.ones(3).untyped_storage()), "cuda:0", "cpu"),
        (lambda: torch.cuda.FloatTensor(torch.ones(3, device="cuda:1").untyped_storage()), "cuda:0", "cuda:1"),
        (lambda: torch.FloatTensor(torch.ones(3, device="cuda").untyped_storage()), "cpu", "cuda:0"),
        (lambda: torch.ones(3, device="cuda").new(torch.ones(3).untyped_storage()), "cuda:0", "cpu"),
        (lambda: torch.ones(3).new(torch.ones(3, device="cuda").untyped_storage()), "cpu", "cuda:0"),
    ],
)
def test_a_storage_from_another_device_is_refused(make: Callable[[], Any], here: str, there: str) -> None:
    with pytest.raises(RuntimeError) as refusal:
        make()
    assert str(refusal.value) == (
        f'Attempted to set the storage of a tensor on device "{here}" to a storage on different device "{there}".  '
        "This is no longer allowed; the devices must match."
    )


def test_a_tensor_of_a_storage_has_its_memory() -> None:
    x = torch.ones(3, device="cuda")
    for made in (torch.cuda.FloatTensor(x.untyped_storage()), x.new(x.untyped_storage())):
        assert (str(made.device), made.data_ptr()) == ("cuda:0", x.data_ptr())


class Quantity(torch.Tensor):
    """A class of a program's that is made from a tensor, as PyTorch's documentation shows it."""

    unit: str

    def __new__(cls, data: Any, unit: str = "m") -> Any:
        return super().__new__(cls, data)

    def __init__(self, data: Any, unit: str = "m") -> None:
        self.unit = unit


class Bare(torch.Tensor): ...


@pytest.mark.parametrize("kind", [Bare, Quantity])
def test_a_class_made_from_a_tensor_on_a_gpu_is_an_alias_of_it(kind: type[torch.Tensor]) -> None:
    given = torch.ones(3, device="cuda:1").requires_grad_()
    made = kind(given)
    assert made.__class__ is kind
    assert (str(made.device), made.data_ptr(), made.is_leaf) == ("cuda:1", given.data_ptr(), False)
    (made * 2).sum().backward()
    assert given.grad is not None
    assert str(given.grad.device) == "cuda:1"
    assert str(kind(made).device) == str(kind(torch.nn.Parameter(given)).device) == "cuda:1"  # of its own class, too


def test_a_class_made_from_a_tensor_keeps_what_it_was_given() -> None:
    made = Quantity(torch.ones(3, device="cuda"), "kg")
    assert (made.unit, str((made + 1).device), (made + 1).__class__) == ("kg", "cuda:0", Quantity)
    assert str(Quantity(torch.ones(3)).device) == "cpu"
    with pytest.raises(RuntimeError) as error:
        Bare(torch.ones(3, device="cuda"), device="cuda")
    assert str(error.value) == (
        "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use "
        "torch.tensor(...) or torch.as_tensor(...) instead."
    )
