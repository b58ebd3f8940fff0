"""What torch.cuda.tunable and cuBLAS's workspaces answer: PyTorch's CUDA build (2.13.0) was asked the same lines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.cuda import tunable

C: Any = torch._C
pytestmark = pytest.mark.usefixtures("two_gpus")


def then(*calls: Any) -> Any:
    return calls[-1]


READ: dict[str, tuple[Callable[[], Any], Any]] = {
    "is_enabled": (tunable.is_enabled, False),
    "enabled": (lambda: then(tunable.enable(True), tunable.is_enabled()), True),
    "tuning_is_enabled": (tunable.tuning_is_enabled, True),
    "tuning disabled": (lambda: then(tunable.tuning_enable(False), tunable.tuning_is_enabled()), False),
    "record_untuned_is_enabled": (tunable.record_untuned_is_enabled, False),
    "recording": (lambda: then(tunable.record_untuned_enable(True), tunable.record_untuned_is_enabled()), True),
    "duration": (tunable.get_max_tuning_duration, 30),
    "a duration": (lambda: then(tunable.set_max_tuning_duration(5), tunable.get_max_tuning_duration()), 5),
    "none": (lambda: then(tunable.set_max_tuning_duration(-5), tunable.get_max_tuning_duration()), 0),
    "iterations": (tunable.get_max_tuning_iterations, 100),
    "some": (lambda: then(tunable.set_max_tuning_iterations(7), tunable.get_max_tuning_iterations()), 7),
    "filename": (tunable.get_filename, ""),
    "a filename": (lambda: then(tunable.set_filename("x.csv"), tunable.get_filename()), "x.csv"),
    "with the GPU": (lambda: then(tunable.set_filename("a.b.csv", True), tunable.get_filename()), "a.b0.csv"),
    "without a suffix": (lambda: then(tunable.set_filename("z", True), tunable.get_filename()), "z0"),
    "in its place": (lambda: then(tunable.set_filename("a/%d.csv", True), tunable.get_filename()), "a/0.csv"),
    "results": (tunable.get_results, ()),
    "validators": (tunable.get_validators, (("PT_VERSION", torch.__version__.split("+")[0]),)),
    "no file": (lambda: tunable.read_file("/nowhere.csv"), False),
    "buffer": (lambda: then(C._cuda_tunableop_set_rotating_buffer_size(4), tunable.get_rotating_buffer_size()), 2**22),
    "tolerances": (lambda: tunable.set_numerical_check_tolerances(True, 1e-3, 1e-3), None),
    "workspace": (lambda: C._cuda_getCublasWorkspaceSize(), 8519680),
    "workspace of Lt": (lambda: C._cuda_getCublasLtWorkspaceSize(), 1048576),
    "a workspace": (lambda: then(C._cuda_setCublasWorkspaceSize(9), C._cuda_getCublasWorkspaceSize()), 9),
    "as it was": (
        lambda: then(
            C._cuda_setCublasWorkspaceSize(9), C._cuda_resetCublasWorkspaceSize(), C._cuda_getCublasWorkspaceSize()
        ),
        8519680,
    ),
}
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no bool": (lambda: C._cuda_tunableop_enable(1), "cuda_tunableop_enable expects a bool, but got int"),
    "no bool, either": (
        lambda: C._cuda_record_untuned_enable(1),
        "cuda_record_untuned_enable expects a bool, but got int",
    ),
    "no int": (
        lambda: C._cuda_tunableop_set_max_tuning_duration(1.5),
        "cuda_tunableop_set_max_tuning_duration expects an int, but got float",
    ),
    "a bool": (
        lambda: tunable.set_max_tuning_iterations(True),
        "cuda_tunableop_set_max_tuning_iterations expects an int, but got bool",
    ),
    "no string": (
        lambda: C._cuda_tunableop_set_filename(3, False),
        "cuda_tunableop_set_filename expects a string, but got int",
    ),
    "a negative tolerance": (
        lambda: tunable.set_numerical_check_tolerances(True, -1.0, 0.0),
        "Numerical check tolerances must be positive. Got atol=-1, rtol=0",
    ),
    "no float": (
        lambda: C._cuda_tunableop_set_numerical_check_tolerances(True, 1),
        "Second argument (atol) must be a float, got int",
    ),
    "a negative size": (
        lambda: C._cuda_setCublasLtWorkspaceSize(-1),
        "cublaslt workspace size must be non-negative, got -1",
    ),
    "no size": (
        lambda: C._cuda_setCublasWorkspaceSize("a"),
        "set cublas workspace size expects an int, but got str",
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_was_chosen_is_read_back(case: str) -> None:
    read, value = READ[case]
    assert read() == value


@pytest.mark.parametrize("case", REFUSED)
def test_what_pytorch_refuses_is_refused_in_its_words(case: str) -> None:
    act, text = REFUSED[case]
    with pytest.raises(RuntimeError) as error:
        act()
    assert str(error.value) == text


def test_a_file_of_results_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.touch()
    with pytest.raises(NotImplementedError, match="TunableOp"):
        tunable.read_file(str(file))
