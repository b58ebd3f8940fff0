"""Modules of TorchScript that are loaded from a file run on simulated GPUs, and refuse what CUDA refuses."""

import io
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

pytestmark = [pytest.mark.usefixtures("two_gpus"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def _file() -> bytes:
    """Script a module, as no simulation runs: it would return the module as it is."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of TorchScript, which is deprecated
        torch.jit.save(torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 1))), file)
    return file.getvalue()


FILE = _file()


def load(**options: Any) -> Any:
    return torch.jit.load(io.BytesIO(FILE), **options)


def places(module: Any) -> set[str]:
    return {str(x.device) for x in (*module.parameters(), *module.buffers())}


PLACED: dict[str, tuple[Callable[[], Any], str]] = {
    "cuda": (lambda: load(map_location="cuda"), "cuda:0"),
    "cuda:1": (lambda: load(map_location="cuda:1"), "cuda:1"),
    "a device": (lambda: load(map_location=torch.device("cuda", 1)), "cuda:1"),
    "the current GPU": (lambda: on_current(), "cuda:1"),
    "nowhere": (load, "cpu"),
    "the CPU": (lambda: load(map_location="cpu"), "cpu"),
    "moved afterwards": (lambda: load().cuda(), "cuda:0"),
    "moved to the other GPU": (lambda: load(map_location="cuda").to("cuda:1"), "cuda:1"),
    "moved back": (lambda: load(map_location="cuda").cpu(), "cpu"),
    "inside another module": (lambda: nn.Sequential(load()).cuda(), "cuda:0"),
}


def on_current() -> Any:
    with torch.cuda.device(1):
        return load(map_location="cuda")


@pytest.mark.parametrize("way", PLACED)
def test_a_loaded_module_is_where_it_is_asked_to_be(way: str) -> None:
    make, place = PLACED[way]
    module = make()
    assert places(module) == {place}
    assert str(module(torch.ones(3, 2, device=place)).device) == place


def test_a_loaded_module_trains_as_on_the_cpu() -> None:
    expected, found = load(), load(map_location="cuda:1")
    for module in (expected, found):
        home = next(module.parameters()).device
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        module(torch.linspace(-1, 1, 6, device=home).view(3, 2)).square().sum().backward()
        optimizer.step()
    for name, value in found.state_dict().items():
        torch.testing.assert_close(value.cpu(), expected.state_dict()[name])


@pytest.mark.parametrize("moved", [False, True])
def test_an_input_on_another_device_is_refused_below_the_traceback_of_torchscript(moved: bool) -> None:
    module = load().cuda() if moved else load(map_location="cuda")
    with pytest.raises(RuntimeError) as refused:
        module(torch.ones(3, 2))
    text = str(refused.value)
    assert text.startswith("The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript")
    assert text.endswith(
        "<--- HERE\nRuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu, different "
        "from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)\n"
    )


def test_a_gpu_that_does_not_exist_is_refused() -> None:
    with pytest.raises(RuntimeError) as refused:
        load(map_location="cuda:7")
    assert str(refused.value) == (
        "Attempting to deserialize object on CUDA device 7 but torch.cuda.device_count() is 2. Please use torch.load "
        "with map_location to map your storages to an existing device."
    )
