"""Inside a simulation nobody is sent to install another PyTorch: what asks for one has met a limit of it."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from samedevice import explain, simulate_cuda

TEXTS = [
    (AssertionError, "Torch not compiled with CUDA enabled"),
    (RuntimeError, "PyTorch is not linked with support for cuda devices"),
    (NotImplementedError, "Could not run 'aten::batch_norm_stats' with arguments from the 'CUDA' backend."),
    (AttributeError, "module 'torch._C' has no attribute '_cuda_getCompiledVersion'"),
    (RuntimeError, "Cannot access accelerator device when none is available."),
]


def raised(kind: type[Exception], text: str) -> Exception:
    try:
        raise kind(text)
    except Exception as error:
        return error


@pytest.mark.parametrize(("kind", "text"), TEXTS)
def test_an_error_of_a_build_without_cuda_is_a_limit_of_the_simulation(kind: type[Exception], text: str) -> None:
    with simulate_cuda(devices=1):
        diagnosis = explain(raised(kind, text))
    shown = str(diagnosis) + diagnosis.more
    assert diagnosis.says.startswith("This is most likely a limit of the simulation: ")
    assert "https://" not in shown
    assert "install" not in shown
    assert (diagnosis.causes, diagnosis.culprits) == ((), ())
    assert diagnosis.other is not None and diagnosis.other.id == "simulation_limit"
    assert diagnosis.place is not None and diagnosis.place.function == "raised"


@pytest.mark.parametrize(("kind", "text"), TEXTS)
def test_outside_and_of_a_pasted_text_nothing_else_is_said(kind: type[Exception], text: str) -> None:
    outside, pasted = explain(raised(kind, text)), explain(f"{kind.__name__}: {text}")
    first = "no_accelerator" if "accelerator" in text else "no_cuda_build_or_driver"
    assert outside.causes[0].id == pasted.causes[0].id == first
    with simulate_cuda(devices=1):
        assert str(explain(f"{kind.__name__}: {text}")) == str(pasted)


def test_an_error_that_was_raised_before_the_simulation_is_explained_as_ever() -> None:
    try:
        raise AssertionError("Torch not compiled with CUDA enabled")
    except AssertionError as error:
        before = error
    with simulate_cuda(devices=1):
        assert explain(before).causes[0].id == "no_cuda_build_or_driver"


def test_an_error_that_passed_through_the_simulation_is_known_when_it_has_ended() -> None:
    class Refuses(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise NotImplementedError("Could not run 'aten::batch_norm_stats' with arguments from the 'CUDA' backend.")

    with simulate_cuda(devices=1):
        x = torch.ones(1, device="cuda")
        try:
            with Refuses():
                x + 1
        except NotImplementedError as caught:
            error = caught
    assert explain(error).says.startswith("This is most likely a limit of the simulation: ")


def test_what_a_simulation_says_as_cuda_does_is_explained_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with simulate_cuda(devices=1):
        try:
            torch.ones(1, device="cuda")
        except RuntimeError as error:
            diagnosis = explain(error)
        mismatch = raised(RuntimeError, "Expected all tensors to be on the same device")
        assert explain(mismatch).message is not None
    assert diagnosis.message is not None
    assert diagnosis.causes[0].id == "device_ordinal_unavailable"


def test_an_operator_without_a_kernel_for_cuda_is_no_limit_and_no_fault_of_the_build() -> None:
    @torch.library.custom_op("sdtest::only_cpu", mutates_args=(), device_types="cpu")  # type: ignore[untyped-decorator]
    def only_cpu(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    with simulate_cuda(devices=1):
        x = torch.ones(1, device="cuda")
        try:
            only_cpu(x)
        except NotImplementedError as error:
            diagnosis = explain(error)
    assert diagnosis.message is not None and diagnosis.message.id == "SD078"
    assert diagnosis.causes[0].id == "no_kernel_for_this_device"
    assert diagnosis.says == (
        "`sdtest::only_cpu` was called for a CUDA device, and this installation has no CUDA code for it."
    )
    assert diagnosis.place is not None and diagnosis.place.function.startswith("test_an_operator_without_a_kernel")
